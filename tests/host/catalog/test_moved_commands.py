"""Commands that are deprecated, and commands that have moved."""

import json
import shutil

import pytest

from testing.installation import command

OLD = {"name": "Old", "description": "Ship it, formerly"}
SHOW = '#!/bin/sh\necho "$COMMAND_CATEGORY/$COMMAND_NAME" "$@"\n'
SHIP = {
    "commands/app/ship/command.json": command(
        description="Ship it",
        envs={"A": "1"},
        args=[{"name": "stage", "choices": ["dev", "prod"]}],
    ),
    "commands/app/ship/main.sh": SHOW,
}


def test_a_deprecated_command_warns_once(install):
    made = install(
        {
            "commands/old/command.json": command(deprecated="use app ship", sudo=True),
            "commands/old/main.sh": SHOW,
            **SHIP,
        }
    )
    warning = "cli: warning: old: deprecated; use app ship\n"
    assert made.run("old", "x").all == (0, "/old x\n", warning)
    assert "Description [sudo] [deprecated]\n" in made.run().stdout
    help_page = made.run("help", "old")
    assert "Deprecated: use app ship" in help_page.stdout
    assert help_page.stderr == ""
    rows = json.loads(made.run("self", "list", "--format", "json").stdout)["commands"]
    assert {" ".join(row["path"]): row["deprecated"] for row in rows} == {
        "app ship": None,
        "old": "use app ship",
    }
    plan = json.loads(made.run("--format", "json", "--explain", "old").stdout)
    assert (plan["deprecated"], plan["moved_from"]) == ("use app ship", None)


@pytest.mark.parametrize("kind", ["folder", "script", "with an entrypoint"])
def test_a_moved_command_runs_the_other_one(install, kind):
    definition = {**OLD, "moved_to": "app  ship", "envs": {"A": "2"}}
    files = {"commands/old/command.json": definition}
    if kind == "script":
        files = {
            "commands/old": '#!/bin/sh\n# /// command\n# {"moved_to": "app ship"}\n# ///\n'
        }
    elif kind == "with an entrypoint":
        files["commands/old/command.json"] = {**definition, "entrypoint": "main.sh"}
        files["commands/old/main.sh"] = "#!/bin/sh\necho wrong\n"
    made = install({**files, **SHIP})
    warning = "cli: warning: old: this command is now: app ship\n"
    assert made.run("old", "prod").all == (0, "app/ship prod\n", warning)
    wrong = made.run("old", "nowhere")
    assert wrong.status == 2
    assert wrong.stderr.startswith(warning)
    shown = made.run().stdout
    assert "[deprecated]" in shown
    assert "[missing]" not in shown
    if kind == "with an entrypoint":
        return  # what follows is the same for each definition
    assert (
        "Has moved. This command runs in its place: app ship"
        in made.run("help", "old").stdout
    )
    assert "prod\t" in made.run("--complete", "zsh", "old", "").stdout
    which = made.run("self", "which", "old").stdout
    assert "moved to:    app ship\n" in which
    assert "commands/app/ship/main.sh" in which
    assert "A                   1  ←" in made.run("self", "env", "old").stdout
    rows = json.loads(made.run("self", "list", "--format", "json").stdout)["commands"]
    assert [row["moved_to"] for row in rows] == [None, "app ship"]
    plan = json.loads(made.run("--format", "json", "--explain", "old", "dev").stdout)
    assert (plan["words"], plan["moved_from"]) == (["app", "ship"], ["old"])
    assert plan["arguments"] == ["dev"]
    assert made.run("self", "lint").status == 0


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("app nowhere", "there is no command app nowhere"),
        ("app", "there is no command app"),
        ("old", "old has moved, too; name old"),
        ("older", "older has moved, too; name app ship"),
        ("self list", "self list is a part of the program"),
        ("../x", "expected the words of a command"),
        ("", "must not be empty"),
    ],
)
def test_a_wrong_target_is_an_error(install, target, reason):
    made = install(
        {
            "commands/old/command.json": {**OLD, "moved_to": target},
            "commands/older/command.json": {**OLD, "moved_to": "app ship"},
            **SHIP,
        }
    )
    result = made.run("old")
    assert (result.status, result.stdout) == (1, "")
    assert f'commands/old/command.json: "moved_to": {reason}' in result.stderr
    assert result.stderr.count("\n") == 1
    assert made.run("older").status == 0
    lint = made.run("self", "lint")
    assert lint.status == 1
    assert reason in lint.stdout


def test_lint_of_a_directory(install, tmp_path):
    made = install(SHIP)
    folder = tmp_path / "tools"
    targets = {
        "inside": "here",
        "installed": "app ship",
        "wrong": "here more",
        "other": "far away",
    }
    for name, target in targets.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "command.json").write_text(
            json.dumps({**OLD, "moved_to": target})
        )
    (folder / "here").write_text(SHOW)
    (folder / "here").chmod(0o755)
    lint = made.run("self", "lint", str(folder), "--format", "json")
    assert lint.status == 1
    moved = [
        finding
        for finding in json.loads(lint.stdout)["findings"]
        if "moved" in str(finding)
    ]
    assert sorted(
        "there is no command here more" in str(finding) for finding in moved
    ) == [
        False,
        True,
    ]
    shutil.rmtree(folder / "wrong")
    assert (
        made.run("self", "lint", str(folder)).status == 0
    )  # "far away" may be elsewhere


@pytest.mark.parametrize("with_lock", [True, False])
def test_lint_of_another_installation(install, tmp_path, with_lock):
    made = install(
        {
            "commands/old/command.json": {**OLD, "moved_to": "app ship"},
            "commands/far/command.json": {**OLD, "moved_to": "far.away now"},
            "commands/to-plugin/command.json": {**OLD, "moved_to": "tool"},
            "plugins/p/plugin.json": {"scripts": {}},
            "plugins/p/tool.sh": SHOW,
            **SHIP,
        }
    )
    if with_lock:
        assert made.run("old").status == 0
    assert (made.root / "cli.lock").exists() == with_lock
    # The launcher looks for its own installation, which does not exist.
    elsewhere = {"CLI_DIR": str(tmp_path / "nowhere")}
    done = made.run("self", "lint", str(made.root), env=elsewhere)
    # A package that this program does not know may have the command.
    assert (done.status, done.stderr) == (0, "")
    [line] = [row for row in done.stdout.splitlines() if "moved_to" in row]
    assert "commands/far/command.json:1:" in line
    assert '"moved_to": there is no command far.away now' in line

    made.write({"commands/old/command.json": {**OLD, "moved_to": "app nowhere"}})
    done = made.run("self", "lint", str(made.root), env=elsewhere)
    assert done.status == 1
    assert '"moved_to": there is no command app nowhere' in done.stdout
    assert (made.root / "cli.lock").exists() == with_lock


def test_a_project_moves_its_own_commands_only(install, tmp_path):
    made = install(SHIP)
    commands = tmp_path / "project/.cli/commands"
    for name, target in (("out", "app ship"), ("inside", "build")):
        (commands / name).mkdir(parents=True)
        (commands / name / "command.json").write_text(
            json.dumps({**OLD, "moved_to": target})
        )
    (commands / "build").write_text(SHOW)
    (commands / "build").chmod(0o755)
    run = {"cwd": tmp_path / "project"}
    refused = made.run("out", **run)
    assert refused.status == 1
    assert "not in the same project" in refused.stderr
    untrusted = made.run("inside", **run)
    assert untrusted.status == 1
    assert "inside: the project" in untrusted.stderr
    assert made.run("self", "trust", "--yes", **run).status == 0
    assert made.run("inside", "x", **run).stdout == "/build x\n"
    # A change of the target takes effect, so it must be trusted again.
    (commands / "deploy").write_text(SHOW)
    (commands / "deploy").chmod(0o755)
    (commands / "inside/command.json").write_text(
        json.dumps({**OLD, "moved_to": "deploy"})
    )
    assert made.run("inside", **run).status == 1


def test_it_is_a_command_of_its_category(install):
    made = install(
        {
            "commands/db/category.json": {"name": "DB", "default": "old"},
            "commands/db/old/command.json": {
                **OLD,
                "moved_to": "app ship",
                "aliases": ["o"],
                "deprecated": "see the wiki",
            },
            "commands/db/old/main.sh": "#!/bin/sh\necho wrong\n",
            **SHIP,
        }
    )
    warning = "cli: warning: db old: this command is now: app ship; see the wiki\n"
    for words in (["db", "old"], ["db", "o"], ["db"]):
        assert made.run(*words).all == (0, "app/ship\n", warning)

"""`self doctor` and `self info`: each finding in a tree that is well without it."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builtin_plugins.library.versioned_directory import STAGE
from testing.installation import Made, Result, command
from testing.plugin_sources import plugin_files, tar_of
from testing.terminal import on_terminal

Install = Callable[..., Made]

BASH = "#!/usr/bin/env bash\necho ran\n"
WELL = {"commands/a/b/command.json": command(), "commands/a/b/main.sh": BASH}


def doctor(made: Made, *options: str, **env: str) -> Result:
    env.setdefault("PATH", f"{made.launcher.parent}:{os.environ['PATH']}")
    return made.run("self", "doctor", *options, env=env)


def findings(made: Made, *options: str, **env: str) -> list[dict[str, Any]]:
    found = doctor(made, *options, "--format", "json", **env)
    rows: list[dict[str, Any]] = json.loads(found.stdout)["findings"]
    assert found.status == (not all(row["fixed"] or row["hint"] for row in rows))
    return rows


def only(made: Made, **env: str) -> dict[str, Any]:
    rows = findings(made, **env)
    assert len(rows) == 1, rows
    return rows[0]


@pytest.mark.slow
def test_one_that_is_well(install: Install) -> None:
    made = install(WELL)
    for safe in ({}, {"CLI_SAFE": "1"}):
        found = doctor(made, **safe)
        assert found.all == (
            0,
            "no problems in: installation, launcher, PATH, completion, programs, permissions, "
            "settings, definitions, requirements, plugins, records, lock, history, projects, "
            "leftovers\n",
            "",
        )


def test_in_a_deleted_directory(install: Install) -> None:
    made = install(WELL)
    gone = made.home / "gone"
    gone.mkdir()
    done = subprocess.run(
        ["/bin/bash", "-c", f"cd {gone}; rmdir {gone}; {made.launcher} self doctor"],
        env={
            "PATH": f"{made.launcher.parent}:{os.environ['PATH']}",
            "HOME": str(made.home),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert "cannot be checked" not in done.stdout
    assert done.stderr == ""


WRONG: dict[str, tuple[Any, str, str, str]] = {
    "definition": (
        {"commands/a/c/command.json": "{}"},
        "definitions",
        'c/command.json:1:1: "name": missing; expected a string',
        "",
    ),
    "misspelt": (
        {"commands/a/b/command.json": command(env_file=[])},
        "definitions",
        'command.json:1:73: "env_file": unknown key',
        'did you mean "env_files"?',
    ),
    "settings fail": (
        {"config/settings.conf": "exit 3\n"},
        "settings",
        "config/settings.conf",
        "",
    ),
    "settings at the root": (
        {"settings.conf": "A=1\n"},
        "settings",
        "/settings.conf is not read",
        "move the lines of this file to ",
    ),
    "settings in core": (
        {"core/settings.conf": "A=1\n", "config/settings.conf": "B=1\n"},
        "settings",
        "/core/settings.conf is not read",
        "move the lines of this file to ",
    ),
    "clash": (
        {"plugins/p/a/b/command.json": command(), "plugins/p/a/b/main.sh": BASH},
        "definitions",
        ": a b is hidden by ",
        "rename one of the two, or disable the plugin",
    ),
    "broken plugin": (
        {"plugins/p/plugin.json": {"directory": ".."}},
        "plugins",
        "plugin p is broken: ",
        "cli self plugin disable p",
    ),
    "plugin without its directory": (
        {"plugins/p/plugin.json": {"directory": "in/there"}},
        "plugins",
        "plugin p is broken: there is no directory ",
        "cli self plugin disable p",
    ),
    "broken hooks": (
        {
            "plugins/p/plugin.json": {"hooks": "h.py"},
            "plugins/p/h.py": "import nowhere\n",
        },
        "plugins",
        "plugin p is broken: ",
        "cli self plugin disable p",
    ),
    "missing plugin": (
        {
            "plugins/registry.json": {
                "version": "1.0.0",
                "plugins": [{"name": "gone", "kind": "git", "commit": "a" * 40}],
            }
        },
        "plugins",
        "the files of plugin gone are missing",
        "cli self plugin sync, or: cli self plugin remove gone",
    ),
}


@pytest.mark.parametrize(
    ("files", "check", "message", "remedy"), WRONG.values(), ids=WRONG
)
def test_what_is_wrong(
    install: Install, files: Any, check: str, message: str, remedy: str
) -> None:
    made = install(WELL)
    (made.root / "cli.lock").unlink()
    made.write(files)
    row = only(made)
    assert row["check"] == check
    assert message in row["message"]
    assert remedy in row["remedy"]


@pytest.mark.slow
def test_a_page_groups_findings_by_check_and_counts_them(install: Install) -> None:
    made = install(
        {**WELL, "commands/a/c/command.json": "{}", "commands/a/d/command.json": "{"}
    )
    one, two = findings(made)
    page = [
        "definitions",
        *(f"  error  {one['message']}", f"  error  {two['message']}"),
        "",
    ]
    assert doctor(made).all == (1, "\n".join([*page, "2 errors", ""]), "")
    make_open(made)
    assert doctor(made).stdout.endswith(
        "\n\n3 errors; to apply the safe fixes: cli self doctor --fix\n"
    )
    fixed = doctor(made, "--fix").stdout
    assert (
        f"permissions\n  fixed  every user can write to {made.root}/commands\n" in fixed
    )
    assert fixed.endswith("\n\n2 errors, 1 fixed\n")


def test_below_a_hint_it_does_not_say_that_nothing_is_wrong(install: Install) -> None:
    found = doctor(install(WELL), SHELL="/bin/bash")
    assert found.all == (
        0,
        "completion\n  hint   bash has no Tab completion for cli\n"
        "         cli self completion bash --install\n\n1 hint\n",
        "",
    )


def test_a_terminal_gets_colours(install: Install) -> None:
    status, shown = on_terminal(install(WELL), "self", "doctor", SHELL="/bin/bash")
    assert status == 0
    assert "\033[1mcompletion\033[0m\n  \033[35mhint \033[0m  bash has" in shown


def test_a_registry_that_is_wrong_is_no_plugin_to_switch_off(install: Install) -> None:
    made = install(WELL | {"plugins/registry.json": "{"})
    row = only(made)
    assert row["message"].startswith(f"{made.root}/plugins/registry.json:1:2: ")
    assert row["remedy"] == "fix this file"


def make_open(made: Made) -> None:
    (made.root / "commands").chmod(0o777)


def make_settings_open(made: Made) -> None:
    made.write({"config/settings.conf": "A=1\n"})
    (made.root / "config/settings.conf").chmod(0o646)


def make_launcher_plain(made: Made) -> None:
    made.launcher.with_name("other").write_bytes(made.launcher.read_bytes())


def lose_interpreter(made: Made) -> None:
    text = made.launcher.read_text().partition("\n")[2]
    made.write({"core/other": f"#!/nowhere/python -IS\n{text}"})


def lose_packages(made: Made) -> None:
    text = made.launcher.read_text().replace(
        "sys.path.append('/", "sys.path.append('/nowhere/"
    )
    made.write({"core/other": text})


def open_lock(made: Made) -> None:
    made.write({"cli.lock": "garbage"})
    (made.root / "cli.lock").chmod(0o666)


def leave_stage(made: Made) -> None:
    made.write({f"plugins/.versions/{STAGE}x/file": ""})


def make_older(made: Made) -> None:
    made.launcher.write_text(made.launcher.read_text() + "# older\n")


FIXED = {
    "an older launcher": (
        make_older,
        "launcher",
        "belongs to another version of this program",
    ),
    "directory": (make_open, "permissions", "every user can write to "),
    "settings": (make_settings_open, "permissions", "every user can write to "),
    "launcher not executable": (make_launcher_plain, "launcher", "is not executable"),
    "no interpreter": (
        lose_interpreter,
        "launcher",
        'its interpreter "/nowhere/python" is missing',
    ),
    "no packages": (
        lose_packages,
        "launcher",
        "belongs to another version of this program",
    ),
    "lock": (open_lock, "lock", "other users can write to this lock"),
    "staging": (leave_stage, "leftovers", "a change to the plugins was interrupted"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("spoil", "check", "message"), FIXED.values(), ids=FIXED)
@pytest.mark.sampled
def test_what_it_fixes(
    install: Install, spoil: Callable[[Made], None], check: str, message: str
) -> None:
    made = install(WELL)
    spoil(made)
    row = only(made, CLI_SAFE="1")
    assert (row["check"], row["fixable"], row["fixed"]) == (check, True, False)
    assert message in row["message"]
    assert "launcher /" not in row["remedy"]
    fixed = doctor(made, "--fix", CLI_SAFE="1")
    shown = f"{check}\n  fixed  {row['message']}\n         {row['remedy']}\n\n1 fixed\n"
    assert fixed.all == (0, shown, "")
    assert findings(made) == []


@pytest.mark.slow
@pytest.mark.parametrize("how", ["--fix", "by hand"])
def test_what_a_killed_setup_leaves(install: Install, how: str) -> None:
    made = install(WELL)
    tool = command(
        entrypoint="builtin_plugins.setup:main",
        envs={"POSTMAN_INSTALL_DIR": "$CLI_ROOT/opt/postman"},
    )
    made.write({"commands/setup/postman/command.json": tool})
    env = {"CLI_ROOT": str(made.root), "HOME": str(made.home)}
    assert findings(made, **env) == []
    made.write({"opt/postman/.cli-stage-x1y2/x/y": ""})
    stage = made.root / "opt/postman/.cli-stage-x1y2"
    descriptor = os.open(stage, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    assert findings(made, **env) == []  # a process works there
    os.close(descriptor)
    row = only(made, **env)
    assert (row["check"], row["fixable"]) == ("leftovers", True)
    if how == "--fix":
        assert doctor(made, "--fix", **env).status == 0
    else:
        subprocess.run(["bash", "-c", row["remedy"]], check=True)
    assert findings(made, **env) == []
    assert not stage.exists()


@pytest.mark.slow
def test_the_program_on_path(install: Install, tmp_path: Path) -> None:
    made = install(WELL)
    there = tmp_path / "bin"
    there.mkdir()
    for tool in ("bash", "env"):
        (there / tool).symlink_to(shutil.which(tool) or "")
    row = only(made, PATH=str(there))
    assert (row["check"], row["message"]) == ("PATH", "cli is not on PATH")
    line = "add this line to your shell's start-up file: export PATH=~/.local/bin:$PATH"
    link = f"mkdir -p ~/.local/bin && ln -s {made.launcher} ~/.local/bin/"
    assert row["remedy"] == f"to put it on PATH, run {link}, and {line}"
    assert (
        [row["remedy"] for row in findings(made, PATH=str(there), SHELL="/bin/bash")][
            1:
        ]
        == [
            f"{made.launcher} self completion bash --install"  # a remedy can be typed as it is
        ]
    )
    own = made.home / ".local/bin"
    own.mkdir(parents=True)
    path = f"{there}:{own}"
    assert only(made, PATH=path)["remedy"].endswith(
        f": ln -s {made.launcher} ~/.local/bin/"
    )
    (own / "cli").symlink_to(made.launcher)
    assert only(made, PATH=str(there))["remedy"] == f"to put it on PATH, {line}"
    assert findings(made, PATH=path) == []
    (there / "cli").symlink_to("/bin/sh")
    assert "another cli comes first on PATH" in only(made, PATH=path)["message"]


@pytest.mark.slow
def test_a_script_that_runs_all_the_same_is_a_hint(install: Install) -> None:
    made = install({**WELL, "commands/a/d/command.json": command()})
    made.write({"commands/a/d/main.sh": "echo hi\n"})
    rows = [row for row in findings(made) if "no shebang" in row["message"]]
    assert [row["hint"] for row in rows] == [True]
    assert doctor(made).status == 0
    made.write({"commands/a/e.sh": "true\n"})
    [row] = [row for row in findings(made) if "a/e.sh" in row["message"]]
    assert (row["hint"], row["check"]) == (True, "definitions")
    assert row["remedy"].startswith(f"run: chmod +x {made.root}/commands/a/e.sh;")


@pytest.mark.slow
def test_completion(install: Install) -> None:
    made = install(WELL)
    row = only(made, SHELL="/bin/bash")
    assert (row["message"], row["hint"]) == ("bash has no Tab completion for cli", True)
    assert doctor(made, SHELL="/bin/bash").status == 0
    assert row["remedy"] == "cli self completion bash --install"
    assert made.run("self", "completion", "bash", "--install").status == 0
    assert findings(made, SHELL="/bin/bash") == []
    assert findings(made, SHELL="/bin/ksh") == []


def test_bash_and_git(install: Install) -> None:
    made = install(WELL)
    entry = {"name": "p", "kind": "git", "commit": "a" * 40, "enabled": False}
    made.write({"plugins/registry.json": {"version": "1.0.0", "plugins": [entry]}})
    row = findings(made, PATH=f"{made.launcher.parent}:/nowhere")[0]
    assert (row["check"], row["message"]) == (
        "programs",
        "git is missing; plugins from repositories need it",
    )


@pytest.mark.slow
def test_without_an_installation(install: Install, tmp_path: Path) -> None:
    made = install(WELL)
    nowhere = str(tmp_path / "no where")
    row = only(made, CLI_DIR=nowhere)
    assert row["check"] == "installation"
    assert row["message"] == f"configuration file not found: {nowhere}/core/cli.json"
    assert row["remedy"] == f"cli self init '{nowhere}'"
    made.write({"core/cli.json": "{}"})
    row = only(made)
    assert row["message"].startswith(f'{made.root}/core/cli.json: "name": missing')
    assert row["remedy"] == f"fix {made.root}/core/cli.json"


@pytest.mark.slow
def test_what_an_installation_lacks(install: Install) -> None:
    made = install(WELL)
    (made.root / "core/lib").unlink()
    row = only(made)
    assert row["message"] == f"{made.root}/core/lib: missing"
    assert row["remedy"] == f"cli self init {made.root}"
    assert made.run("self", "init", str(made.root)).status == 0
    assert [row for row in findings(made) if row["check"] == "installation"] == []
    shutil.rmtree(made.root / "commands")
    row = only(made)
    assert row["check"] == "definitions"
    assert row["message"].endswith("/commands:1:1: No such file or directory")


@pytest.mark.slow
def test_safe_runs_nothing(install: Install) -> None:
    made = install(WELL)
    made.write(
        {
            "config/settings.conf": "exit 3\n",
            "plugins/p/plugin.json": {"hooks": "h.py"},
            "plugins/p/h.py": "import nowhere\n",
        }
    )
    assert findings(made, CLI_SAFE="1") == []
    assert {row["check"] for row in findings(made)} == {"settings", "plugins"}


@pytest.mark.slow
def test_info(install: Install) -> None:
    made = install(WELL)
    made.write({"plugins/p/x/y/command.json": command(), "plugins/p/x/y/main.sh": BASH})
    shown = json.loads(made.run("self", "info", "--format", "json").stdout)
    assert shown["name"] == "Test CLI"
    assert shown["version"] == "1.2.3"
    assert shown["host"].startswith("cli-host ")
    assert shown["paths"]["root"] == str(made.root)
    assert shown["paths"]["settings_file"] == f"{made.root}/config/settings.conf"
    assert shown["counts"] == {"categories": 2, "commands": 2, "plugins": 1}
    text = made.run("self", "info")
    assert (text.status, text.stderr) == (0, "")
    assert f"root:          {made.root}\n" in text.stdout
    assert "commands:      2\n" in text.stdout


@pytest.mark.slow
def test_info_without_an_installation(install: Install, tmp_path: Path) -> None:
    made = install({})
    nowhere = str(tmp_path / "nowhere")
    found = made.run("self", "info", env={"CLI_DIR": nowhere})
    assert (found.status, found.stderr) == (0, "")
    assert f"{nowhere}\n" in found.stdout
    found = made.run("self", "info", "--format", "json", env={"CLI_DIR": nowhere})
    assert json.loads(found.stdout)["counts"] is None
    made.write({"core/cli.json": "{}"})
    assert made.run("self", "info").status == 1


DAMAGED = ["{", "[]", "\x00"]


def records_of(made: Made) -> dict[str, str]:
    """Return the findings of the check, each with its remedy."""
    rows = json.loads(made.run("self", "doctor", "--format", "json").stdout)["findings"]
    return {row["message"]: row["remedy"] for row in rows if row["check"] == "records"}


@pytest.mark.slow
@pytest.mark.parametrize("content", DAMAGED)
def test_damaged_records_are_found(
    install: Install, tmp_path: Path, content: str
) -> None:
    made = install()
    new = tmp_path / "new"
    assert made.run("self", "init", str(new), "--name", "acme").status == 0
    made = Made(new, new / "core/acme", made.home)
    packed = tmp_path / "packed.tar.gz"
    packed.write_bytes(tar_of(plugin_files("demo2/hi")))
    assert made.run("self", "plugin", "add", str(packed)).status == 0
    assert records_of(made) == {}
    trusted = made.home / ".local/state/cli-host/trusted.json"
    trusted.parent.mkdir(parents=True)
    [entry] = (new / "plugins/.versions/packed").glob("*/entry.json")
    for path in (trusted, entry):
        path.write_text(content)
    found = records_of(made)
    [first, second] = found
    assert str(trusted) in first
    assert second == f"{entry}: is damaged or missing"
    pasted = made.run("-c", found[second], executable=Path("/bin/bash"))
    assert (pasted.status, entry.is_file(), "packed" in entry.read_text()) == (
        0,
        True,
        True,
    )
    trusted.unlink()
    assert records_of(made) == {}

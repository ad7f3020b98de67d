"""Projects: which are found, who wins, and that nothing of one runs before it is trusted."""

from __future__ import annotations

import json
import os
import pty
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from host.catalog.command_files import FolderNode
from host.catalog.usable_projects import project_definition, usable_projects
from testing.installation import Made, command
from testing.projects import BUILD, RUNS, Shop

NOBODY = 65534
only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture
def shop(install: Callable[..., Made], tmp_path: Path) -> Shop:
    return Shop(install({}), tmp_path / "shop")


def test_a_trusted_project_runs_in_the_callers_directory(shop: Shop) -> None:
    below = shop.root / "src/deep"
    below.mkdir(parents=True)
    assert shop.run("build", "-x", at=below).all == shop.refusal("build")
    assert not shop.ran
    shop.trust()
    expected = f"build {shop.root} {below} {shop.root}/x -x y\n"
    assert shop.run("build", "-x", "y", at=below, PROJECT_DIR="/other").all == (
        0,
        expected,
        "",
    )
    assert shop.run("db", "drop", "t").all == (0, f"drop {shop.root}/x y\n", "")
    assert shop.run("build", at=shop.root.parent).status == 2


def test_project_json_is_checked_once_for_all_readers(shop: Shop) -> None:
    [project], problems = usable_projects([str(shop.root)], "cli", "", {})
    node = FolderNode(project.tree, project=project).enter("build")
    assert node is not None
    [above] = node.above()
    assert (above, problems) == (project_definition(project), [])
    assert above is project_definition(project)


def test_what_is_remembered(shop: Shop) -> None:
    shop.trust()
    assert shop.state.stat().st_mode & 0o777 == 0o600
    [(root, files)] = json.loads(shop.state.read_text())["projects"].items()
    assert root == str(shop.root)
    assert sorted(files) == [
        ".cli/commands/build",
        ".cli/commands/db/category.json",
        ".cli/commands/db/drop/command.json",
        ".cli/project.json",
    ]
    assert all(len(one) == 64 for one in files.values())


def text(path: str, content: str) -> Callable[[Shop], None]:
    return lambda shop: shop.write({path: content})


def mode(path: str, bits: int) -> Callable[[Shop], None]:
    return lambda shop: (shop.root / path).chmod(bits)


def given(path: str, user: int = NOBODY, group: int = -1) -> Callable[[Shop], None]:
    return lambda shop: os.chown(shop.root / path, user, group)


def gone(path: str) -> Callable[[Shop], None]:
    return lambda shop: (shop.root / path).unlink()


def moved(shop: Shop) -> None:
    shop.root = shop.root.rename(shop.root.with_name("elsewhere"))


def copied(shop: Shop) -> None:
    shop.root = Path(shutil.copytree(shop.root, shop.root.with_name("worktree")))


def replaced(shop: Shop) -> None:
    """Put another project where a trusted one was."""
    shutil.rmtree(shop.root)
    shop.write({".cli/commands/build": BUILD})


def linked_folder(shop: Shop) -> None:
    (shop.root / ".cli").rename(shop.root.parent / "shared")
    (shop.root / ".cli").symlink_to(shop.root.parent / "shared")


def linked_open_folder(shop: Shop) -> None:
    linked_folder(shop)
    (shop.root.parent / "shared/commands").chmod(0o777)


def below_an_open_folder(shop: Shop) -> None:
    outer = shop.root.parent / "open"
    outer.mkdir()
    (shop.root / ".cli").rename(outer / "shared")
    (shop.root / ".cli").symlink_to(outer / "shared")
    outer.chmod(0o777)


def folder_for_script(shop: Shop) -> None:
    (shop.root / SCRIPT).unlink()
    shop.write({f"{SCRIPT}/command.json": command(), f"{SCRIPT}/main.sh": RUNS})


SCRIPT, DEFINITION = ".cli/commands/build", ".cli/commands/db/drop/command.json"
CHANGES = {
    # what takes effect
    "nothing": (lambda _: None, "build", "runs"),
    "the script's code": (text(SCRIPT, BUILD + "echo more\n"), "build", "runs"),
    "the script's summary": (
        text(SCRIPT, BUILD.replace("Build", "Make")),
        "build",
        "changed",
    ),
    "the script's block": (
        text(
            SCRIPT, BUILD.replace("the shop.", "the shop.\n# /// command\n# {}\n# ///")
        ),
        "build",
        "changed",
    ),
    "the command's code": (
        text(".cli/commands/db/drop/main.sh", RUNS),
        "db drop",
        "runs",
    ),
    "its definition": (
        text(DEFINITION, json.dumps(command(envs={"Z": "z"}))),
        "db drop",
        "changed",
    ),
    "another definition": (text(DEFINITION, json.dumps(command())), "build", "runs"),
    "project.json": (
        text(".cli/project.json", '{"envs": {"X": "evil"}}'),
        "build",
        "changed",
    ),
    "no project.json": (gone(".cli/project.json"), "build", "changed"),
    "a category.json above": (
        text(".cli/commands/db/category.json", "{}"),
        "db drop",
        "changed",
    ),
    "no category.json": (gone(".cli/commands/db/category.json"), "db drop", "changed"),
    "another category.json": (
        text(".cli/commands/db/category.json", "{}"),
        "build",
        "runs",
    ),
    "a new category.json": (
        text(".cli/commands/category.json", "{}"),
        "build",
        "changed",
    ),
    "a new command": (text(".cli/commands/new", RUNS), "new", "changed"),
    "a folder for the script": (folder_for_script, "build", "changed"),
    "the time of files": (
        lambda shop: os.utime(shop.root / SCRIPT, (1, 1)),
        "build",
        "runs",
    ),
    # where it is
    "moved": (moved, "build", "asks"),
    "a worktree": (copied, "build", "asks"),
    "another project at its path": (replaced, "build", "changed"),
    "its folder behind a link": (linked_folder, "build", "runs"),
    # who can write it
    "a folder behind a link, open": (linked_open_folder, "build", "unusable"),
    "a folder behind a link in an open one": (
        below_an_open_folder,
        "build",
        "unusable",
    ),
    "an open project": (mode(".", 0o777), "build", "unusable"),
    "a project like /tmp": (mode(".", 0o1777), "build", "unusable"),
    "an open .cli": (mode(".cli", 0o777), "build", "unusable"),
    "an open folder of commands": (mode(".cli/commands", 0o777), "build", "unusable"),
    "an open project.json": (mode(".cli/project.json", 0o666), "build", "unusable"),
    "an open script": (mode(SCRIPT, 0o777), "build", "unusable"),
    "another open script": (mode(SCRIPT, 0o777), "db drop", "runs"),
    "an open definition": (mode(DEFINITION, 0o666), "db drop", "unusable"),
    "an open category.json": (
        mode(".cli/commands/db/category.json", 0o666),
        "db drop",
        "unusable",
    ),
    "an open folder on the way": (
        mode(".cli/commands/db", 0o777),
        "db drop",
        "unusable",
    ),
    "an open entrypoint": (
        mode(".cli/commands/db/drop/main.sh", 0o777),
        "db drop",
        "unusable",
    ),
    "its owner's own group": (mode(".cli", 0o775), "build", "runs"),
}
OF_OTHERS = {
    "another user's project": (given("."), "build", "unusable"),
    "another user's .cli": (given(".cli"), "build", "unusable"),
    "another user's commands": (given(".cli/commands"), "build", "unusable"),
    "another user's script": (given(SCRIPT), "build", "unusable"),
    "another user's project.json": (given(".cli/project.json"), "build", "unusable"),
    "another user's definition": (given(DEFINITION), "db drop", "unusable"),
    "another user's group": (given(".cli", -1, NOBODY), "build", "runs"),
    "a group that can write": (
        lambda shop: [given(".cli", -1, NOBODY)(shop), mode(".cli", 0o775)(shop)],
        "build",
        "unusable",
    ),
}


def check_case(
    shop: Shop, change: Callable[[Shop], object], words: str, expected: str
) -> None:
    shop.trust()
    change(shop)
    done = shop.run(*words.split(), *(["t"] if words == "db drop" else []))
    if expected == "runs":
        assert (done.status, done.stderr, shop.ran) == (0, "", True)
        return
    assert not shop.ran
    if expected == "unusable":
        assert done.status in (1, 2)
        assert "so this project is ignored" in done.stderr
    else:
        why = (
            "is not trusted"
            if expected == "asks"
            else "has changed since it was trusted"
        )
        assert done.all == shop.refusal(words, why)


@pytest.mark.parametrize(("change", "words", "expected"), CHANGES.values(), ids=CHANGES)
@pytest.mark.sampled
def test_trust_after_a_change(
    shop: Shop, change: Callable[[Shop], None], words: str, expected: str
) -> None:
    check_case(shop, change, words, expected)


@only_root
@pytest.mark.parametrize(
    ("change", "words", "expected"), OF_OTHERS.values(), ids=OF_OTHERS
)
def test_trust_and_other_users(
    shop: Shop, change: Callable[[Shop], None], words: str, expected: str
) -> None:
    check_case(shop, change, words, expected)


@pytest.mark.parametrize(
    ("env", "runs"),
    [
        ({"CLI_TRUST": "{root}"}, True),
        ({"CLI_TRUST": "/other:{root}:/more"}, True),
        ({"CLI_TRUST": "{root}/"}, False),
        ({"CLI_TRUST": "{root}/.."}, False),
        ({"CLI_TRUST": "/"}, False),
        ({"CLI_TRUST": "*"}, False),
        ({"CLI_TRUST": "1"}, False),
        ({"CLI_TRUST": ""}, False),
        ({"CLI_TRUST": "{root}/.cli"}, False),
        ({"CLI_TRUST": "{link}"}, False),
        ({"CLI_YES": "1"}, False),
        ({"CI": "true"}, False),
        ({"SUDO_UID": "65534"}, False),
    ],
    ids=str,
)
def test_what_the_environment_can_answer(
    shop: Shop, env: dict[str, str], runs: bool
) -> None:
    link = shop.root.with_name("link")
    link.symlink_to(shop.root)
    env = {name: value.format(root=shop.root, link=link) for name, value in env.items()}
    done = shop.run("build", at=link, **env)
    if runs:
        assert done.all == (0, f"build {shop.root} {shop.root} {shop.root}/x\n", "")
    else:
        assert done.all == shop.refusal("build")
    assert shop.ran == runs


@only_root
def test_cli_trust_is_exempt_from_the_check_of_owners_only(shop: Shop) -> None:
    for path in (shop.root, *shop.root.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    trusted = {"CLI_TRUST": str(shop.root)}
    assert "belongs to another user" in shop.run("build").stderr
    assert shop.run("build", **trusted).status == 0
    assert shop.run("build", CLI_TRUST="").status == 2
    (shop.root / ".cli").chmod(0o777)
    assert "every user can write to it" in shop.run("build", **trusted).stderr


@only_root
def test_under_sudo_the_callers_own_files_count(shop: Shop) -> None:
    for path in (shop.root, *shop.root.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    assert shop.run("build", SUDO_UID="65534").all == shop.refusal("build")
    assert shop.run("self", "trust", "--yes", SUDO_UID="65534").status == 0
    assert shop.run("build", SUDO_UID="65534").status == 0
    assert shop.run("build", SUDO_UID="1234").status == 2


@pytest.mark.parametrize("before", [["--yes"], ["--no-input"], ["--safe"]], ids=str)
def test_no_global_option_answers(shop: Shop, before: list[str]) -> None:
    assert shop.run(*before, "build").all == shop.refusal("build")
    done = shop.run(*before, "self", "trust")
    remedy = "to skip the question, add --yes"
    assert (done.status, done.stdout) == (1, "")
    forbidden = "--no-input, CLI_NO_INPUT, CI or a coding agent forbids the question"
    why = forbidden if before == ["--no-input"] else "there is no terminal to ask on"
    assert done.stderr.endswith(f"{why}; {remedy}\n")
    assert not shop.ran


@pytest.mark.parametrize("home", [".", "./home/..", "../../x", "~"])
def test_a_relative_home_makes_no_file_of_the_repository_count(
    shop: Shop, home: str
) -> None:
    shop.trust()
    trusted = shop.state.read_text()
    places = {f"{place}/.local/state/cli-host/trusted.json" for place in (".", home)}
    shop.write(dict.fromkeys(places, trusted))
    state = "." if home == "~" else ""
    done = shop.run("build", HOME=home, XDG_STATE_HOME=state)
    assert done.all == shop.refusal("build")


def test_a_relative_home_stays_the_callers(shop: Shop) -> None:
    shop.write({".cli/commands/home": '#!/bin/bash\necho "$HOME $H"\n'})
    shop.write({".cli/project.json": {"name": "webshop", "envs": {"H": "$HOME/x"}}})
    done = shop.run("home", HOME="x", CLI_TRUST=str(shop.root))
    assert done.all == (0, "x x/x\n", "")


@pytest.mark.slow
def test_nothing_of_an_untrusted_project_is_used(shop: Shop) -> None:
    shop.write(
        {".cli/commands/db/drop/.env": "SECRET_VALUE=1\n", ".cli/project.json": {}}
    )
    fields = {"env_files": [".env"], "envs": {"W": "$HOME"}, "args": [{"name": "t"}]}
    fields["args"][0]["complete"] = "tables"
    shop.write({".cli/commands/db/drop/command.json": command(**fields)})
    page = shop.run("db", "drop", "--help")
    assert (page.status, page.stderr) == (0, "")
    assert "SECRET_VALUE" not in page.stdout
    assert str(shop.made.home) not in page.stdout
    assert "is not trusted" in " ".join(page.stdout.split())
    assert shop.run("help", "db", "drop").stdout == page.stdout
    assert shop.run("build", "--help").stdout.startswith("build\nBuild the shop.\n")
    assert shop.run("--complete", "zsh", "db", "drop", "").all == (0, "none\n", "")
    assert shop.run("self", "env", "db", "drop").all == shop.refusal("db drop")
    assert "build" in shop.run("self", "list").stdout
    assert shop.run("self", "which", "build").status == 0
    assert shop.run("--complete", "zsh", "b").stdout == "none\nbuild\tBuild the shop.\n"
    assert not shop.ran
    shop.trust()
    assert "SECRET_VALUE" in shop.run("db", "drop", "--help").stdout
    assert (
        shop.run("--complete", "zsh", "db", "drop", "").stdout == "none\ncandidate\t\n"
    )


def test_a_script_that_answers_help_itself_needs_trust(shop: Shop) -> None:
    own = RUNS.replace("\n", '\n# /// command\n# {"help": "script"}\n# ///\n', 1)
    shop.write(
        {".cli/commands/own": own, ".cli/commands/asks": RUNS + "# --help\n: --help\n"}
    )
    assert shop.run("own", "--help").all == shop.refusal("own")
    assert shop.run("asks", "--help").stdout.startswith("asks\n")
    assert not shop.ran
    shop.trust()
    assert shop.run("own", "--help").stdout == "candidate\n"
    assert shop.run("asks", "--help").stdout == "candidate\n"


@pytest.mark.parametrize("path", ["/env", "$PROJECT_DIR/env", "../../env"])
def test_an_env_file_that_others_can_write_is_refused(shop: Shop, path: str) -> None:
    path = (
        path if path.startswith("$") else f"{shop.root}/env" if path == "/env" else path
    )
    block = json.dumps({"env_files": [path]})
    build = BUILD.replace("the shop.", f"the shop.\n# /// command\n# {block}\n# ///")
    shop.write({".cli/commands/build": build, "env": "X=file\n"})
    shop.trust()
    assert shop.run("build").status == 0
    (shop.made.home / "ran").unlink()
    (shop.root / "env").chmod(0o666)
    assert "env: every user can write to it" in shop.run("build").stderr
    assert not shop.ran


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("[]", "expected an object, found an array"),
        ("{", "expecting property name"),
        ('{"projects": {"/x": 1}}', "expected an object, found a number"),
    ],
)
def test_a_state_file_that_is_wrong_trusts_nothing(
    shop: Shop, content: str, what: str
) -> None:
    shop.trust()
    shop.state.write_text(content)
    done = shop.run("build")
    assert (done.status, done.stdout, shop.ran) == (1, "", False)
    assert what in done.stderr
    assert done.stderr.endswith(f"; run: rm {shop.state}\n")


@pytest.mark.parametrize("mode", [0o660, 0o602], ids=oct)
def test_a_state_file_that_others_can_write_trusts_nothing(
    shop: Shop, mode: int
) -> None:
    shop.trust()
    shop.state.chmod(mode)
    done = shop.run("build")
    assert (done.status, shop.ran) == (1, False)
    assert done.stderr == (
        f"cli: {shop.state}: another user can write to it; check it, then run: "
        f"chmod 600 {shop.state}\n"
    )


def answered(shop: Shop, answer: str, *words: str) -> tuple[int, str]:
    """Return status and output of a run on a terminal where somebody types `answer`."""
    primary, secondary = pty.openpty()
    os.write(
        primary, f"{answer}\n".encode()
    )  # before the run, so that its echo comes first
    pid = os.fork()
    if pid == 0:
        os.login_tty(secondary)
        os.chdir(shop.root)
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(shop.made.home),
            "NO_COLOR": "1",
        }
        os.execve(shop.made.launcher, [str(shop.made.launcher), *words], environ)
    os.close(secondary)
    shown = b""
    try:
        while chunk := os.read(primary, 65536):
            shown += chunk
    except OSError:
        pass
    os.close(primary)
    _, status = os.waitpid(pid, 0)
    output = shown.decode().replace("\r\n", "\n").removeprefix(f"{answer}\n")
    return os.waitstatus_to_exitcode(status), output


@pytest.mark.slow
def test_the_question_shows_the_commands_with_their_effects(shop: Shop) -> None:
    question = (
        f"The project webshop in {shop.root} has these commands:\n"
        "  build    Build the shop.  [change]\n"
        "  db drop  Description  [destroy]\n"
        "Trust it? [y]es, [n]o, [o]nce: "
    )
    for answer in ("n", "", "maybe"):
        status, shown = answered(shop, answer, "build")
        assert (status, shop.ran) == (1, False)
        assert shown.startswith(question)
        assert shown.endswith("build: the project is not trusted; nothing was run\n")
    ran = f"build {shop.root} {shop.root} {shop.root}/x\n"
    assert answered(shop, "once", "build") == (0, question + ran)
    assert shop.run("build").all == shop.refusal("build")
    assert answered(shop, "y", "--yes", "build") == (0, question + ran)
    assert answered(shop, "", "build") == (0, ran)
    assert shop.run("db", "drop", "t").status == 0


def test_a_change_shows_its_new_text_and_only_that_is_remembered(shop: Shop) -> None:
    shop.trust()
    shop.write({".cli/commands/build": BUILD.replace("Build", "Rebuild")})
    shop.write({DEFINITION: command(description="New")})
    status, shown = answered(shop, "yes", "build")
    assert status == 0
    assert shown.startswith(
        f"The project webshop in {shop.root} has changed since it was trusted:\n"
        f"  {shop.root}/.cli/commands/build\n"
        "    Rebuild the shop.\n"
        "Trust it? [y]es, [n]o, [o]nce: "
    )
    assert shop.run("build").status == 0
    assert shop.run("db", "drop").status == 1


def test_a_tag_with_an_effect_is_part_of_what_is_trusted(shop: Shop) -> None:
    tags = "# @describe Build it\n# @raycast.icon x\n# @arg stage[dev|prod]\n"
    script = f"#!/bin/bash\n{tags}echo ran\n"
    shop.write({".cli/commands/build": script})
    shop.trust()
    shop.write(
        {
            ".cli/commands/build": script.replace("icon x", "icon y").replace(
                "ran", "run"
            )
        }
    )
    assert shop.run("build", "dev").all == (0, "run\n", "")
    shop.write({".cli/commands/build": script.replace("|prod", "|prod|test")})
    changed = "has changed since it was trusted"
    assert shop.run("build", "dev").all == shop.refusal("build", changed)


def test_control_characters_in_a_project_are_shown_escaped(shop: Shop) -> None:
    shop.write({".cli/project.json": {"name": "a\x1b[31mb\nc"}})
    _, shown = answered(shop, "n", "build")
    assert r"The project a\x1b[31mb\nc in " in shown


def test_a_project_changes_nothing_of_an_installations_category(shop: Shop) -> None:
    """Neither its default command, nor its entrypoint, nor its description."""
    shop.made.write({"commands/team/hello": '#!/bin/sh\ntouch "$HOME/ran"\n'})
    evil = {
        "name": "evil",
        "description": "evil",
        "default": "hello",
        "entrypoint": "evil.sh",
    }
    shop.write(
        {".cli/commands/team/category.json": evil, ".cli/commands/team/evil.sh": RUNS}
    )
    for words in ([], ["--help"], ["-x"], ["x"]):
        done = shop.run("team", *words)
        assert not shop.ran
        assert "evil" not in done.stdout
    assert shop.run("team").status == 0
    assert shop.run("team", "-x").status == 2
    assert "evil" not in shop.run().stdout


def test_an_untrusted_project_chooses_no_command_of_a_trusted_one(shop: Shop) -> None:
    shop.trust()
    inner = Shop(shop.made, shop.root / "inner")
    shutil.rmtree(inner.root / ".cli/commands/db/drop")
    inner.write({".cli/commands/db/category.json": {"default": "drop"}})
    inner.write({".cli/commands/db/more": RUNS})
    done = inner.run("db")
    assert (done.status, inner.ran) == (1, False)
    assert '"default": there is no command drop in this category' in done.stderr
    assert inner.run("db", "drop", "t").status == 0


def test_a_category_of_a_project_needs_trust(shop: Shop) -> None:
    tool = {"name": "tool", "entrypoint": "run.sh", "default": "more"}
    shop.write({".cli/commands/tool/category.json": tool})
    shop.write({".cli/commands/tool/run.sh": RUNS, ".cli/commands/tool/more": RUNS})
    assert shop.run("tool", "-x").all == shop.refusal("tool")
    assert shop.run("tool").all == shop.refusal("tool more")
    assert not shop.ran
    shop.trust()
    assert shop.run("tool", "-x").stdout == "candidate\n"
    assert shop.run("tool").stdout == "candidate\n"
    shop.write({".cli/commands/tool/category.json": {**tool, "envs": {"X": "1"}}})
    assert shop.run("tool", "-x").status == 1


def test_a_complete_program_that_others_can_write_does_not_run(shop: Shop) -> None:
    shop.trust()
    words = ("--complete", "zsh", "db", "drop", "")
    assert shop.run(*words).stdout == "none\ncandidate\t\n"
    (shop.made.home / "ran").unlink()
    (shop.root / ".cli/commands/db/drop/tables").chmod(0o777)
    assert shop.run(*words).stdout == "none\n"
    assert not shop.ran

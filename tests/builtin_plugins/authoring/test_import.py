"""`self import`: recipes of other tools become scripts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from host.catalog.definition import read_definition
from testing.installation import Made
from testing.plugin_sources import write_tree

Install = Callable[..., Made]

TOOLS = Path(sys.executable).parent  # just and task come with the tests
PATHS = {"PATH": f"{TOOLS}:/usr/bin:/bin"}

JUSTFILE = """\
# Build the project
[group('dev')]
build target='all' *flags:
    @echo build {{target}} {{flags}}

alias b := build

[private]
secret:
_hidden:
# Ship it
deploy env +hosts:
    @echo deploy {{env}} to {{hosts}}
mod db
"""
DB = "# Apply the migrations\nmigrate:\n    @echo migrated\n"
MAKEFILE = """\
CC := cc
.PHONY: test a.b c\\:d.e
all: CFLAGS = -O2
only-variables: export X := 1
define HELP
usage: make
endef
export PATH2 ?= a:b
ifeq ($(X),a:b)
endif
$(if note:this,)
$(CC)-x: ; @true
# Build everything
all: main.o
main.o: main.c
\t$(CC)
test: ## Run the tests
\t@echo test $(X) in $(notdir $(CURDIR))
%.x: %.y
deploy/prod: ; @echo shipped ## To production
a.b: ; @true
c\\:d.e f\\:g: ; @echo $@
deploy\\ it: ; @true
x y \\
  z &:
\t@echo $@
"""
TASKFILE = """\
version: '3'
silent: true
tasks:
  db:
    desc: About the database
    cmds: ["echo 'db {{.WHO}} {{.CLI_ARGS}}'"]
  db:migrate:
    aliases: [m]
    cmds: ["echo migrate {{.CLI_ARGS}}"]
  fails: ["exit 3"]
  inner:
    internal: true
    cmds: ["true"]
"""
PACKAGE = json.dumps({"scripts": {"build": "echo built", "test:unit": "echo u"}})


def listed(made: Made, *words: str) -> dict[str, str]:
    """Return the words of each command below `words`, with its description."""
    found = json.loads(
        made.run("self", "list", *words, "--format", "json", env=PATHS).stdout
    )
    return {" ".join(one["path"]): one["description"] for one in found["commands"]}


@pytest.mark.slow
def test_a_justfile(install: Install) -> None:
    made = install({"justfile": JUSTFILE, "db.just": DB})
    done = made.run("self", "import", str(made.root / "justfile"), "--yes", env=PATHS)
    folder = made.root / "commands/just"
    left_out = "left out (private): _hidden, secret\n"
    assert done.all == (0, f"{folder}: 3 commands\n{left_out}try it:  cli just\n", "")
    assert listed(made, "just") == {
        "just build": "Build the project",
        "just db migrate": "Apply the migrations",
        "just deploy": "Ship it",
    }
    run = {"env": PATHS}
    assert made.run("just", "build", "x", "--", "-v", **run).all == (
        0,
        "build x -- -v\n",
        "",
    )
    assert made.run("just", "b", **run).stdout == "build all\n"
    for words in (
        "x --release -j4",
        "--release",
        "-j4 --",
        "-- -h",
        "--yes x",
        "--help -h",
    ):
        args = words.split()
        direct = subprocess.run(
            ["just", "build", *args],
            check=True,
            cwd=made.root,
            env=PATHS,
            capture_output=True,
            text=True,
        )
        assert made.run("just", "build", *args, **run).all == (0, direct.stdout, "")
    assert (
        made.run("just", "deploy", "-e", "-h", "--", **run).stdout
        == "deploy -e to -h --\n"
    )
    assert made.run("just", "db", "migrate", **run).stdout == "migrated\n"
    assert (
        made.run("just", "deploy", "prod", "a", "b", **run).stdout
        == "deploy prod to a b\n"
    )
    assert made.run("just", "deploy", "prod", **run).status == 2
    assert "\ndev:\n  build " in made.run("just").stdout
    assert made.run("self", "lint").status == 0


def test_a_makefile_is_read_as_text(install: Install) -> None:
    made = install({"Makefile": MAKEFILE})
    done = made.run(
        "self", "import", str(made.root / "Makefile"), "build", "make", env=PATHS
    )
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1:5] == [
        "left out (its name is computed): $(CC)-x",
        "left out (a file that make builds): main.o",
        "left out (a pattern): %.x",
        "left out (not a valid command name): deploy it",
    ]
    assert listed(made) == {
        "build make a.b": "make a.b",
        "build make all": "Build everything",
        "build make c d.e": "make c:d.e",
        "build make deploy prod": "To production",
        "build make f g": "make f:g",
        "build make test": "Run the tests",
        "build make x": "make x",
        "build make y": "make y",
        "build make z": "make z",
    }
    if shutil.which("make"):
        ran = made.run("build", "make", "test", "X=1", env=PATHS)
        assert ran.all == (0, f"test 1 in {made.root.name}\n", "")
        assert made.run("build", "make", "c", "d.e", env=PATHS).all == (
            0,
            "c:d.e\n",
            "",
        )


@pytest.mark.slow
def test_a_taskfile_and_a_recipe_that_is_a_group_too(install: Install) -> None:
    made = install({"Taskfile.yml": TASKFILE})
    assert (
        made.run(
            "self", "import", "Taskfile.yml", "--yes", env=PATHS, cwd=made.root
        ).status
        == 0
    )
    assert listed(made) == {
        "task db": "About the database",
        "task db migrate": "task db:migrate",
        "task fails": "task fails",
    }
    for words in ("-x y", "-- -x y", "WHO=me -- -x y"):
        ran = made.run("task", "db", *words.split(), env=PATHS)
        assert ran.stdout == f"db {'me' if 'WHO' in words else ''} -x y\n"
    assert made.run("task", "db", "migrate", env=PATHS).stdout == "migrate\n"
    assert made.run("task", "fails", env=PATHS).status == 3


def test_a_package_json(install: Install) -> None:
    made = install({"package.json": PACKAGE})
    assert (
        made.run("self", "import", str(made.root / "package.json"), env=PATHS).status
        == 0
    )
    assert listed(made) == {"npm build": "echo built", "npm test unit": "echo u"}
    program = made.root / "bin/npm"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nshift 2\necho "$*"\n')
    program.chmod(0o755)
    env = {"PATH": f"{program.parent}:/usr/bin:/bin"}
    for words in ("--fix a", "-- --fix a"):
        ran = made.run("npm", "build", *words.split(), env=env)
        assert ran.stdout == "run build -- --fix a\n"


@pytest.mark.parametrize("manager", ["npm", "pnpm", "yarn"])
def test_the_package_manager_of_a_package_json(install: Install, manager: str) -> None:
    package = {"packageManager": f"{manager}@9.1.0", "scripts": {"build": "tsc"}}
    made = install({"package.json": json.dumps(package)})
    assert made.run("self", "import", str(made.root / "package.json")).status == 0
    assert listed(made) == {f"{manager} build": "tsc"}

    program = made.root / "bin" / manager
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nshift 2\necho "$*"\n')
    program.chmod(0o755)
    env = {"PATH": f"{program.parent}:/usr/bin:/bin"}
    dashes = "-- " if manager == "npm" else ""
    ran = made.run(manager, "build", "--fix", env=env)
    assert ran.stdout == f"run build {dashes}--fix\n"


ASKED = {
    "justfile": """\
[confirm]
own:
    @echo own
[confirm("Really ship?")]
text:
    @echo text
[confirm("All?")]
all: own
    @echo all
free:
    @echo free
""",
    "Taskfile.yml": """\
version: '3'
silent: true
tasks:
  own:
    prompt: ["Sure?"]
    cmds: ["echo own"]
  text:
    prompt: "Really ship?"
    cmds: ["echo text"]
  all:
    deps: [own]
    prompt: All?
    cmds: ["echo all"]
  free: ["echo free"]
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("file", ASKED)
def test_the_question_of_a_recipe_is_asked_before_it_runs(
    install: Install, file: str
) -> None:
    made = install({file: ASKED[file]})
    path = str(made.root / file)
    assert made.run("self", "import", path, "x", "--yes", env=PATHS).status == 0
    questions = {}
    for script in (made.root / "commands/x").glob("*.sh"):
        questions[script.stem] = read_definition(str(script)).confirm
    kind = "recipe" if file == "justfile" else "task"
    own = f"Run {kind} own?"
    assert questions == {"all": "All?", "free": "", "own": own, "text": "Really ship?"}

    refused = made.run("x", "text", env=PATHS)
    assert (refused.status, refused.stdout) == (1, "")
    # The tool does not ask again.
    assert made.run("--yes", "x", "text", env=PATHS).stdout.endswith("text\n")
    # Nobody has answered the question of the other recipe.
    assert made.run("--yes", "x", "all", env=PATHS).status != 0
    assert made.run("x", "free", env=PATHS).stdout == "free\n"


def test_mise(install: Install) -> None:
    """The program answers as `mise tasks ls --json` of 2026.9 does."""
    made = install({"mise.toml": ""})
    tasks = [
        {"name": "build", "description": "Build", "hide": False},
        {"name": "db:m", "description": "", "hide": True},
    ]
    for task in tasks:
        task |= {"aliases": [], "source": str(made.root / "mise.toml")}
    elsewhere = {**tasks[0], "name": "far", "source": "/etc/mise/config.toml"}
    (made.root / "bin").mkdir()
    program = made.root / "bin/mise"
    listing = f"cat <<'E'\n{json.dumps([*tasks, elsewhere])}\nE"
    program.write_text(
        f'#!/bin/sh\ncase "$*" in *"tasks ls --json") {listing}\n;;\n*) echo "$*";; esac\n'
    )
    program.chmod(0o755)
    env = {"PATH": f"{program.parent}:/usr/bin:/bin"}
    assert (
        made.run("self", "import", "mise.toml", "--yes", env=env, cwd=made.root).status
        == 0
    )
    assert listed(made) == {"mise build": "Build"}
    ran = made.run("mise", "build", "-x", env=env)
    assert ran.stdout == f"--cd {made.root}/commands/mise/../.. run build -x\n"


def test_a_file_elsewhere_has_its_whole_path(install: Install, tmp_path: Path) -> None:
    outside = tmp_path / "it's here"
    outside.mkdir()
    (outside / "Makefile").write_text("hi:\n\t@echo hi\n")
    made = install()
    assert made.run("self", "import", str(outside / "Makefile")).status == 0
    if shutil.which("make"):
        assert made.run("make", "hi").all == (0, "hi\n", "")


def test_an_update_keeps_what_was_changed_by_hand(install: Install) -> None:
    made = install({"Makefile": "a: ; @true\nb: ; @true\nc: ; @true\n"})
    again = ("self", "import", str(made.root / "Makefile"))
    assert made.run(*again).status == 0
    folder = made.root / "commands/make"
    assert made.run(*again).all == (
        1,
        "",
        f"cli: {folder}: already exists; to update an earlier import, add --update; "
        "otherwise name another category\n",
    )
    mine = (folder / "a.sh").read_text() + "# mine\n"
    (folder / "a.sh").write_text(mine)
    (made.root / "Makefile").write_text(
        "## First\na: ; @true\n## Second\nb: ; @true\nd: ; @true\n"
    )
    done = made.run(*again, "--update")
    kept = f"cli: warning: {folder}/a.sh: kept, because it was changed by hand\n"
    assert done.all == (
        0,
        f"{folder}: 3 commands\ntry it:  cli make\n",
        kept,
    )
    assert sorted(os.listdir(folder)) == ["a.sh", "b.sh", "category.json", "d.sh"]
    assert (folder / "a.sh").read_text() == mine
    assert json.loads((folder / "category.json").read_text())["requires"] == ["make"]
    assert (
        made.run(*again, "--update").stdout
        == f"{folder}: 3 commands\ntry it:  cli make\n"
    )


def test_a_try_after_a_kill_ends_in_the_same_state(install: Install) -> None:
    made = install({"Makefile": "a: ; @true\nb/c: ; @true ## C\n"})
    again = ("self", "import", str(made.root / "Makefile"), "--update")
    assert made.run(*again).status == 0
    folder = made.root / "commands/make"
    files = [path for path in folder.rglob("*") if path.is_file()]
    whole = {path: path.read_bytes() for path in files}
    assert folder / "b/c.sh" in files
    for path in files:
        path.unlink()
        assert made.run(*again).stderr == ""
        assert {path: path.read_bytes() for path in files} == whole


def test_scripts_of_two_files_may_share_a_folder(install: Install) -> None:
    made = install({"a.mk": "a: ; @true\n", "b.mk": "b: ; @true\n"})
    folder = made.root / "commands/x"
    for name in ("a.mk", "b.mk", "a.mk"):
        done = made.run("self", "import", str(made.root / name), "x", "--update")
        assert (done.status, done.stderr) == (0, "")
    write_tree(folder, {"own.sh": "#!/bin/sh\n", "c/own.sh": "#!/bin/sh\n"})
    (made.root / "a.mk").write_text("c/d: ; @true ## D\n")
    done = made.run("self", "import", str(made.root / "a.mk"), "x", "--update")
    assert (done.status, done.stderr) == (0, "")
    scripts = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.sh"))
    assert scripts == ["b.sh", "c/d.sh", "c/own.sh", "own.sh"]


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("notes.txt", "", "not a file that can be imported"),
        ("package.json", "{", "npm recipes cannot be read"),
        ("package.json", '{"scripts": []}', "contains no recipes"),
        ("package.json", '{"scripts": {"b": "\\ud800"}}', "npm recipes cannot be read"),
        pytest.param(
            *("package.json", "[" * 200_000, "npm recipes cannot be read"), id="deep"
        ),
        pytest.param("Makefile", "a" + " " * 60_000, "contains no recipes", id="wide"),
        ("justfile", "build", "just failed: error"),
        (
            *("Makefile", "a.o: a.c\n"),
            "contains no recipe that can be a command; left out (a file that make builds): a.o",
        ),
    ],
)
def test_what_cannot_be_imported_is_one_line(
    install: Install, file: str, text: str, line: str
) -> None:
    made = install({file: text})
    done = made.run("self", "import", str(made.root / file), "--yes", env=PATHS)
    assert done.status in (1, 2)
    assert line in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (made.root / "commands/npm").exists()


def test_a_tool_runs_only_if_the_user_agreed(install: Install) -> None:
    made = install({"justfile": JUSTFILE, "db.just": DB})
    file = made.root / "justfile"
    assert made.run("self", "import", str(file), env=PATHS).all == (
        1,
        "",
        f"cli: {file}: nothing was imported, because there is no terminal to ask on; "
        "to skip the question, add --yes\n",
    )


def test_names_that_cannot_be_commands_are_left_out(install: Install) -> None:
    scripts = {
        "ok": "true\u2028false",
        "a b": "true",
        "x:y": "true",
        "x/y": "true",
        "../../up": "true",
    }
    made = install({"package.json": json.dumps({"scripts": scripts})})
    done = made.run("self", "import", str(made.root / "package.json"))
    assert done.stderr == ""
    assert done.stdout.splitlines()[1:3] == [
        "left out (not a valid command name): a b, ../../up",
        "left out (another recipe has the same command name): x/y",
    ]
    assert listed(made) == {"npm ok": "true\u2028false", "npm x y": "true"}


@pytest.mark.slow
def test_into_a_plugin(install: Install) -> None:
    made = install(
        {"Makefile": "all: ## Build\n\t@echo all\n", "plugins/old/a/b/main.sh": "x"}
    )
    file = str(made.root / "Makefile")
    for _ in range(2):
        done = made.run("self", "import", file, "--plugin", "mk", "--update", env=PATHS)
        folder = made.root / "plugins/mk/make"
        assert done.all == (0, f"{folder}: 1 command\ntry it:  cli make\n", "")
        assert made.run("make", "all", env=PATHS).all == (0, "all\n", "")
    assert (
        made.run("self", "lint", str(made.root / "plugins/mk"), env=PATHS).status == 0
    )
    done = made.run("self", "import", file, "--plugin", "old", env=PATHS)
    remedy = 'to accept scripts, add "scripts": {} to plugin.json'
    old = f"{made.root}/plugins/old: this plugin does not accept scripts as commands; {remedy}"
    assert done.all == (1, "", f"cli: {old}\n")
    for name in ("../out", "self", "A"):
        done = made.run("self", "import", file, "--plugin", name, env=PATHS)
        assert (
            done.status,
            f"cli: {name} is not a valid plugin name; " in done.stderr,
        ) == (
            2,
            True,
        )
    assert not (made.root / "out").exists()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
@pytest.mark.parametrize(
    "broken", ["error=ENOSPC", pytest.param("signal=KILL", marks=pytest.mark.night)]
)
def test_a_first_import_is_there_whole_or_not_at_all(
    install: Install, broken: str
) -> None:
    made = install({"project/Makefile": MAKEFILE})
    before = sorted(made.root.rglob("*"))
    words = ["self", "import", "project/Makefile", "--plugin", "recipes"]
    for at in (1, 3, 5):  # the manifest of the plugin, and files of the category
        inject = ["-e", "trace=rename", "-e", f"inject=rename:{broken}:when={at}"]
        traced = ["-f", "-qqq", "-o", "/dev/null", "-e", "signal=none", *inject]
        environ = {"PATH": "/usr/bin:/bin", "HOME": str(made.home)}
        done = subprocess.run(
            ["strace", *traced, made.launcher, *words],
            env=environ, cwd=made.root, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == (1 if "ENOSPC" in broken else -9)
        assert "undone" not in done.stderr
        left = {path.name for path in made.root.rglob("*")} - {
            path.name for path in before
        }
        assert "test.sh" not in {name for name in left if "ENOSPC" in broken}
        assert not (made.root / "plugins/recipes/make").exists()
        if "ENOSPC" in broken:
            assert sorted(made.root.rglob("*")) == before
    assert made.run(*words, cwd=made.root).status == 0
    assert made.run("make", "test", env=PATHS).status == 0


def test_an_update_that_fails_changes_nothing(install: Install) -> None:
    made = install({"project/Makefile": "one:\n\t@echo 1\ntwo:\n\t@echo 2\n"})
    assert made.run("self", "import", "project/Makefile", cwd=made.root).status == 0
    made.write({"project/Makefile": "one: ## First\n\t@echo 1\nthree:\n\t@echo 3\n"})
    folder = made.root / "commands/make"
    before = {path.name: path.read_text() for path in folder.iterdir()}
    (folder / "zzz.sh").mkdir()
    (folder / ".three.sh.tmp").mkdir()  # so that three.sh cannot be written
    failed = made.run("self", "import", "project/Makefile", "--update", cwd=made.root)
    assert (failed.status, failed.stdout, failed.stderr.count("\n")) == (1, "", 1)
    assert {
        path.name: path.read_text() for path in folder.iterdir() if path.is_file()
    } == before
    (folder / ".three.sh.tmp").rmdir()
    (folder / "zzz.sh").rmdir()
    assert (
        made.run("self", "import", "project/Makefile", "--update", cwd=made.root).status
        == 0
    )
    assert sorted(os.listdir(folder)) == ["category.json", "one.sh", "three.sh"]

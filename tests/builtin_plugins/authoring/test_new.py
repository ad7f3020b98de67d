"""`self new command`, `self new category` and `self edit`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from testing.installation import Made, command

Install = Callable[..., Made]
BASH = "#!/bin/bash\necho ran\n"


_EXTENSIONS = {"bash": ".sh", "python": ".py", "node": ".js", "sh": ".sh"}


@pytest.mark.slow
@pytest.mark.parametrize("folder", [False, True], ids=["script", "folder"])
@pytest.mark.parametrize("language", _EXTENSIONS)
@pytest.mark.sampled
def test_a_new_command_runs_and_lints_clean_at_once(
    install: Install, language: str, folder: bool
) -> None:
    made = install()
    options = ["--lang", language, *(["--folder"] if folder else [])]
    done = made.run("self", "new", "command", "team", "db", "say-hi", *options)
    assert (done.status, done.stderr) == (0, "")
    place = made.root / "commands" / "team" / "db" / "say-hi"
    file = place / "main" if folder else place
    script = file.with_suffix(_EXTENSIONS[language])
    assert f"  {place / 'command.json' if folder else script}\n" in done.stdout
    assert "try it:     cli team db say-hi\n" in done.stdout
    if language == "node" and not shutil.which("node"):
        assert os.access(script, os.X_OK)
    else:
        assert made.run("team", "db", "say-hi").all == (0, "Hello, world!\n", "")
        assert made.run("team", "db", "say-hi", "Ada").stdout == "Hello, Ada!\n"
    assert made.run("self", "lint").status == 0
    assert "  team\n" in made.run().stdout  # nothing invents a description
    assert "  say-hi\n" in made.run("team", "db").stdout
    assert "say-hi Ada" in made.run("help", "team", "db", "say-hi").stdout
    assert not [
        one for one in os.listdir(made.root / "commands") if one.startswith(".")
    ]


@pytest.mark.parametrize("language", ["bash", "python", "sh"])
def test_a_script_of_the_users_own_gets_its_words(
    install: Install, language: str
) -> None:
    made = install()
    assert (
        made.run("self", "new", "command", "team", "tool", "--lang", language).status
        == 0
    )
    [script] = (made.root / "commands/team").glob("tool.*")
    script.write_text('#!/bin/sh\necho "own $*"\n')
    for words in (["a", "b"], ["--force", "-n3"], ["-h", "host"], [""]):
        assert made.run("team", "tool", *words).all == (
            0,
            f"own {' '.join(words)}\n",
            "",
        ), words
    assert "\nUsage: cli team tool [args…]\n" in made.run("help", "team", "tool").stdout


@pytest.mark.slow
def test_into_what_is_there_and_what_is_refused(install: Install) -> None:
    made = install(
        {"commands/a/b/command.json": command(), "commands/a/b/main.sh": BASH}
    )
    new = ("self", "new", "command")
    assert made.run(*new, "a", "c", "--description", "Sée").status == 0
    assert "Sée" in made.run("a").stdout
    assert not (made.root / "commands/a/category.json").exists()
    taken = "cli: a b is already a command; see: cli self which a b\n"
    assert made.run(*new, "a", "b").all == (1, "", taken)
    assert made.run(*new, "a", "b", "c").all == (1, "", taken)
    assert made.run(*new, "alone").status == 0
    assert made.run("alone").all == (0, "Hello, world!\n", "")
    assert made.run(*new, "alone", "below").status == 0
    assert made.run("alone", "below", "Ada").all == (0, "Hello, Ada!\n", "")
    missing = "cli: self new command: words is missing; usage: cli self new command <words...>"
    assert made.run(*new).stderr.startswith(missing)
    for words in (
        ["self", "x"],
        ["help", "x"],
        ["../x", "y"],
        ["x", ".y"],
        ["x", "-y"],
    ):
        done = made.run(*new, "--", *words)
        assert (done.status, done.stdout, done.stderr.count("\n")) == (2, "", 1), words
    assert made.run(*new, "x", "help").status == 0
    assert made.run("self", "new", "category", "a").status == 1
    done = made.run("self", "new", "category", "ops", "db", "--description", "Data")
    assert "next:  cli self new command ops db hello\n" in done.stdout
    assert "Data" in made.run("ops").stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", ["old.py", "old", "old.conf", "my tool.sh"])
def test_a_script_of_the_users_own_is_copied_as_it_is(
    install: Install, tmp_path: Path, name: str
) -> None:
    made = install()
    text = b"#!/bin/sh\n# Do it.\nprintf '\xff %s' \"$1\"\n"
    (tmp_path / name).write_bytes(text)
    new = ("self", "new", "command", "team", "it", "--from", name)
    done = made.run(*new, cwd=tmp_path)
    assert (done.status, done.stderr) == (0, "")
    extension = {"old.py": ".py", "my tool.sh": ".sh"}.get(name, "")
    copy = made.root / "commands" / "team" / f"it{extension}"
    assert (copy.read_bytes(), os.access(copy, os.X_OK)) == (text, True)
    assert made.run("team", "it", "x").stdout == "\udcff x"
    assert "it  Do it." in made.run("team").stdout
    assert made.run("self", "lint").status == 0
    taken = "cli: team it is already a command; see: cli self which team it\n"
    assert made.run(*new, "--move", cwd=tmp_path).all == (1, "", taken)
    other = ("self", "new", "command", "two", "--from", name)
    assert made.run(*other, "--lang", "sh", cwd=tmp_path).status == 2
    assert made.run(*other, "--move", cwd=tmp_path).status == 0
    assert not (tmp_path / name).exists()
    gone = made.run("self", "new", "command", "three", "--from", name, cwd=tmp_path)
    assert (gone.status, gone.stdout, gone.stderr.count("\n")) == (2, "", 1)
    assert f"{name}: No such file or directory" in gone.stderr


def test_edit(install: Install) -> None:
    made = install(
        {
            "commands/a/category.json": {"name": "A", "description": "B"},
            "commands/a/b/command.json": command(),
            "commands/a/b/main.sh": BASH,
        }
    )
    folder = made.root / "commands" / "a"
    for words, file in (
        (["a", "b"], "b/main.sh"),
        (["a", "b", "--definition"], "b/command.json"),
        (["a"], "category.json"),
    ):
        done = made.run("self", "edit", *words, env={"EDITOR": "printf '%s '"})
        assert done.all == (0, f"{folder}/{file} ", ""), words
    both = {"EDITOR": "false", "VISUAL": "echo -n"}
    assert made.run("self", "edit", "a", "b", env=both).stdout == f"{folder}/b/main.sh"
    assert made.run("self", "edit", "a", "bb", env=both).stderr.endswith(
        "did you mean cli a b?\n"
    )
    gone = made.run("self", "edit", "a", "b", env={"EDITOR": "no-such-editor"})
    what = "there is no editor no-such-editor, which $VISUAL or $EDITOR names"
    remedy = f"set EDITOR, or open {folder}/b/main.sh yourself"
    assert gone.all == (127, "", f"cli: {what}; {remedy}\n")
    assert made.run("self", "edit", "self", "list", env=both).status == 1
    none = made.run("self", "edit", "a", "b", env={"PATH": str(made.home)})
    what = "there is no editor: $VISUAL and $EDITOR are not set, and no vi is on PATH"
    remedy = f"set EDITOR, or open {folder}/b/main.sh yourself"
    assert none.all == (1, "", f"cli: {what}; {remedy}\n")


def test_what_is_wrong_is_opened_to_be_corrected(install: Install) -> None:
    made = install(
        {
            "commands/a/category.json": "{",
            "commands/a/b/command.json": '{"name": "B" "description": "x"}',
            "commands/a/c/command.json": command(),
        }
    )
    editor = {"EDITOR": "printf %s"}
    for words, file in ((["a", "b"], "b/command.json"), (["a"], "category.json")):
        done = made.run("self", "edit", *words, env=editor)
        assert (done.status, done.stdout) == (0, f"{made.root}/commands/a/{file}"), (
            words
        )
    said = made.run("self", "edit", "a", "b", env=editor).stderr
    assert said.startswith(
        f"cli: warning: {made.root}/commands/a/b/command.json:1:14: expecting"
    )
    assert made.run("self", "edit", "a", "../a/b", env=editor).status == 2


def test_an_error_of_the_system_is_one_line(install: Install, tmp_path: Path) -> None:
    made = install()
    gone = tmp_path / "gone"
    gone.mkdir()
    line = f"rmdir {gone}; exec {made.launcher} self new plugin p"
    done = made.run("-c", line, executable="/bin/sh", cwd=gone)
    assert (done.status, done.stdout) == (1, "")
    what = "cli: the current directory does not exist any more; run: cd\n"
    assert done.stderr.endswith(what)


def test_many_at_once_all_succeed(install: Install, tmp_path: Path) -> None:
    made = install()
    files = [tmp_path / f"script{number}" for number in range(4)]
    for file in files:
        file.write_text(f"#!/bin/sh\necho {file.name}\n")

    def adopt(file: Path) -> int:
        words = ("fresh", "category", file.name, "--from", str(file), "--move")
        return made.run("self", "new", "command", *words).status

    with ThreadPoolExecutor() as pool:
        assert list(pool.map(adopt, files)) == [0] * len(files)
    for file in files:
        assert made.run("fresh", "category", file.name).stdout == f"{file.name}\n"
        assert not file.exists()

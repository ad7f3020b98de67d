"""`requires` and `min_version`."""

import json
import time
from pathlib import Path

import pytest

from host.errors import DefinitionError
from host.run.json_file import Fields
from host.run.requirements import Requirement, is_older, read_requirements
from testing.installation import command

# Comparisons, versions that meet them, and versions that do not.
COMPARISONS = {
    ">=1.6": (["1.6", "1.6.0", "1.10", "2.0"], ["1.5.9", "0.9"]),
    ">1.6": (["1.6.1", "2.0"], ["1.6", "1.6.0"]),
    "==1.6": (["1.6", "1.6.0"], ["1.6.1", "1.5"]),
    "<2": (["1.99"], ["2.0", "2.0.1"]),
    "<=2": (["2.0"], ["2.0.1"]),
    ">=1.6,<2": (["1.6", "1.7.1"], ["1.5", "2.0"]),
    "": (["1.0"], []),
}


@pytest.mark.parametrize(("version", "good", "bad"), [(k, *v) for k, v in COMPARISONS.items()])
def test_comparisons(version, good, bad):
    one = Requirement("jq", version)
    assert [each for each in good if not one.accepts(each)] == []
    assert [each for each in bad if one.accepts(each)] == []


@pytest.mark.parametrize(
    ("entry", "row"),
    [
        ("jq", ["jq", "", ""]),
        (" jq >= 1.6 , < 2", ["jq", ">=1.6,<2", ""]),
        ("g++>9", ["g++", ">9", ""]),
        ({"program": "aws", "version": ">=2", "hint": "ask Ada"}, ["aws", ">=2", "ask Ada"]),
    ],
)
def test_what_is_a_requirement(entry, row):
    [found] = read_requirements(Fields("x", {"requires": [entry]}))
    assert found.row() == row


@pytest.mark.parametrize(
    "entry",
    ["", "/bin/jq", "-jq", "a b", "jq>=", "jq~=1", "jq>=1.x", "jq=1", "jq>=1,", {"program": "/jq"}],
)
def test_what_is_none(entry):
    with pytest.raises(DefinitionError, match=r"requires\[0\]"):
        read_requirements(Fields("x", {"requires": [entry]}))


@pytest.mark.parametrize(
    ("version", "needed", "older"),
    [("1.4.0", "1.4", False), ("1.4.0rc1", "1.5", True), ("0.9+local", "0.9", False)],
)
def test_older(version, needed, older):
    assert is_older(version, needed) is older


def tool(says: str, more: str = "") -> str:
    return f'#!/bin/sh\necho x >>"$HOME/asked"\n{more}\n{says}\n'


@pytest.fixture
def made(install):
    app = command(requires=["one>=1.6", "two", {"program": "three", "hint": "ask Ada"}])
    return install(
        {
            "commands/a/b/command.json": app,
            "commands/a/b/main.sh": "#!/bin/sh\necho ran\n",
            "tools/one": tool("echo one-1.7.1"),
            "tools/two": tool("exit 3"),
            "tools/three": tool("sleep 60"),
        }
    )


def path_of(made, *directories):
    return {"PATH": ":".join([*directories, "/usr/bin", "/bin"])}


def asked(made):
    file = made.home / "asked"
    return file.read_text().count("x") if file.exists() else 0


def test_a_version_is_asked_once_for_each_file(made):
    env = path_of(made, str(made.root / "tools"))
    for _ in range(2):
        assert made.run("a", "b", env=env).stdout == "ran\n"
    assert asked(made) == 1
    made.write({"tools/one": tool("echo one-1.5 >&2")})
    line = (
        f"cli: a b: needs one>=1.6 ({made.root}/tools/one is 1.5); "
        "install what is missing, or put it on PATH\n"
    )
    for _ in range(2):  # one that is too old is asked each time: it may be a shim
        done = made.run("a", "b", env=env)
        assert (done.status, done.stdout, done.stderr) == (127, "", line)
    assert asked(made) == 3


def test_all_that_is_missing_is_on_one_line(made):
    made.write({"commands/setup/two/command.json": command(description="x")})
    made.write({"commands/setup/two/main.sh": "#!/bin/sh\n"})
    done = made.run("a", "b", env=path_of(made))
    assert (done.status, done.stdout, done.stderr) == (
        127,
        "",
        "cli: a b: needs one>=1.6 (not on PATH), two (not on PATH), three (not on PATH); "
        "two: run: cli setup two; three: ask Ada\n",
    )
    assert not (made.home / "asked").exists()


def test_the_path_is_the_command_s(made):
    made.write({"config/settings.conf": f'PATH="{made.root}/tools:/bin"\n'})
    without = ("-u", "PATH", str(made.launcher))
    assert made.run(*without, "a", "b", executable=Path("/usr/bin/env")).stdout == "ran\n"
    assert made.run("a", "b", env=path_of(made)).status == 127  # the caller's PATH goes before


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("echo 12", "{path} --version shows no version"),
        ("exit 1", "{path} --version shows no version"),
        ("sleep 60 & echo 2.0", ""),
        ("read line; echo $line 2.0", ""),
        ("sleep 60", "{path} --version shows no version"),
    ],
)
def test_programs_that_show_no_version(made, body, why):
    made.write({"tools/one": tool(body)})
    started = time.monotonic()
    done = made.run("a", "b", env=path_of(made, str(made.root / "tools")))
    assert time.monotonic() - started < 20
    if not why:
        assert done.stdout == "ran\n"
        return
    path = f"{made.root}/tools/one"
    assert done.status == 127
    assert done.stderr == (
        f"cli: a b: needs one>=1.6 ({why.format(path=path)}); "
        "install what is missing, or put it on PATH\n"
    )


def test_a_category_and_a_script_may_require(install):
    made = install(
        {
            "commands/a/category.json": {"name": "A", "requires": ["nothere", "cat>=999"]},
            "commands/a/run.sh": (
                "#!/bin/sh\n"
                '# /// command\n# {"description": "x", "requires": ["cat"]}\n# ///\necho ran\n'
            ),
        }
    )
    done = made.run("a", "run")
    assert (done.status, done.stdout) == (127, "")
    assert "a run: needs nothere (not on PATH);" in done.stderr


def test_pages_and_listings_show_requirements(made):
    env = path_of(made)
    page = made.run("help", "a", "b", env=env).stdout
    assert "Requires:\n  one>=1.6\n  two\n  three     ask Ada\n" in page
    for _ in range(2):
        listed = json.loads(made.run("self", "list", "--format", "json", env=env).stdout)
        [one] = [each for each in listed["commands"] if each["path"] == ["a", "b"]]
        assert one["requires"] == [
            {"program": "one", "version": ">=1.6", "hint": None},
            {"program": "two", "version": None, "hint": None},
            {"program": "three", "version": None, "hint": "ask Ada"},
        ]
    assert asked(made) == 0


def test_doctor_hints_at_what_is_missing(made):
    found = json.loads(made.run("self", "doctor", "--format", "json", env=path_of(made)).stdout)
    rows = [one for one in found["findings"] if one["check"] == "requires"]
    assert [(one["message"], one["remedy"], one["hint"]) for one in rows] == [
        ("one>=1.6: not on PATH; required by a b", "install it, or put it on PATH", True),
        ("two: not on PATH; required by a b", "install it, or put it on PATH", True),
        ("three: not on PATH; required by a b", "ask Ada", True),
    ]


def test_min_version_of_an_installation(made):
    config = json.loads((made.root / "core/cli.json").read_text())
    made.write({"core/cli.json": {**config, "min_version": "99.1"}})
    for words in (["a", "b"], [], ["a"], ["self", "list"], ["help", "a"], ["self", "plugin"]):
        done = made.run(*words)
        assert (done.status, done.stdout) == (1, "")
        assert "core/cli.json: needs cli-host 99.1 or newer; this is " in done.stderr
        assert done.stderr.endswith("; run: cli self update\n")
    for words in (
        ["--version"],
        ["self", "version"],
        ["self", "info"],
        ["self", "init", str(made.home / "x")],
    ):
        assert made.run(*words).status == 0
    done = made.run("self", "doctor")
    assert (done.status, done.stderr) == (1, "")
    assert "needs cli-host 99.1 or newer" in done.stdout
    assert "needs cli-host" not in made.run("self", "update", "--check").stderr
    made.write({"core/cli.json": {**config, "min_version": "x"}})
    assert '"min_version": "x" is no version; write "1.4" or "2"' in made.run("a", "b").stderr
    made.write({"core/cli.json": {**config, "min_version": "0.1"}})
    assert "cli: a b: needs" in made.run("a", "b", env=path_of(made)).stderr


def test_min_version_of_a_plugin(install):
    made = install(
        {
            "plugins/new/plugin.json": {"name": "new", "min_version": "99.1"},
            "plugins/new/x/y/command.json": command(),
            "plugins/new/x/y/main.sh": "#!/bin/sh\n",
        }
    )
    done = made.run("self", "plugin", "list")
    assert "plugin.json: needs cli-host 99.1 or newer; this is " in done.stdout + done.stderr
    assert made.run("x", "y").status == 2

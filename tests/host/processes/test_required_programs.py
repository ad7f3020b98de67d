"""`requires`: what a definition may say, which versions satisfy it, and what a run does."""

import json
import os
import time
from dataclasses import replace

import pytest

from host.errors import DefinitionError
from host.files.json_file import Fields
from host.processes.required_programs import Requirement, read_requirements, satisfies
from testing.installation import command

ENTRIES = {
    "jq": ("jq", "", ""),
    "jq>=1.6": ("jq", ">=1.6", ""),
    " g++ >= 1.6 , < 2": ("g++", ">=1.6,<2", ""),
    "python3.11==3.11.2": ("python3.11", "==3.11.2", ""),
}
OBJECTS = [
    ({"program": "aws", "version": ">=2", "hint": "ask"}, ("aws", ">=2", "ask")),
    ({"program": "aws", "version": None}, ("aws", "", "")),
]


@pytest.mark.parametrize(("entry", "values"), [*ENTRIES.items(), *OBJECTS])
def test_entries(entry, values):
    assert read_requirements(Fields("f", {}), [entry]) == (Requirement(*values),)


BAD = {
    "/bin/sh": 'f: "requires[0]": "/bin/sh" is not the name of a program',
    "jq 1.6": 'f: "requires[0]": "jq 1.6" is not the name of a program',
    "": 'f: "requires[0]": "" is not the name of a program',
    "-x": 'f: "requires[0]": "-x" is not the name of a program',
    "jq=1": 'f: "requires[0]": expected versions such as >=1.6 or >=1.6,<2; found "=1"',
    "jq>=1,": 'f: "requires[0]": expected versions such as >=1.6 or >=1.6,<2; found ">=1,"',
    "jq>=x": 'f: "requires[0]": expected versions such as >=1.6 or >=1.6,<2; found ">=x"',
}


@pytest.mark.parametrize(("entry", "message"), BAD.items())
def test_bad_entries(entry, message):
    with pytest.raises(DefinitionError) as raised:
        read_requirements(Fields("f", {}), [entry])
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("version", "good", "bad"),
    [
        (
            "1.6",
            [">=1.6", "==1.6.0", "<=1.6", "<1.10", ">1.5.9"],
            [">1.6", "<1.6", "==1"],
        ),
        ("2.0.1", [">2", ">=2.0", "<10"], ["<2.0.1", "==2.0", ">=1,<2"]),
    ],
)
def test_versions(version, good, bad):
    assert [one for one in good if not satisfies(version, one)] == []
    assert [one for one in bad if satisfies(version, one)] == []


SCRIPT = "#!/bin/sh\necho ran\n"
OLD = "#!/bin/sh\necho x >> asked; echo 'old 1.5 (2019)'\n"


@pytest.fixture
def made(install, tmp_path):
    """An installation whose program `old`, beside it on PATH, is of version 1.5."""
    found = install({"bin/old": OLD, "commands/a/b/main.sh": SCRIPT})
    environ = {"PATH": f"{found.root}/bin:/usr/bin:/bin"}
    return replace(found, environ=environ)


def requires(made, *entries):
    made.write({"commands/a/b/command.json": command(requires=[*entries])})


FAULTS = {
    "one": (["nope"], "needs nope (not on PATH); install it"),
    "two": (
        ["nope", "gone>=2"],
        "needs nope (not on PATH), gone>=2 (not on PATH); install them",
    ),
    "with a hint": (
        ["nope", {"program": "gone", "hint": "ask Ada"}],
        "needs nope (not on PATH), gone (not on PATH); gone: ask Ada",
    ),
    "old": (["old>=1.6,<2"], "needs old>=1.6,<2 ({bin}/old is 1.5); install it"),
    "setup": (["postman"], "needs postman (not on PATH); cli setup postman"),
    "satisfied": (["old>=1.5", "sh"], ""),
}


@pytest.mark.parametrize(("entries", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_a_run(made, entries, message):
    made.write({"commands/setup/postman/command.json": command()})
    made.write({"commands/setup/postman/main.sh": SCRIPT})
    requires(made, *entries)
    message = message.format(bin=made.root / "bin")
    error = f"cli: a b: {message}\n" if message else ""
    expected = (127, "", error) if message else (0, "ran\n", "")
    assert made.run("a", "b", cwd=made.root).all == expected


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("echo 1.5; echo 9.9 >&2", "old<9 ({old} is 1.5)"),
        ("echo 9.9 >&2; exit 3", "old<9 ({old} is 9.9)"),
        ("echo none", "old<9 ({old} --version prints no version)"),
        ("cat; echo none", "old<9 ({old} --version prints no version)"),
        ("exec yes none", "old<9 ({old} --version prints no version)"),
        (
            "echo 9.9; sleep 60 & exec sleep 60",
            "old<9 ({old} --version prints no version)",
        ),
    ],
    ids=["stdout first", "stderr", "none", "stdin is empty", "noise", "hangs"],
)
def test_what_a_program_prints(made, body, message):
    made.write({"bin/old": f"#!/bin/sh\n{body}\n"})
    requires(made, "old<9")
    began = time.monotonic()
    result = made.run("a", "b", input=b"7.7\n")
    assert time.monotonic() - began < 50
    if "1.5" in message:
        assert result.all == (0, "ran\n", "")
    else:
        needed = message.format(old=made.root / "bin/old")
        assert result.all == (127, "", f"cli: a b: needs {needed}; install it\n")


def test_a_file_is_asked_once_until_it_changes(made):
    requires(made, "old>=1")
    asked = made.root / "asked"
    for _ in range(2):
        assert made.run("a", "b", cwd=made.root).status == 0
    assert asked.read_text() == "x\n"
    (made.root / "bin/new").symlink_to("old")
    requires(made, "old>=1", "new>=1")
    assert made.run("a", "b", cwd=made.root).status == 0
    assert asked.read_text() == "x\nx\n"
    made.write({"bin/old": OLD.replace("1.5", "0.5.1")})
    assert made.run("a", "b", cwd=made.root).status == 127
    [known] = (made.home / ".cache/cli-host").glob("*.versions")
    assert [line.split()[0] for line in known.read_text().splitlines()] == [
        "0.5.1",
        "0.5.1",
    ]
    known.write_bytes(b"\xff\0nonsense")
    assert made.run("a", "b", cwd=made.root).status == 127
    known.unlink()
    known.mkdir()
    assert made.run("a", "b", cwd=made.root).status == 127


def only_cache(made):
    [known] = (made.home / ".cache/cli-host").glob("*.versions")
    return known


@pytest.mark.parametrize(
    "damage", ["oops", "", "1..2", "9" * 5000, "-1.5", "1.5x", "\udcff"]
)
def test_a_damaged_line_of_the_cache_is_written_again(made, damage):
    """It ended every run with "internal error: ValueError"."""
    requires(made, "old>=1")
    assert made.run("a", "b", cwd=made.root).status == 0
    known = only_cache(made)
    version, space, rest = known.read_text().partition(" ")
    known.write_bytes(f"{damage}{space}{rest}".encode("utf-8", "surrogateescape"))
    assert made.run("a", "b", cwd=made.root).all == (0, "ran\n", "")
    assert known.read_text() == f"{version}{space}{rest}"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_cache_of_another_user_is_not_used(made):
    requires(made, "old>=9")
    assert made.run("a", "b", cwd=made.root).status == 127
    known = only_cache(made)
    forged = known.read_text().replace("1.5", "9.9", 1)
    for prepare in (lambda: os.chown(known, 65534, -1), lambda: known.chmod(0o666)):
        known.write_text(forged)
        prepare()
        assert made.run("a", "b", cwd=made.root).status == 127
        assert "9.9" not in known.read_text()


def test_the_path_is_the_commands(made):
    requires(made, "tool")
    made.write(
        {"other/tool": SCRIPT, "config/settings.conf": 'PATH="$CLI_DIR/other:$PATH"\n'}
    )
    assert made.run("a", "b").status == 127  # the caller has PATH
    definition = {**command(requires=["tool"]), "envs": {"X": "1"}}
    made.write({"commands/a/b/command.json": definition})
    env = {"PATH": f"{made.root}/other:/usr/bin:/bin"}
    assert made.run("a", "b", env=env).all == (0, "ran\n", "")


def test_defaults_of_categories(made):
    made.write(
        {"commands/a/category.json": {"name": "A", "requires": ["nope", "old>9"]}}
    )
    requires(made, "old")
    assert (
        made.run("a", "b").stderr == "cli: a b: needs nope (not on PATH); install it\n"
    )


@pytest.mark.slow
def test_where_requirements_are_shown(made):
    requires(made, "nope>=2", {"program": "old", "hint": "ask Ada"})
    page = made.run("help", "a", "b").stdout
    assert "Requires:\n  nope>=2\n  old      ask Ada\n" in page
    time.sleep(2.2)  # the index takes no file that has just changed
    for _ in range(2):  # from the file, from the index
        rows = json.loads(made.run("self", "list", "a", "--format", "json").stdout)[
            "commands"
        ]
        assert rows[0]["requires"] == [
            {"program": "nope", "version": ">=2", "hint": None},
            {"program": "old", "version": None, "hint": "ask Ada"},
        ]
    doctor = made.run("self", "doctor", "--format", "json")
    found = [
        one
        for one in json.loads(doctor.stdout)["findings"]
        if one["check"] == "requirements"
    ]
    assert [(one["message"], one["remedy"]) for one in found] == [
        ("a b: needs nope>=2 (not on PATH)", "install it")
    ]
    assert doctor.status == 1  # a command that cannot run is an error
    assert not (made.root / "asked").exists()


def test_a_help_page_does_not_need_them(made):
    requires(made, "nope")
    assert made.run("a", "b", "--help").status == 0
    plugin = {"plugin.json": {"name": "p", "version": "1"}, "x/y/main.sh": SCRIPT}
    made.write({f"../p/{name}": text for name, text in plugin.items()})
    made.write({"../p/x/y/command.json": command(requires=["nope>=2"])})
    added = made.run("self", "plugin", "add", str(made.root.parent / "p"), "--yes")
    assert "requires: nope>=2\n" in added.stdout

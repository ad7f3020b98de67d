"""The index of definitions: the same answers with it, without it and with garbage; never stale."""

from __future__ import annotations

import copy
import marshal
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from builtin_plugins.renderers.json_listing import json_text
from host import Listing
from host.catalog.catalog import Catalog
from host.catalog.contents import contents
from host.catalog.definition import read_definition
from host.installation import OpenInstallation, find_layout, open_installation
from host.lock.lock import checksum, read_lock
from host.session import definition_index
from host.session.definition_index import CachedDefinition, DefinitionIndex
from testing.installation import Made, command

LATER = 3600 * 10**9  # ns, by when whatever a test has written is settled

RICH = {
    "description": "Say hello \t \n “there”",
    "group": "Greetings",
    "os": ["linux", "mac"],
    "sudo": ["linux"],
    "aliases": ["hi", "hey"],
    "effects": "destroy",
    "examples": [
        {"command": "hello Ada", "more": [1, {"x": 2}]},
        {"command": "hello", "y": 1},
    ],
    "args": [
        {
            "name": "who",
            "choices": ["Ada", "Bob"],
            "required": True,
            "description": "Whom",
        },
        {
            "name": "--times",
            "short": "-n",
            "value": "N",
            "type": "integer",
            "default": "2",
        },
    ],
    "envs": {"TOKEN": "tell-nobody", "NUMBER": 4.0},
    "confirm": "Sure?",
    "starts_commands": True,
    "output": "json",
    "schema": "s.json",
    "x-own": {"a": [1, 2.5]},
    "entrypiont": "x",
}
FILES = {
    "commands/demo/category.json": {"name": "Demo", "description": "For show"},
    "commands/demo/hello/command.json": command(**RICH),
    "commands/demo/hello/main.sh": "#!/bin/sh\n",
    "commands/demo/plain/command.json": command(description="Plain"),
    "commands/demo/gone/command.json": command(hidden=True),
    "commands/demo/bad/command.json": '{"name": ',
    "commands/demo/deep/er/command.json": command(),
    "commands/demo/deep/category.json": {
        "name": "Deep",
        "description": "With defaults",
        "group": "Deep",
        "requires": ["git>=2"],
        "required_envs": ["DEEP"],
        "timeout": "9s",
        "path": ["bin"],
    },
    # a folder whose script `main` gives the entrypoint
    "commands/demo/named/command.json": {
        "name": "Named",
        "description": "By its script",
    },
    "commands/demo/named/main": "#!/bin/sh\n",
    "plugins/extra/demo/more/command.json": command(envs={"SECRET": "tell-nobody"}),
}
ASKED = [
    ("demo",),
    ("self", "list", "--format", "json", "--all"),
    ("--format", "tree"),
    ("self", "search", "hello"),
    ("--complete", "zsh", "demo", ""),
    ("demo", "hi", "--help"),
]


def opened(made: Made) -> OpenInstallation:
    environ = {"HOME": str(made.home)}
    return open_installation(find_layout(str(made.launcher), environ), environ)


def listed(
    made: Made, definitions: DefinitionIndex | None = None
) -> tuple[object, object]:
    """Return what a listing of everything is made of, and what it tells."""
    installation = opened(made)
    lock = read_lock(installation.locks, installation.key)
    assert lock is not None
    catalog = (
        Catalog(lock, definitions.read_definition) if definitions else Catalog(lock)
    )
    found = contents(catalog, (), deep=True)
    if definitions:
        definitions.save()
    shown = [
        (one.words, json_text(Listing("", (), "", "", commands=(one,))))
        for one in found.commands
    ]
    return (shown, found.categories), found.problems


def remember(made: Made) -> Path:
    """Write the index of an installation as if its files had been left alone for an hour."""
    listed(made, DefinitionIndex(opened(made), time.time_ns() + LATER))
    index = made.root / "cli.lock.index"
    assert index.is_file()
    return index


@pytest.fixture
def made(install: Callable[..., Made]) -> Made:
    made: Made = install(FILES)
    made.run("demo")  # writes the lock
    return made


@pytest.mark.slow
def test_with_and_without_and_with_garbage_it_is_the_same(made: Made) -> None:
    expected = [made.run(*words).all for words in ASKED]
    index = made.root / "cli.lock.index"
    whole = remember(made).read_bytes()
    assert [made.run(*words).all for words in ASKED] == expected
    body = marshal.dumps(([], 5))
    garbage = {
        "junk": b"junk",
        "cut": whole[: len(whole) // 2],
        "one bit": whole[:-40] + bytes([whole[-40] ^ 1]) + whole[-39:],
        "head only": whole[: len(definition_index.FORMAT)],
        "nothing": b"",
        "another key": definition_index.FORMAT + checksum(body) + body,
        "another format": b"cli-host index 0" + whole[16:],
    }
    for content in garbage.values():
        index.write_bytes(content)
        assert listed(made, DefinitionIndex(opened(made))) == listed(made)
    index.write_bytes(garbage["one bit"])
    assert [made.run(*words).all for words in ASKED] == expected


def test_what_is_known_is_not_read_again(made: Made) -> None:
    remember(made)
    index = DefinitionIndex(opened(made))
    known = index.read_definition(f"{made.root}/commands/demo/hello/command.json")
    assert isinstance(known, CachedDefinition)
    assert (known.effects, known.examples[0]) == (
        "destroy",
        {"command": "hello Ada", "description": ""},
    )
    assert known.envs == {"TOKEN": "tell-nobody", "NUMBER": "4.0"}
    assert known.extra["x-own"] == {"a": [1, 2.5]}
    assert all(hasattr(known, name) for name in vars(read_definition(known.file)))
    assert not hasattr(known, "other")


def test_a_search_reads_no_file_of_a_plain_definition(made: Made) -> None:
    remember(made)
    index = DefinitionIndex(opened(made))
    file = made.root / "commands/demo/plain/command.json"
    known = index.read_definition(str(file))
    file.unlink()
    assert (known.description, known.group, known.aliases) == ("Plain", "", ())
    assert known.shown_args == ()


def test_what_is_known_equals_what_the_file_says(made: Made) -> None:
    script = made.root / "commands/demo/script"
    script.write_text("#!/bin/sh\n# A script\n# usage: script [NAME]\necho\n")
    script.chmod(0o755)
    remember(made)
    index = DefinitionIndex(opened(made))
    for path in ("hello/command.json", "plain/command.json", "category.json", "script"):
        file = f"{made.root}/commands/demo/{path}"
        known, fresh = index.read_definition(file), read_definition(file)
        assert isinstance(known, CachedDefinition), path
        for name, value in vars(fresh).items():
            found = getattr(copy.copy(known), name)
            assert found == value or repr(found) == repr(value), (path, name)


def test_it_holds_no_value_of_a_variable(made: Made) -> None:
    whole = remember(made).read_bytes()
    assert b"Plain" in whole
    assert b"tell-nobody" not in whole


def rewritten(file: Path) -> None:
    """Write as many bytes in place, and set the time of writing back."""
    times = file.stat()
    file.write_text(file.read_text().replace("Plain", "Other"))
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


def replaced(file: Path) -> None:
    times = file.stat()
    new = file.with_name("new")
    new.write_text(file.read_text().replace("Plain", "Other"))
    os.utime(new, ns=(times.st_atime_ns, times.st_mtime_ns))
    new.rename(file)


def exchanged(file: Path) -> None:
    """Give two commands each other's directory; no file in them changes."""
    here, there = file.parent, file.parent.with_name("hello")
    here.rename(here.with_name(".x"))
    there.rename(here)
    here.with_name(".x").rename(there)


def linked(file: Path) -> None:
    file.rename(file.with_name("there"))
    file.symlink_to("../hello/command.json")


CHANGES = {
    "as many bytes, the time set back": rewritten,
    "another file of its size and time": replaced,
    "two directories change places": exchanged,
    "a link to another": linked,
    "a category moves": lambda file: file.parents[1].rename(
        file.parents[1].with_name("other")
    ),
    "removed": lambda file: file.unlink(),
    "the whole folder": lambda file: shutil.rmtree(file.parent),
    "made wrong": lambda file: file.write_text("{"),
    "a directory in its place": lambda file: (file.unlink(), file.mkdir()),
    "one comes beside": lambda file: shutil.copytree(
        file.parent, file.parent.with_name("new")
    ),
    "a category takes its place": lambda file: (
        file.rename(file.with_name("category.json")),
        shutil.copytree(file.parents[1] / "hello", file.parent / "inner"),
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_shows_at_once(made: Made, change: Callable[[Path], object]) -> None:
    before = listed(made)
    remember(made)
    change(made.root / "commands/demo/plain/command.json")
    after = listed(made)
    assert after != before
    assert listed(made, DefinitionIndex(opened(made))) == after


def test_a_file_that_was_just_written_is_not_kept(made: Made) -> None:
    file = made.root / "commands/demo/plain/command.json"
    index = remember(made)
    index.unlink()
    written = file.stat().st_mtime_ns  # of all files at about the same time
    listed(made, DefinitionIndex(opened(made), written))
    assert not index.exists()
    os.utime(file, ns=(0, time.time_ns() + 2 * LATER))  # a clock that is ahead
    whole = remember(made).read_bytes()
    assert b"Plain" not in whole
    assert b"Greetings" in whole


def test_what_is_gone_goes_from_it(made: Made) -> None:
    remember(made)
    shutil.rmtree(made.root / "commands/demo/hello")
    os.utime(made.root / "commands/demo/plain/command.json")
    whole = remember(made).read_bytes()
    assert b"Greetings" not in whole
    assert b"Plain" in whole


@pytest.mark.parametrize("mode", [0o620, 0o602], ids=oct)
def test_what_others_can_write_is_ignored(made: Made, mode: int) -> None:
    index = remember(made)
    assert index.stat().st_mode & 0o777 == 0o600
    known = f"{made.root}/commands/demo/plain/command.json"
    index.chmod(mode)
    assert not isinstance(
        DefinitionIndex(opened(made)).read_definition(known), CachedDefinition
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_somebody_else_owns_does_not_count(made: Made) -> None:
    os.chown(remember(made), 65534, 65534)
    known = f"{made.root}/commands/demo/plain/command.json"
    assert not isinstance(
        DefinitionIndex(opened(made)).read_definition(known), CachedDefinition
    )


def test_another_code_or_system_has_another(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = f"{made.root}/commands/demo/plain/command.json"
    remember(made)
    monkeypatch.setattr(definition_index, "SYSTEM_OS", "plan9")
    assert not isinstance(
        DefinitionIndex(opened(made)).read_definition(known), CachedDefinition
    )


def test_without_a_place_to_write_everything_works(made: Made) -> None:
    (made.home / ".cache").write_text("in the way")
    (made.root / "cli.lock.index").mkdir()
    expected = listed(made)
    assert (
        listed(made, DefinitionIndex(opened(made), time.time_ns() + LATER)) == expected
    )

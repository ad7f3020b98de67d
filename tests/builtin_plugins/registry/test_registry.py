"""plugins/registry.json: what is read, what is kept, and how it is replaced."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from builtin_plugins.library.files.file_lock import file_lock
from builtin_plugins.registry.entry import (
    Entry,
    is_plugin_name,
    read_entry,
)
from builtin_plugins.registry.registry import read_registry, registry_path
from builtin_plugins.registry.registry_writer import write_registry
from host.errors import HostError, OperationError
from testing.machine import files_of_at_most

FULL = {
    "name": "acme", "kind": "git", "source": "https://h.test/a", "version": "1.0",
    "description": "d", "directory": "in", "hooks": "h.py", "ref": "main",
    "commit": "0123456789abcdef" + "0" * 24, "sha256": None,
    "installedAt": "2026-01-01T00:00:00Z", "enabled": False, "dev": False, "scripts": None,
    "path": ["bin"], "pinned": False,
}  # fmt: skip

AREA = ""  # new contents are stored beside the files


def _write(directory: Path, content: str) -> str:
    path = registry_path(str(directory))
    Path(path).write_text(content)
    return path


def test_none_yet(tmp_path: Path) -> None:
    found = read_registry(str(tmp_path))
    assert (found.entries, found.problems, found.shared.content) == ({}, [], None)


def test_a_rewrite_keeps_what_it_does_not_know(tmp_path: Path) -> None:
    text = (
        '{"version": "1.7.0", "team": {"n": 1.0, "big": 12345678901234567890,'
        '"é": "\\ud800"},'
        f'"plugins": [{json.dumps({**FULL, "colour": [1, None, True]})}, {{"name": 3}}]}}'
    )
    path = _write(tmp_path, text)
    os.chmod(path, 0o640)
    registry = read_registry(str(tmp_path))
    assert [one.text for one in registry.problems] == ["3 is not a valid plugin name"]
    registry.put(Entry("acme", "local", source="/x", dev=True))
    registry.put(Entry("new", "local"))
    write_registry(registry, AREA)
    content = Path(path).read_text()
    assert '"n": 1.0,' in content
    assert '"big": 12345678901234567890,' in content
    assert os.stat(path).st_mode & 0o777 == 0o640
    again = read_registry(str(tmp_path))
    assert list(again.entries) == ["acme", "new"]
    assert again.entries["acme"].dev
    assert again.values["plugins"][0]["colour"][1:] == [None, True]
    assert '"name": 3' in content
    again.drop("acme")
    write_registry(again, AREA)
    assert list(read_registry(str(tmp_path)).entries) == ["new"]
    assert os.listdir(tmp_path) == ["registry.json"]


def test_every_field_comes_back(tmp_path: Path) -> None:
    _write(tmp_path, json.dumps({"version": "1.0.0", "plugins": [FULL]}))
    entry = read_registry(str(tmp_path)).entries["acme"]
    assert entry.fields() == FULL
    assert entry.version_dir == "0123456789abcdef"
    assert read_entry(entry.fields()) == entry


def test_a_source_whose_path_is_no_utf8_comes_back(tmp_path: Path) -> None:
    registry = read_registry(str(tmp_path))
    entry = Entry("acme", "local", source=os.fsdecode(b"/home/\xff"), dev=True)
    registry.put(entry)
    write_registry(registry, AREA)
    again = read_registry(str(tmp_path))
    assert (again.entries, again.problems) == ({"acme": entry}, [])


def test_null_counts_as_absent() -> None:
    absent = dict.fromkeys(("enabled", "dev", "pinned", "packages", "ref"))
    assert read_entry({"name": "a", "kind": "git", **absent}) == Entry(
        "a", "git", enabled=True
    )


def test_a_link_is_followed(tmp_path: Path) -> None:
    """A team may keep the file in its own repository."""
    shared = tmp_path / "shared.json"
    shared.write_text('{"version": "1.0.0", "plugins": []}')
    (tmp_path / "plugins").mkdir()
    path = registry_path(str(tmp_path / "plugins"))
    os.symlink(shared, path)
    registry = read_registry(os.path.dirname(path))
    registry.put(Entry("new", "local"))
    write_registry(registry, AREA)
    assert os.path.islink(path)
    assert json.loads(shared.read_text())["plugins"][0]["name"] == "new"


UNREADABLE = {
    "cut": ("{", "registry.json:1:2"),
    "newer": ('{"version": "2.0.0", "plugins": []}', "expected 1.0.0; found 2.0.0"),
    "no version": ('{"plugins": []}', '"version"'),
    "odd version": ('{"version": "x", "plugins": []}', '"version"'),
    "huge version": (f'{{"version": "{"9" * 5000}", "plugins": []}}', "found 9999"),
    "array": ("[]", "expected an object"),
    "no plugins": ('{"version": "1.0.0"}', '"plugins"'),
    "plugins of text": ('{"version": "1.0.0", "plugins": ["x"]}', '"plugins"'),
    "twice": ('{"version": "1.0.0", "plugins": [], "plugins": []}', "twice"),
    "deep": ("[" * 100_000, "registry.json"),
}


@pytest.mark.parametrize(("content", "reason"), UNREADABLE.values(), ids=UNREADABLE)
def test_unreadable(tmp_path: Path, content: str, reason: str) -> None:
    _write(tmp_path, content)
    with pytest.raises(HostError) as caught:
        read_registry(str(tmp_path))
    assert reason in str(caught.value)


BAD: dict[str, dict[str, Any]] = {
    "name": {"name": "A"},
    "reserved": {"name": "self"},
    "kind": {"kind": "x"},
    "source": {"source": 1},
    "NUL": {"source": "a\0"},
    "surrogate": {"source": "https://h.test/\ud800"},
    "surrogate in a path": {"path": ["\ud800"]},
    "enabled": {"enabled": 1},
    "dev": {"dev": "yes"},
    "commit": {"commit": "../../../../x"},
    "ref": {"ref": "--upload-pack=x"},
    "checksum": {"sha256": "0"},
    "option": {"source": "--upload-pack=x"},
    "scheme": {"source": "ext::sh -c x"},
    "relative directory": {"kind": "local", "source": "x"},
    "archive": {"kind": "archive", "source": "ftp://h.test/x.zip"},
    "package": {"kind": "pip", "packages": [{"name": "x", "version": "1"}]},
    "packages": {"kind": "pip", "packages": {}},
    "version of a package": {"kind": "pip", "version": "../x", "sha256": None},
}


@pytest.mark.parametrize("change", BAD.values(), ids=BAD)
def test_an_entry_that_does_not_count(change: dict[str, Any]) -> None:
    with pytest.raises(HostError):
        read_entry({**FULL, **change})


@pytest.mark.parametrize(
    ("name", "good"),
    [("a", True), ("0.a_b-c", True), ("A", False), ("", False), ("a\n", False), (".a", False),
     ("self", False), ("registry.json", False), ("a" * 64, True), ("a" * 65, False)],
)  # fmt: skip
def test_names(name: str, good: bool) -> None:
    assert is_plugin_name(name) is good


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    _write(tmp_path, '{"version": "1.0.0", "plugins": []}')
    registry = read_registry(str(tmp_path))
    registry.put(Entry("new", "local", description="x" * 100_000))
    with (
        files_of_at_most(4096),
        pytest.raises(OSError, match=r"File too large: .*registry.json"),
    ):
        write_registry(registry, AREA)
    assert read_registry(str(tmp_path)).entries == {}
    assert os.listdir(tmp_path) == ["registry.json"]


def test_one_at_a_time(tmp_path: Path) -> None:
    def add(number: int) -> None:
        with file_lock(str(tmp_path), print):
            registry = read_registry(str(tmp_path))
            registry.put(Entry(f"p{number}", "local"))
            write_registry(registry, AREA)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read_registry(str(tmp_path)).entries) == 20
    with (
        file_lock(str(tmp_path)),
        pytest.raises(OperationError, match="in progress"),
        file_lock(str(tmp_path)),
    ):
        pass


def test_what_nobody_changed_is_not_written(tmp_path: Path) -> None:
    """An edit between the reading and the writing of a run stays."""
    path = _write(tmp_path, json.dumps({"version": "1.0.0", "plugins": [FULL]}))
    registry = read_registry(str(tmp_path))
    edited = json.dumps({"version": "1.0.0", "plugins": []})
    Path(path).write_text(edited)
    write_registry(registry, AREA)
    assert Path(path).read_text() == edited


@pytest.mark.parametrize(
    "edited", ['{"version": "1.0.0", "plugins": []}', None, "garbage"]
)
def test_a_change_by_another_program_is_not_overwritten(
    tmp_path: Path, edited: str | None
) -> None:
    path = _write(tmp_path, json.dumps({"version": "1.0.0", "plugins": [FULL]}))
    registry = read_registry(str(tmp_path))
    registry.drop("acme")
    Path(path).unlink()
    if edited is not None:
        Path(path).write_text(edited)
    with pytest.raises(HostError) as raised:
        write_registry(registry, AREA)
    assert path in str(raised.value)
    assert (Path(path).read_text() if Path(path).exists() else None) == edited


def test_an_edit_of_the_local_file_leaves_both_files(tmp_path: Path) -> None:
    personal = json.dumps({"version": "1.0.0", "plugins": [FULL]})
    shared = json.dumps({"version": "1.0.0", "plugins": []})
    path = _write(tmp_path, shared)
    local = tmp_path / "registry.local.json"
    local.write_text(personal)
    registry = read_registry(str(tmp_path))
    registry.put(registry.entries["acme"], team=True)

    edited = json.dumps({"version": "1.0.0", "plugins": [{**FULL, "enabled": True}]})
    local.write_text(edited)
    replaced = []
    with pytest.raises(OperationError, match="nothing was changed"):
        write_registry(registry, AREA, on_replaced=lambda: replaced.append(True))
    assert (Path(path).read_text(), local.read_text()) == (shared, edited)
    assert sorted(os.listdir(tmp_path)) == ["registry.json", "registry.local.json"]

    registry = read_registry(str(tmp_path))
    registry.put(registry.entries["acme"], team=True)
    write_registry(registry, AREA, on_replaced=lambda: replaced.append(True))
    assert replaced == [True, True]
    assert json.loads(local.read_text())["plugins"] == []
    assert [one["name"] for one in json.loads(Path(path).read_text())["plugins"]] == [
        "acme"
    ]


_SHARED = Entry(
    "acme", "git", "https://h.test/a", "1.0", ref="v1", commit="1" * 40, scripts={}
)
_PERSONAL = _SHARED.replaced(ref="v2", commit="2" * 40, installedAt="today")
_NEXT = _SHARED.replaced(
    source="https://h.test/b", directory="in", ref="v3", commit="3" * 40, scripts=None
)


def _write_both(directory: Path, shared: list[Any], personal: list[Any]) -> None:
    for name, items in (
        ("registry.json", shared),
        ("registry.local.json", personal),
    ):
        values = {"version": "1.0.0", "plugins": items}
        (directory / name).write_text(json.dumps(values))


def _personal_items(directory: Path) -> list[Any]:
    items = json.loads((directory / "registry.local.json").read_text())["plugins"]
    assert isinstance(items, list)
    return items


def test_a_personal_entry_replaces_the_whole_shared_entry(tmp_path: Path) -> None:
    _write_both(tmp_path, [_SHARED.fields()], [])
    registry = read_registry(str(tmp_path))
    registry.put(_PERSONAL)
    assert registry.is_shared("acme")
    write_registry(registry, AREA)

    _write_both(tmp_path, [_NEXT.fields()], _personal_items(tmp_path))
    registry = read_registry(str(tmp_path))
    assert registry.entries == {"acme": _PERSONAL}
    # A plugin from another source is the user's own, who may remove it.
    assert not registry.is_shared("acme")
    _write_both(tmp_path, [{"name": "acme", "kind": 3}], _personal_items(tmp_path))
    assert not read_registry(str(tmp_path)).is_shared("acme")


def test_what_only_the_user_disables_follows_the_team(tmp_path: Path) -> None:
    _write_both(tmp_path, [_SHARED.fields()], [])
    registry = read_registry(str(tmp_path))
    registry.put(_SHARED.replaced(enabled=False))
    write_registry(registry, AREA)
    assert _personal_items(tmp_path) == [{"name": "acme", "enabled": False}]

    _write_both(tmp_path, [_NEXT.fields()], _personal_items(tmp_path))
    registry = read_registry(str(tmp_path))
    assert registry.entries["acme"] == _NEXT.replaced(enabled=False)
    registry.put(_NEXT)
    write_registry(registry, AREA)
    assert _personal_items(tmp_path) == []


def test_a_plugin_that_the_team_drops_is_not_kept_by_who_disabled_it(
    tmp_path: Path,
) -> None:
    _write_both(tmp_path, [], [{"name": "acme", "enabled": False}])
    registry = read_registry(str(tmp_path))
    assert (registry.entries, registry.problems) == ({}, [])


def test_what_equals_the_shared_entry_is_not_personal(tmp_path: Path) -> None:
    _write_both(tmp_path, [_SHARED.fields()], [_PERSONAL.fields()])
    registry = read_registry(str(tmp_path))
    registry.put(_SHARED.replaced(installedAt="today", python="3.11"))
    write_registry(registry, AREA)
    assert _personal_items(tmp_path) == []


@pytest.mark.parametrize(
    "shared", [[], [_SHARED.fields()]], ids=["personal", "also shared"]
)
def test_a_kill_between_the_two_files_leaves_the_former_version(
    tmp_path: Path, shared: list[Any]
) -> None:
    """A version becomes the team's, and the process ends before the second file is replaced."""
    _write_both(tmp_path, shared, [])
    registry = read_registry(str(tmp_path))
    registry.put(_PERSONAL)
    write_registry(registry, AREA)

    registry = read_registry(str(tmp_path))
    registry.put(_NEXT, team=True)

    def end() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_registry(registry, AREA, on_replaced=end)

    registry = read_registry(str(tmp_path))
    assert [item["ref"] for item in registry.values["plugins"]] == ["v3"]
    assert (registry.entries, registry.problems) == ({"acme": _PERSONAL}, [])

    # The repeated command.
    registry.put(_NEXT, team=True)
    write_registry(registry, AREA)
    assert _personal_items(tmp_path) == []
    assert read_registry(str(tmp_path)).entries == {"acme": _NEXT}


def test_a_personal_entry_keeps_its_place_and_unknown_keys(tmp_path: Path) -> None:
    own = [Entry(name, "local").fields() for name in ("one", "two")]
    own[0]["colour"] = "red"
    _write_both(tmp_path, [], own)
    for enabled in (False, True):
        registry = read_registry(str(tmp_path))
        registry.put(registry.entries["one"].replaced(enabled=enabled))
        write_registry(registry, AREA)
    assert list(read_registry(str(tmp_path)).entries) == ["one", "two"]
    assert _personal_items(tmp_path)[0]["colour"] == "red"

    registry = read_registry(str(tmp_path))
    registry.put(registry.entries["one"], team=True)
    write_registry(registry, AREA)
    assert [item["name"] for item in _personal_items(tmp_path)] == ["two"]
    assert read_registry(str(tmp_path)).values["plugins"][0]["colour"] == "red"

"""The index of definitions: what listings show of each file, so that no file is parsed twice.

Only listings, search and completion use it, as the reader of a Catalog; a run never does.
An entry counts while its file has the stamp that was taken before the file was read. No change
hides behind a stamp: a file is kept only after it was left alone for longer than the clock of any
file system stands still, so any later write changes its `st_ctime`, which nobody can set back.
The index holds no values of variables. It is its owner's alone, as definitions may be private.
"""

import marshal
import os
import sys
import time

from host.errors import DefinitionError, HostError, Problem
from host.run import command as definition_files
from host.run import read_regular
from host.run.command import SYSTEM_OS, Definition
from host.run.lock import checksum, stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from host.run.installation import OpenInstallation

_SLOWEST_CLOCK = 2_100_000_000  # ns; FAT counts in steps of two seconds
_MOST_BYTES = 64 * 1024 * 1024
FORMAT = f"cli-host index 5 of {sys.implementation.cache_tag} ".encode()  # marshal's format differs
_EMPTY = marshal.dumps({})
_HEAD = len(FORMAT) + len(checksum(b""))
# What an entry holds; usual values at the end of a row are left out.
KEPT = {
    "name": "", "description": "", "entrypoint": "", "group": "", "os": (), "sudo": False,
    "effects": "change", "aliases": (), "hidden": False, "destroys": False, "examples": (),
    "args": (), "starts_commands": False, "warnings": (),
}  # fmt: skip
_USUAL = tuple(KEPT.values())
_ARGS = tuple(KEPT).index("args")
_WARNINGS = tuple(KEPT).index("warnings")


class DefinitionIndex:
    """Reads definitions like `host.run.command`, and remembers them."""

    def __init__(self, installation: "OpenInstallation", now: int = 0) -> None:
        """Open the index of an installation; `now` is the time in ns, for tests."""
        code = stamp(os.path.dirname(definition_files.__file__))
        self._key = f"{installation.key}\n{SYSTEM_OS}\n{code}"
        self._places = installation.indexes
        self._settled = (now or time.time_ns()) - _SLOWEST_CLOCK
        self._parts = _parts_of(self._places, self._key)
        self._folders: "dict[str, dict[str, Any]]" = {}  # the decoded parts
        self._changed: set[str] = set()

    def read_definition(self, path: str) -> Definition:
        """Do what `host.run.command.read_definition` does."""
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            return definition_files.read_definition(path)
        changed, written = status.st_ctime_ns, status.st_mtime_ns
        now = (changed, written, status.st_size, status.st_ino, status.st_dev)
        folder, word, name = path.rsplit("/", 2)
        file = f"{word}/{name}"
        if name not in ("command.json", "category.json"):  # a script
            folder, file = f"{folder}/{word}", name
        entries = self._folders.get(folder)
        if entries is None:
            part = self._parts.get(folder, _EMPTY)
            entries = self._folders[folder] = marshal.loads(part)  # noqa: S302 - as Python loads .pyc files
        entry = entries.get(file)
        if entry is not None and entry[0] == now:
            return KnownDefinition(path, entry[1])
        definition = definition_files.read_definition(path)
        if max(changed, written) < self._settled:
            entries[file] = (now, _row(definition))
            self._changed.add(folder)
        return definition

    def save(self) -> None:
        """Write what is new, without what no longer exists, if a place can be written."""
        if not self._changed:
            return
        from host.planning.cache_files import can_be_made, replace

        parts: dict[str, bytes] = {}
        room = _MOST_BYTES
        for folder in sorted({*self._parts, *self._changed}):
            part = self._parts.get(folder, _EMPTY)
            if folder in self._changed:
                known = self._folders[folder].items()
                part = marshal.dumps({k: v for k, v in known if os.path.exists(f"{folder}/{k}")})
            room -= len(part)
            if room > 0 and os.path.isdir(folder):
                parts[folder] = part
        body = marshal.dumps((self._key, parts))
        content = FORMAT + checksum(body) + body
        for place in filter(can_be_made, self._places):
            if replace(place, content, 0o600):
                return


class KnownDefinition(Definition):
    """A definition from the index; attributes that are not kept there come from the file."""

    def __init__(self, file: str, row: "Sequence[Any]") -> None:
        self.file = file
        (
            self.name, self.description, self.entrypoint, self.group, self.os, self.sudo,
            self.effects, self.aliases, self.hidden, self.destroys, self.examples, self.args,
            self.starts_commands, self.warnings,
        ) = row if len(row) == len(_USUAL) else (*row, *_USUAL[len(row) :])  # fmt: skip
        if len(row) > _ARGS:
            from host.run.argument_spec import Argument

            self.args = tuple(map(Argument.of_row, row[_ARGS]))
        if len(row) > _WARNINGS:
            self.warnings = tuple([Problem(*one) for one in row[_WARNINGS]])

    def __getattr__(self, name: str) -> "Any":
        """Read the file, which a listing seldom needs."""
        try:
            whole = definition_files.read_definition(self.file)
        except FileNotFoundError:
            raise DefinitionError(Problem(self.file, "is gone")) from None
        self.__dict__.update({**vars(whole), **self.__dict__})  # its tree may have changed some
        return object.__getattribute__(self, name)


def _row(definition: Definition) -> "tuple[Any, ...]":
    row = [getattr(definition, name) for name in KEPT]
    row[_ARGS] = tuple([one.row() for one in row[_ARGS]])
    row[_WARNINGS] = tuple([one.row() for one in row[_WARNINGS]])
    while row and row[-1] == _USUAL[len(row) - 1]:
        row.pop()
    return tuple(row)


def _parts_of(places: "Iterable[str]", key: str) -> "dict[str, bytes]":
    """Return the part of each folder, from the first intact index that was made for `key`."""
    for place in places:
        try:
            status = os.stat(place)
            if status.st_uid != os.geteuid() or status.st_mode & 0o077:
                continue  # somebody else may have written it
            content = memoryview(read_regular(place, 2 * _MOST_BYTES, HostError))  # copies nothing
            body = content[_HEAD:]
            if content[:_HEAD] == FORMAT + checksum(body):
                owner, parts = marshal.loads(body)  # noqa: S302 - as Python loads .pyc files
                if owner == key:
                    return dict(parts)
        except (HostError, OSError):
            pass
    return {}

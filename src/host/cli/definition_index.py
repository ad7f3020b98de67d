"""The index of definitions: what each file said when it was read, so that none is parsed twice.

Listings, search and completion ask it instead of `host.run.definition`; a run never does.
An entry counts while its file's stamp is the one that was taken before it was read. No
change can hide behind a stamp: a file is not kept before it has been left alone for longer
than the clock of any file system stands still, so whatever writes to it later, be it as
many bytes in the same tick, gives it another time of change (`st_ctime`, which nobody can
set back); what comes in its place has another number or device. What is not there, or is
wrong, is not kept.

It holds what listings show of a definition, and neither `envs` nor anything else that is
a variable's value. Somebody else may not be allowed to read those files, so the index is
its owner's alone, and only its owner's counts. It has a part for each folder of commands,
found by a table in front: a Tab reads one part. Deleting it changes nothing.
"""

import marshal
import os
import sys
import time

from host.errors import DefinitionError, Problem
from host.run import definition as definition_files
from host.run.definition import SYSTEM_OS, Definition
from host.run.lock import checksum, stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from host.run.installation import OpenInstallation

    Entries = dict[str, Any]

_SLOWEST_CLOCK = 2_100_000_000  # ns; FAT counts in steps of two seconds
_MOST_BYTES = 64 * 1024 * 1024
_LONGEST_HEAD = 256  # bytes of the first line
FORMAT = f"cli-host index 4 of {sys.implementation.cache_tag}".encode()  # as marshal has it
_GARBAGE = (OSError, EOFError, LookupError, TypeError, ValueError, AttributeError)

# What an entry holds, and what stands for the end of a row that is cut off.
KEPT = {
    "name": "", "description": "", "entrypoint": "", "group": "", "os": (), "sudo": False,
    "effects": "change", "aliases": (), "hidden": False, "destroys": False, "examples": (),
    "args": (), "starts_commands": False, "warnings": (),
}  # fmt: skip
_USUAL = tuple(KEPT.values())
_ARGS = tuple(KEPT).index("args")
_WARNINGS = tuple(KEPT).index("warnings")


class DefinitionIndex:
    """What reads definitions like `host.run.definition`, and remembers them."""

    __slots__ = (
        "_at", "_changed", "_folders", "_holder", "_key", "_place", "_places", "_settled", "_table",
    )  # fmt: skip

    def __init__(self, installation: "OpenInstallation", now: int = 0) -> None:
        """Open the index of an installation; `now` is the time in ns, for tests."""
        code = stamp(os.path.dirname(definition_files.__file__))
        self._key = f"{installation.key}\n{SYSTEM_OS}\n{code}"
        self._places = installation.indexes
        self._settled = (now or time.time_ns()) - _SLOWEST_CLOCK
        self._folders: "dict[str, Entries]" = {}
        self._at = ""  # the folder that is open
        self._holder = -1
        self._changed: set[str] = set()
        self._place, self._table = _found(self._places, self._key)

    def read_definition(self, path: str) -> Definition:
        """Do what `host.run.definition.read_definition` does."""
        folder, word, name = path.rsplit("/", 2)
        file = f"{word}/{name}"
        try:
            status = os.stat(file, dir_fd=self._enter(folder))
        except (OSError, ValueError):
            return definition_files.read_definition(path)
        changed, written = status.st_ctime_ns, status.st_mtime_ns
        now = (changed, written, status.st_size, status.st_ino, status.st_dev)
        entries = self._folders.get(folder)
        if entries is None:
            entries = self._folders[folder] = self._part(folder)
        entry = entries.get(file)
        if entry is not None and entry[0] == now:
            return KnownDefinition(path, entry[1])
        definition = definition_files.read_definition(path)
        if max(changed, written) < self._settled:
            entries[file] = (now, _row(definition))
            self._changed.add(folder)
        return definition

    def _enter(self, folder: str) -> int:
        """Return a folder opened: the way to each of its files is long. The last one stays so."""
        if folder != self._at:
            self._leave()
            self._holder = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            self._at = folder
        return self._holder

    def _leave(self) -> None:
        if self._at:
            self._at = ""
            os.close(self._holder)

    def _part(self, folder: str) -> "Entries":
        """Return the entries of a folder, none where they are not as written."""
        try:
            return dict(marshal.loads(self._content(folder)))  # noqa: S302 - as Python loads .pyc files
        except _GARBAGE:
            pass
        return {}

    def _content(self, folder: str) -> bytes:
        """Return a folder's part as it is in the file; raises LookupError without one."""
        start, length, there = self._table[folder]
        content = _piece(self._place, start, length)
        if checksum(content) != there:
            raise LookupError(folder)
        return content

    def save(self) -> None:
        """Write what is new; nothing where nothing is, or where it cannot be written.

        What is gone from the disk goes from the index.
        """
        self._leave()
        if not self._changed:
            return
        from host.planning.cache_files import can_be_made, replace

        for place in filter(can_be_made, self._places):
            if replace(place, self._text(), 0o600):
                return

    def _text(self) -> bytes:
        parts: dict[str, bytes] = {}
        for folder in sorted({*self._table, *self._changed}):
            if folder in self._changed:
                entries = self._folders[folder]
                there = {one: entries[one] for one in entries if os.path.exists(f"{folder}/{one}")}
                parts[folder] = marshal.dumps(there)
            elif os.path.isdir(folder):
                try:
                    parts[folder] = self._content(folder)
                except _GARBAGE:
                    continue
        table: dict[str, Any] = {}
        end = 0
        for folder, part in parts.items():
            if end + len(part) > _MOST_BYTES:
                break
            table[folder] = (end, len(part), checksum(part))
            end += len(part)
        front = marshal.dumps((self._key, table))
        head = b"%s %d %s\n" % (FORMAT, len(front), checksum(front))
        return head + front + b"".join(list(parts.values())[: len(table)])


class KnownDefinition(Definition):
    """A definition from the index; what is not kept there is read when it is asked for."""

    def __init__(self, file: str, row: "Sequence[Any]") -> None:
        self.file = file
        (
            self.name, self.description, self.entrypoint, self.group, self.os, self.sudo,
            self.effects, self.aliases, self.hidden, self.destroys, self.examples, self.args,
            self.starts_commands, self.warnings,
        ) = row if len(row) == len(_USUAL) else (*row, *_USUAL[len(row) :])  # fmt: skip
        if len(row) > _ARGS:
            from host.run.declared_arguments import Argument

            self.args = tuple(map(Argument.of_row, row[_ARGS]))
        if len(row) > _WARNINGS:
            self.warnings = tuple([Problem(*one) for one in row[_WARNINGS]])

    def __getattr__(self, name: str) -> "Any":
        """Read the file, as a listing seldom has to."""
        try:
            whole = definition_files.read_definition(self.file)
        except FileNotFoundError:
            raise DefinitionError(Problem(self.file, "is gone")) from None
        self.__dict__.update(vars(whole))
        return object.__getattribute__(self, name)


def _row(definition: Definition) -> "tuple[Any, ...]":
    row = [getattr(definition, name) for name in KEPT]
    row[_ARGS] = tuple([one.row() for one in row[_ARGS]])
    row[_WARNINGS] = tuple([one.row() for one in row[_WARNINGS]])
    while row and row[-1] == _USUAL[len(row) - 1]:
        row.pop()
    return tuple(row)


def _found(places: "Iterable[str]", key: str) -> "tuple[str, dict[str, Any]]":
    """Return the first index that is this user's own and made for `key`, and its table."""
    for place in places:
        try:
            return place, _table(place, key)
        except _GARBAGE:
            continue
    return "", {}


def _table(place: str, key: str) -> "dict[str, Any]":
    """Return where each folder's part is; raises ValueError for what is not as written."""
    head, newline, _ = _piece(place, 0, _LONGEST_HEAD).partition(b"\n")
    kind, length, there = head.rsplit(b" ", 2)
    start = len(head) + len(newline)
    front = _piece(place, start, int(length))
    if kind != FORMAT or checksum(front) != there:
        raise ValueError("not as written")
    owner, table = marshal.loads(front)  # noqa: S302 - as Python loads .pyc files
    if owner != key:
        raise ValueError("another installation's")
    start += len(front)
    return {
        folder: (start + offset, size, there) for folder, (offset, size, there) in table.items()
    }


def _piece(place: str, start: int, length: int) -> bytes:
    """Return a piece of this user's own regular file; raises OSError or ValueError."""
    file = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        status = os.fstat(file)
        if status.st_uid != os.geteuid() or status.st_mode & 0o077:
            raise ValueError("somebody else may have written it")
        return os.pread(file, min(length, status.st_size), start)
    finally:
        os.close(file)

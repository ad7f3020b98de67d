"""The index of definitions: what listings show of each file, so that no file is parsed twice.

Only listings, search and completion use it, inside their `IndexedCatalog`; a run never does.
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
from host.run.catalog import Catalog
from host.run.command import SYSTEM_OS, Definition, RequiredVariable
from host.run.lock import Lock, checksum, stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from host.run.installation import OpenInstallation

_SLOWEST_CLOCK = 2_100_000_000  # ns; FAT counts in steps of two seconds
_MOST_BYTES = 64 * 1024 * 1024
FORMAT = f"cli-host index 7 of {sys.implementation.cache_tag} ".encode()  # marshal's format differs
_EMPTY = marshal.dumps({})
_HEAD = len(FORMAT) + len(checksum(b""))
# What an entry holds, in order.
KEPT = (
    *("name", "description", "entrypoint", "group", "os", "sudo", "effects", "aliases", "hidden"),
    *("destroys", "examples", "args", "own_required_envs", "starts_commands", "warnings"),
    "own_requires",
)


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
        times = (status.st_ctime_ns, status.st_mtime_ns)
        now = (*times, status.st_size, status.st_ino, status.st_dev)
        folder, word, name = path.rsplit("/", 2)
        file = f"{word}/{name}"
        entries = self._folders.get(folder)
        if entries is None:
            part = self._parts.get(folder, _EMPTY)
            entries = self._folders[folder] = marshal.loads(part)  # noqa: S302 - as Python loads .pyc files
        entry = entries.get(file)
        if entry is not None and entry[0] == now:
            return KnownDefinition(path, entry[1])
        definition = definition_files.read_definition(path)
        if max(times) < self._settled:
            entries[file] = (now, _row(definition))
            self._changed.add(folder)
        return definition

    def save(self) -> None:
        """Write what is new, without what no longer exists, if a place can be written."""
        if not self._changed:
            return
        from host.planning.cache_files import replace

        for folder in self._changed:
            known = self._folders[folder].items()
            self._parts[folder] = marshal.dumps(
                {file: entry for file, entry in known if os.path.exists(f"{folder}/{file}")}
            )
        parts = {folder: part for folder, part in self._parts.items() if os.path.isdir(folder)}
        body = marshal.dumps((self._key, parts))
        if len(body) <= _MOST_BYTES:
            any(replace(place, FORMAT + checksum(body) + body, 0o600) for place in self._places)


class IndexedCatalog(Catalog):
    """The catalog of listings and Tab, which parses only the definitions that changed."""

    __slots__ = ("save",)

    def __init__(self, lock: "Lock", installation: "OpenInstallation") -> None:
        index = DefinitionIndex(installation)
        super().__init__(lock, index.read_definition)
        self.save = index.save


class KnownDefinition(Definition):
    """A definition from the index; attributes that are not kept there come from the file."""

    def __init__(self, file: str, row: "Sequence[Any]") -> None:
        self.file = file
        (
            self.name, self.description, self.entrypoint, self.group, self.os, self.sudo,
            self.effects, self.aliases, self.hidden, self.destroys, self.examples, args,
            needed, self.starts_commands, warnings, programs,
        ) = row  # fmt: skip
        self.args = self.warnings = self.own_requires = ()
        self.own_required_envs = tuple([RequiredVariable(*one) for one in needed])
        if args:
            from host.run.argument_spec import Argument

            self.args = tuple(map(Argument.of_row, args))
        if programs:
            from host.run.requirements import Requirement

            self.own_requires = tuple([Requirement(*one) for one in programs])
        if warnings:
            self.warnings = tuple([Problem(*one) for one in warnings])

    def __getattr__(self, name: str) -> "Any":
        """Read the file, which a listing seldom needs."""
        try:
            whole = definition_files.read_definition(self.file)
        except FileNotFoundError:
            raise DefinitionError(Problem(self.file, "is gone")) from None
        self.__dict__.update(vars(whole))
        return object.__getattribute__(self, name)


def _row(definition: Definition) -> "tuple[Any, ...]":
    values = [getattr(definition, name) for name in KEPT]
    return tuple([_plain(one) if type(one) is tuple else one for one in values])


def _plain(values: "tuple[Any, ...]") -> "tuple[Any, ...]":
    return tuple([one.row() if hasattr(one, "row") else one for one in values])


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

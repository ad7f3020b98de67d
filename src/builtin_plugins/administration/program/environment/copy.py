"""Changing a virtual environment in one step: a copy is changed, then the two change places.

The copy shares its files with the original by hard links, so it takes no space and
little time; pip replaces files, it never writes into them.
"""

from __future__ import annotations

import filecmp
import json
import os
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import Any

import importlib_metadata
from packaging.utils import canonicalize_name

from builtin_plugins.administration.program.environment.distributions import (
    find_distribution,
    packages_directory,
)
from builtin_plugins.administration.program.environment.installer import Installer, find_uv, has_pip
from builtin_plugins.administration.program.environment.owned_files import InstalledFiles, problems
from builtin_plugins.io.bounded_call import bounded_call
from builtin_plugins.io.files.atomic import exchange, sync_file_system, write_file
from builtin_plugins.io.files.flock import PATIENCE, Waiting, locked
from host import OperationError

_SCRIPT_LIMIT = 1 << 20
_SECONDS = 60.0  # for one start of this program
# What every version answers with "cli-host X.Y.Z": the one door by which an old version looks
# at a new one. No installation is named, so that none can get in the way.
_DOOR = ("host", "--safe", "self", "version")
# The RECORD of an editable installation does not list them.
_OWN_NAMES = {"host": "cli-host", "builtin_plugins": "cli-host"}
_LOCKED = "pyvenv.cfg"  # whoever changes the environment holds it; every copy shares it


class VenvCopy:
    """A copy of the environment that runs this program, to be changed and swapped in.

    It may not be made yet. `python` runs in it, `prefix` is the original; `held` is the lock
    on that, for children to keep.
    """

    def __init__(self, held: tuple[int, ...] = ()) -> None:
        parent, name = os.path.split(sys.prefix)
        self.held = held
        self.prefix = sys.prefix
        self.path = os.path.join(parent, f".{name.lstrip('.')}.cli-stage")
        self.python = os.path.join(self.path, "bin", os.path.basename(sys.executable))

    def change(self, installer: Installer, *arguments: str) -> None:
        """Let pip or uv `install …` or `uninstall …` in it; raises OperationError.

        The arguments are those that both understand.
        """
        installer = installer._replace(held=self.held)
        if has_pip():
            installer.pip(*arguments, python=self.python)
        else:
            word, *others = arguments
            installer.uv("pip", word, "--python", self.python, *others)

    def record_origin(self, name: str, origin: Mapping[str, Any]) -> None:
        """Record what the distribution `name` in it was built from, in the form of PEP 610."""
        files = _installed(self.path)[name].files or ()
        record = next(str(one.locate()) for one in files if one.match("*.dist-info/RECORD"))
        info, file = os.path.dirname(record), "direct_url.json"
        write_file(os.path.join(info, file), json.dumps(origin).encode())
        with open(record, "rb") as listed:
            rows = listed.read()
        row = os.fsencode(f"{os.path.basename(info)}/{file},,\n")
        write_file(record, rows + row)

    def swap(self, undo: ExitStack) -> None:
        """Put the copy in place of the original, which takes the copy's place; raises OSError."""
        _repoint_scripts(self.path, self.prefix)
        sync_file_system(self.path)
        exchange(self.path, self.prefix)
        undo.callback(exchange, self.path, self.prefix)


def check_environment() -> None:
    """Raise OperationError when this Python is no place that we may install into."""
    if sys.prefix == sys.base_prefix:
        raise OperationError(
            f"{sys.executable} is not in a virtual environment, so nothing is installed into it",
            "install this program with its install.sh, pipx, or python3 -m venv",
        )
    if not has_pip():
        find_uv(os.environ)


@contextmanager
def copied_environment(waiting: Waiting) -> Iterator[VenvCopy]:
    """Give a copy of the environment that runs this program; nobody else changes it meanwhile.

    `waiting` gets a line if another process does.
    """
    check_environment()
    with _held(PATIENCE, waiting) as descriptor:
        copy = VenvCopy((descriptor,))
        try:
            _discard(copy.path)
            if os.path.lexists(copy.path):
                raise OperationError(f"{copy.path}: is in the way and cannot be removed")
            _check_exchange(copy.path)
            _copy_linked(copy.prefix, copy.path)
            yield copy
        finally:
            _discard(copy.path)


def drop_abandoned_copy() -> None:
    """Remove the copy that a killed change left; one that somebody works in stays."""
    copy = VenvCopy()
    if os.path.isdir(copy.path):
        with suppress(OperationError), _held():
            _discard(copy.path)


def _discard(path: str) -> None:
    """Remove a copy, also with directories that a package's commands made read-only."""
    shutil.rmtree(path, ignore_errors=True)
    for directory, _, _ in os.walk(path):  # what is left
        with suppress(OSError):
            os.chmod(directory, stat.S_IRWXU)
    shutil.rmtree(path, ignore_errors=True)


def _held(patience: float = 0.0, waiting: Waiting | None = None) -> AbstractContextManager[int]:
    """Be the only one who changes the environment; raises OperationError when another one is."""
    return locked(os.path.realpath(os.path.join(sys.prefix, _LOCKED)), patience, waiting)


def _check_exchange(path: str) -> None:
    """Raise OperationError where directories cannot change places: a kill could lose both."""
    one, other = os.path.join(path, "one"), os.path.join(path, "other")
    os.makedirs(one)
    os.makedirs(other)
    try:
        exchange(one, other)
    except OSError:
        raise OperationError(
            f"{os.path.dirname(path)}: this file system cannot exchange two directories, so the "
            "environment cannot be changed in one step",
            f"change it yourself with: {sys.executable} -m pip install …",
        ) from None
    shutil.rmtree(path)


def _repoint_scripts(path: str, prefix: str) -> None:
    """Make the scripts that pip wrote in the copy start the interpreter at its later place."""
    old, new = os.fsencode(path), os.fsencode(prefix)
    with os.scandir(os.path.join(path, "bin")) as entries:
        scripts = [one.path for one in entries if one.is_file(follow_symlinks=False)]
    for script in scripts:
        if os.path.getsize(script) > _SCRIPT_LIMIT:
            continue
        with open(script, "rb") as file:
            content = file.read()
        if old in content:
            write_file(script, content.replace(old, new))


def _copy_linked(source: str, target: str) -> None:
    """Copy a tree with hard links where the file system lets us, else with the content."""
    pending = [""]
    while pending:
        inside = pending.pop()
        here, there = os.path.join(source, inside), os.path.join(target, inside)
        os.mkdir(there)
        os.chmod(there, stat.S_IMODE(os.stat(here).st_mode) | stat.S_IRWXU)
        with os.scandir(here) as entries:
            for entry in entries:
                place = os.path.join(there, entry.name)
                if entry.is_dir(follow_symlinks=False):
                    pending.append(os.path.join(inside, entry.name))
                elif entry.is_symlink():
                    os.symlink(os.readlink(entry.path), place)
                else:
                    _link_or_copy(entry.path, place)


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def ask(
    python: str,
    *arguments: str,
    failing: str,
    environ: Mapping[str, str] | None = None,
    seconds: float = _SECONDS,
) -> str:
    """Return what `python -I -m ARGUMENTS` prints, with `environ` or without any installation.

    Raises an OperationError that begins with `failing` when it fails or takes too long.
    """
    alone = {"CLI_DIR": os.devnull, "GLOBAL_CONFIG_FILE": ""}
    try:
        ended = bounded_call(
            [python, "-I", "-m", *arguments], environ or {**os.environ, **alone}, seconds
        )
    except TimeoutError:
        raise OperationError(f"{failing}: no answer within {seconds:g} seconds") from None
    if ended.returncode:
        last = ended.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise OperationError(f"{failing}: {' '.join(last)}")
    return ended.stdout.decode("utf-8", "replace").strip()


def check_starts(python: str, what: str) -> str:
    """Return the version of this program that starts in that environment; `what` is new there.

    Raises OperationError when none does.
    """
    said = ask(python, *_DOOR, failing=f"{what} does not start")
    return said.rpartition(" ")[2]


def check_change(copy: VenvCopy, name: str, there: InstalledFiles) -> None:
    """Raise OperationError if the change of distribution `name` touches files of others.

    `there` is the environment before it. Distributions that came along count as `name` does.
    """
    before, after = _installed(copy.prefix), _installed(copy.path)
    came = {one for one in after if one not in before or after[one].version != before[one].version}
    recorded = {path for one in came for path in _files(after[one], copy.path)}
    refuse(name, problems(_changed(copy.prefix, copy.path) | recorded, came | {name}, there))


def refuse(name: str, found: Iterable[str]) -> None:
    """Raise OperationError for the first problem that was found in distribution `name`."""
    lines = list(found)
    if lines:
        more = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
        raise OperationError(f"{name}: {lines[0]}{more}; nothing was changed")


def installed_files(prefix: str, needed: set[str]) -> InstalledFiles:
    """Return the files in the environment at `prefix`, whose program needs those distributions."""
    owners: dict[str, set[str]] = {path.casefold(): set() for path in _entries(prefix)}
    for name, distribution in _installed(prefix).items():
        for path in _files(distribution, prefix):
            owners.setdefault(path.casefold(), set()).add(name)
    names = {**_OWN_NAMES}
    for name in needed:  # also one that is elsewhere, where the environment sees that
        for file in getattr(find_distribution(name), "files", None) or ():
            if top := file.parts[0].partition(".")[0]:
                names.setdefault(top.casefold(), name)
    return InstalledFiles(packages_directory(), owners, needed, names)


def _installed(prefix: str) -> dict[str, Any]:
    """Return the distributions that the environment at `prefix` itself holds."""
    found: dict[str, Any] = {}
    for one in importlib_metadata.distributions(path=[os.path.join(prefix, packages_directory())]):
        with suppress(KeyError, OSError):  # its metadata is damaged
            found[canonicalize_name(str(one.metadata["Name"]))] = one
    return found


def _files(distribution: Any, prefix: str) -> Iterator[str]:
    """Yield the files that a distribution records and that are there, relative to `prefix`."""
    for file in distribution.files or ():
        path = os.path.relpath(str(file.locate()), prefix)
        if not path.startswith(".."):
            yield path


def _changed(one: str, other: str) -> set[str]:
    """Return the paths at which two environments have different files, or one has none."""
    ours, theirs = _entries(one), _entries(other)
    return {
        path
        for path in ours.keys() | theirs.keys()
        if path not in ours or path not in theirs or not _is_same(ours[path], theirs[path])
    }


def _entries(prefix: str) -> dict[str, os.DirEntry[str]]:
    """Return the files and links in a tree by relative path, without what Python compiled."""
    found, pending = {}, [prefix]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    found[os.path.relpath(entry.path, prefix)] = entry
                elif entry.name != "__pycache__":
                    pending.append(entry.path)
    return found


def _is_same(one: os.DirEntry[str], other: os.DirEntry[str]) -> bool:
    if one.is_symlink() or other.is_symlink():
        links = one.is_symlink() and other.is_symlink()
        return links and os.readlink(one.path) == os.readlink(other.path)
    return one.inode() == other.inode() or filecmp.cmp(one.path, other.path, shallow=False)

"""Changing a virtual environment in one step: a copy is changed, then the two change places.

The copy shares its files with the original by hard links, so it takes no space and
little time; pip replaces files, it never writes into them.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from builtin_plugins.files.locks import take_lock
from builtin_plugins.files.exchange import exchange, exchange_or_raise
from builtin_plugins.files.atomic import sync_file_system
from builtin_plugins.venv.installer import check_installer
from host import OperationError

_PATIENCE = 120.0  # seconds that a change waits for another one
_SCRIPT_LIMIT = 1 << 20
_LOCKED = "pyvenv.cfg"  # whoever changes the environment holds it; every copy shares it


class VenvCopy:
    """A copy of the environment `prefix`, to be changed and swapped in; `python` runs in it.

    `held` is the lock on the environment, for children to keep.
    """

    def __init__(self, prefix: str, path: str, held: tuple[int, ...] = ()) -> None:
        self.held = held
        self.prefix = prefix
        self.path = path
        self.python = os.path.join(path, "bin", os.path.basename(sys.executable))

    @classmethod
    def of_this(cls) -> VenvCopy:
        """Return the copy of the environment that runs this program; it may not be made yet."""
        parent, name = os.path.split(sys.prefix)
        return cls(sys.prefix, os.path.join(parent, f".{name.lstrip('.')}.cli-stage"))

    def swap(self) -> None:
        """Put the copy in place of the original, which takes the copy's place; raises OSError."""
        _repoint_scripts(self.path, self.prefix)
        sync_file_system(self.path)
        exchange_or_raise(self.path, self.prefix)

    def swap_back(self) -> None:
        exchange_or_raise(self.path, self.prefix)


def check_environment() -> None:
    """Raise OperationError when this Python is no place that we may install into."""
    if sys.prefix != sys.base_prefix:
        check_installer(os.environ)
        return
    raise OperationError(
        f"{sys.executable} is not in a virtual environment, so nothing is installed into it",
        "install this program with its install.sh, pipx, or python3 -m venv"
    )


def packages() -> str:
    """Return where the environment of this program has its distributions."""
    import sysconfig

    return sysconfig.get_paths()["purelib"]


@contextmanager
def copied_environment(waiting: Callable[[str], object]) -> Iterator[VenvCopy]:
    """Give a copy of the environment that runs this program; nobody else changes it meanwhile.

    `waiting` is told who does where that takes long.
    """
    check_environment()
    copy = VenvCopy.of_this()
    with _locked(copy.prefix, waiting) as descriptor:
        copy.held = (descriptor,)
        try:
            shutil.rmtree(copy.path, ignore_errors=True)
            _check_exchange(copy.path)
            copy_linked(copy.prefix, copy.path)
            yield copy
        finally:
            shutil.rmtree(copy.path, ignore_errors=True)


def drop_abandoned_copy() -> None:
    """Remove the copy that a killed change left; one that somebody works in stays."""
    copy = VenvCopy.of_this()
    if not os.path.isdir(copy.path):
        return
    with suppress(OSError), open(os.path.join(copy.prefix, _LOCKED), "rb") as held:
        if take_lock(held.fileno()):
            shutil.rmtree(copy.path, ignore_errors=True)


def _check_exchange(path: str) -> None:
    """Raise OperationError where directories cannot change places: a kill could lose both."""
    one, other = os.path.join(path, "one"), os.path.join(path, "other")
    os.makedirs(one)
    os.makedirs(other)
    if not exchange(one, other):
        raise OperationError(
            f"{os.path.dirname(path)}: this file system cannot exchange two directories, so the "
            "environment cannot be changed in one step", f"change it yourself with: "
            f"{sys.executable} -m pip install …"
        )
    shutil.rmtree(path)


@contextmanager
def _locked(prefix: str, waiting: Callable[[str], object]) -> Iterator[int]:
    """Hold the environment; raises OperationError where another change goes on for too long."""
    descriptor = os.open(os.path.join(prefix, _LOCKED), os.O_RDONLY | os.O_CLOEXEC)
    try:
        if not take_lock(descriptor, _PATIENCE, waiting):
            raise OperationError(f"{prefix}: another change is under way", "try again")
        yield descriptor
    finally:
        os.close(descriptor)


def copy_linked(source: str, target: str) -> None:
    """Copy a tree with hard links where the file system lets us, else with the content."""
    pending = [""]
    while pending:
        inside = pending.pop()
        here, there = os.path.join(source, inside), os.path.join(target, inside)
        os.mkdir(there, stat.S_IMODE(os.stat(here).st_mode) | 0o700)
        with os.scandir(here) as entries:
            for entry in entries:
                place = os.path.join(there, entry.name)
                if entry.is_symlink():
                    os.symlink(os.readlink(entry.path), place)
                elif entry.is_dir():
                    pending.append(os.path.join(inside, entry.name))
                else:
                    _link_or_copy(entry.path, place)


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


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
        if old not in content:
            continue
        temporary = f"{script}.new"
        with open(temporary, "wb") as file:
            file.write(content.replace(old, new))
        os.chmod(temporary, stat.S_IMODE(os.stat(script).st_mode))
        with suppress(OSError):
            os.unlink(script)
        os.rename(temporary, script)

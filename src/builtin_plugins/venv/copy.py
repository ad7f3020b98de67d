"""Changing a virtual environment in one step: a copy is changed, then the two change places.

The copy shares its files with the original by hard links, so it takes no space and
little time; pip replaces files, it never writes into them.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress

from builtin_plugins.files.atomic import exchange, sync_file_system, write_file
from builtin_plugins.files.locks import PATIENCE, Waiting, locked
from builtin_plugins.venv.installer import Installer, check_installer
from host import OperationError

_SCRIPT_LIMIT = 1 << 20
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
        """Let pip or uv `install …` or `uninstall …` in it; raises OperationError."""
        installer._replace(held=self.held).change(self.python, *arguments)

    def swap(self, undo: ExitStack) -> None:
        """Put the copy in place of the original, which takes the copy's place; raises OSError."""
        _repoint_scripts(self.path, self.prefix)
        sync_file_system(self.path)
        exchange(self.path, self.prefix)
        undo.callback(exchange, self.path, self.prefix)


def check_environment() -> None:
    """Raise OperationError when this Python is no place that we may install into."""
    if sys.prefix != sys.base_prefix:
        check_installer(os.environ)
        return
    raise OperationError(
        f"{sys.executable} is not in a virtual environment, so nothing is installed into it",
        "install this program with its install.sh, pipx, or python3 -m venv",
    )


@contextmanager
def copied_environment(waiting: Waiting) -> Iterator[VenvCopy]:
    """Give a copy of the environment that runs this program; nobody else changes it meanwhile.

    `waiting` is told who does where that takes long.
    """
    check_environment()
    with _held(PATIENCE, waiting) as descriptor:
        copy = VenvCopy((descriptor,))
        try:
            shutil.rmtree(copy.path, ignore_errors=True)
            _check_exchange(copy.path)
            _copy_linked(copy.prefix, copy.path)
            yield copy
        finally:
            shutil.rmtree(copy.path, ignore_errors=True)


def drop_abandoned_copy() -> None:
    """Remove the copy that a killed change left; one that somebody works in stays."""
    copy = VenvCopy()
    if os.path.isdir(copy.path):
        with suppress(OperationError), _held():
            shutil.rmtree(copy.path, ignore_errors=True)


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

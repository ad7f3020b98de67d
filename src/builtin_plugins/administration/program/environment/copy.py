"""Changing a virtual environment in one step: a copy is changed, then the two change places.

The copy shares its files with the original by hard links, so it takes no space and
little time; pip replaces files, it never writes into them.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from builtin_plugins.administration.program.environment.installer import Installer, find_uv, has_pip
from builtin_plugins.administration.program.environment.owned_files import installed
from builtin_plugins.io.bounded_call import bounded_call
from builtin_plugins.io.files.atomic import copy_tree, exchange, sync_file_system, write_file
from builtin_plugins.io.files.flock import PATIENCE, Waiting, locked
from host import OperationError

_SECONDS = 60.0  # for one start of this program
# The command that every version answers with "cli-host X.Y.Z", for an old version that checks a
# new one. It names no installation, so none can get in the way.
_VERSION = ("host", "--safe", "self", "version")
_LOCKED = "pyvenv.cfg"  # locked by each change of the environment; all copies share it


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
        files = installed(self.path)[name].files or ()
        record = next(Path(str(one.locate())) for one in files if one.match("*.dist-info/RECORD"))
        record.with_name("direct_url.json").write_text(json.dumps(origin), encoding="utf-8")
        with record.open("a", encoding="utf-8") as rows:
            rows.write(f"{record.parent.name}/direct_url.json,,\n")

    def swap(self, undo: ExitStack) -> None:
        """Put the copy in place of the original, which takes the copy's place.

        Raises OSError, and OperationError if the file system cannot exchange two directories:
        with two renames a kill could lose both.
        """
        _repoint_scripts(self.path, self.prefix)
        sync_file_system(self.path)
        try:
            exchange(self.path, self.prefix)
        except OSError as failure:
            raise OperationError(
                f"{self.prefix}: cannot be exchanged with its changed copy: {failure.strerror}",
                f"change it yourself with: {sys.executable} -m pip install …",
            ) from None
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
            copy_tree(copy.prefix, copy.path, copy_function=_link_or_copy)
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


def _repoint_scripts(path: str, prefix: str) -> None:
    """Make the scripts that pip wrote in the copy start the interpreter at its later place."""
    old, new = os.fsencode(path), os.fsencode(prefix)
    with os.scandir(os.path.join(path, "bin")) as entries:
        scripts = [one.path for one in entries if one.is_file(follow_symlinks=False)]
    for script in scripts:
        with open(script, "rb") as file:
            content = file.read()
        if old in content:
            write_file(script, content.replace(old, new))


def _link_or_copy(source: str, target: str) -> None:
    """Make a hard link where the file system lets us, else a copy."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)


def ask(
    python: str,
    *arguments: str,
    failing: str,
    given: str = "",
    environ: Mapping[str, str] | None = None,
    seconds: float = _SECONDS,
) -> str:
    """Return what `python -I -m ARGUMENTS` prints, with `environ` or without any installation.

    Its input is `given`. Raises an OperationError that begins with `failing` if it fails or
    takes too long.
    """
    alone = {"CLI_DIR": os.devnull, "GLOBAL_CONFIG_FILE": ""}
    command, environ = [python, "-I", "-m", *arguments], environ or {**os.environ, **alone}
    try:
        ended = bounded_call(command, environ, seconds, given=given.encode())
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
    version = ask(python, *_VERSION, failing=f"{what} does not start")
    return version.rpartition(" ")[2]

"""Change a virtual environment in one step: change a copy of it, then swap the two directories.

The copy consists of hard links to the original files, so it is cheap to make. This is safe because
pip replaces files and never writes into existing ones.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import NamedTuple

from builtin_plugins.library.bounded_call import bounded_call
from builtin_plugins.library.files.atomic import (
    copy_directory,
    exchange,
    sync_file_system,
    write_file,
)
from builtin_plugins.library.files.file_lock import OnWait, file_lock
from builtin_plugins.plugins.installer import (
    Installer,
    check_installer,
)
from builtin_plugins.program.venv import in_venv
from host import OperationError

_START_SECONDS = 60.0  # time limit for one start of this program
# Every version prints "cli-host X.Y.Z" for `self version`, so an old version can check a new one.
# `self version` uses no installation, so a broken installation cannot interfere.
_VERSION = ("host", "--safe", "self", "version")


def _copy_path() -> str:
    """Return the path for the copy of the environment that runs this program."""
    # Beside the original: two directories can be exchanged only on one file system.
    parent, name = os.path.split(sys.prefix)
    return os.path.join(parent, f".{name.lstrip('.')}.cli-stage")


class VenvCopy(NamedTuple):
    """The copy of the environment that runs this program, made by `copied_venv`.

    `held` is the descriptor of the file lock on the original environment; child processes inherit
    the descriptor.
    """

    path: str
    held: int

    @property
    def python(self) -> str:
        """The interpreter in the copy."""
        return os.path.join(self.path, "bin", os.path.basename(sys.executable))

    def install(self, installer: Installer, *arguments: str) -> None:
        """Install packages into the copy, as `Installer.install` does."""
        installer = installer._replace(held=(self.held,))
        installer.install(*arguments, python=self.python)

    def swap(self, undo: ExitStack) -> None:
        """Exchange the copy and the original.

        Raises OSError, and OperationError if the file system cannot exchange two directories in
        one step. Two renames would leave no environment if the process were killed between them.
        """
        _repoint_scripts(self.path, sys.prefix)
        sync_file_system(self.path)
        try:
            exchange(self.path, sys.prefix)
        except OSError as failure:
            what = f"{sys.prefix}: cannot be replaced by its updated copy"
            raise OperationError(f"{what}: {failure.strerror}") from None
        undo.callback(exchange, self.path, sys.prefix)


def check_venv() -> None:
    """Raise OperationError if packages must not be installed into this Python environment."""
    if not in_venv():
        what = f"{sys.executable} is not in a virtual environment"
        remedy = "install this program with install.sh, pipx or uv"
        raise OperationError(f"{what}, so nothing was changed", remedy)
    check_installer()


@contextmanager
def copied_venv(on_wait: OnWait) -> Iterator[VenvCopy]:
    """Yield a copy of the environment that runs this program; the original stays locked.

    `on_wait` is called with a message if another process holds the file lock.
    """
    check_venv()
    with _venv_lock(on_wait) as descriptor:
        copy = VenvCopy(_copy_path(), descriptor)
        try:
            # A killed update leaves a copy.
            shutil.rmtree(copy.path, ignore_errors=True)
            copy_directory(sys.prefix, copy.path, copy_function=os.link)

            yield copy
        finally:
            # After the exchange, this is the old environment.
            shutil.rmtree(copy.path, ignore_errors=True)


def drop_abandoned_copy() -> None:
    """Remove the copy that an interrupted change left behind, unless another process uses it."""
    path = _copy_path()
    if os.path.isdir(path):
        with suppress(OperationError), _venv_lock():
            shutil.rmtree(path, ignore_errors=True)


def _venv_lock(on_wait: OnWait | None = None) -> AbstractContextManager[int]:
    """Hold the file lock that all changes to the environment share.

    If another process holds the lock, wait for it and call `on_wait` with a message. Raises
    OperationError after the longest wait or, without `on_wait`, at once.
    """
    config = os.path.join(sys.prefix, "pyvenv.cfg")
    return file_lock(os.path.realpath(config), on_wait)


def _repoint_scripts(path: str, prefix: str) -> None:
    """In the scripts of the copy at `path`, replace that path with `prefix`, the final path."""
    old = os.fsencode(path)
    new = os.fsencode(prefix)
    bin_directory = os.path.join(path, "bin")

    for name in os.listdir(bin_directory):
        script = os.path.join(bin_directory, name)
        if os.path.islink(script):  # to the interpreter, outside the environment
            continue
        if not os.path.isfile(script):
            continue

        with open(script, "rb") as file:
            content = file.read()
        if old in content:
            # A new file: the old one is the original's, too.
            write_file(script, content.replace(old, new))


def run_python(python: str, *arguments: str, failing: str) -> str:
    """Return the output of `python -I -m ARGUMENTS`, which finds no installation.

    If the process fails or takes too long, an OperationError is raised, whose message begins with
    `failing`.
    """
    environ = {**os.environ, "CLI_DIR": os.devnull, "GLOBAL_CONFIG_FILE": ""}
    command = [python, "-I", "-m", *arguments]
    ended = bounded_call(command, environ, _START_SECONDS, failing)
    if ended.status:
        # The last line of a traceback names the error.
        error = ended.stderr.decode("utf-8", "replace").strip()
        _, _, last_line = error.rpartition("\n")
        raise OperationError(f"{failing}: {last_line}")
    return ended.stdout.decode("utf-8", "replace").strip()


def check_starts(python: str, what: str) -> None:
    """Raise OperationError if this program does not start in the environment of `python`.

    The message begins with `what`.
    """
    run_python(python, *_VERSION, failing=f"{what} does not start")

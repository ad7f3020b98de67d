"""Make a prepared version the installed one, or remove everything that setup installed.

At any moment, the link leads to the old version or the new one. Each step is one rename, which can
be undone. This is the only part of setup that may need root. If so, it runs as
`sudo PYTHON -I -m builtin_plugins.setup.linux.swap …` with every path as an argument, because sudo
drops the environment. `run_with_sudo` starts `main` in this way.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import NamedTuple

from builtin_plugins.io.files import atomic
from builtin_plugins.io.files.undo import (
    cleanup_on_signal,
    os_errors_explained,
    signals_blocked,
    undoing,
)
from builtin_plugins.setup import linux
from builtin_plugins.setup.linux import ownership
from builtin_plugins.setup.tool_settings import PATHS, ToolPaths, ToolSettings, variable
from builtin_plugins.store.versions import staging
from host import HostError, Messages, OperationError, find_program

_write_menu = partial(atomic.write_file, mode=0o644)


class Application(NamedTuple):
    """A version to install: its name, the launcher's path in it, and the text of the menu entry.

    `staged` is its directory, or "" if it is already in the store.
    """

    version: str
    launcher: str
    menu: str
    staged: str


def install(
    paths: ToolPaths, prepare: Callable[[str], Application]
) -> list[OperationError]:
    """Call `prepare` with a staging directory, and install the version that it prepares there.

    If a step fails, everything is undone, and OSError or OperationError is raised. Returns an error
    for each old version that cannot be removed.
    """
    store = ownership.store_of(paths)
    with store.exclusive():
        clear(paths)
        with staging(paths.install_dir) as stage:
            _swap_in(paths, prepare(stage))
            return store.collect()


def _swap_in(paths: ToolPaths, application: Application) -> None:
    store = ownership.store_of(paths)
    version, launcher, menu, staged = application
    ownership.refuse_foreign(paths)  # other files may have appeared during the download
    if not linux.is_program(staged or store.path(version), launcher):
        raise OperationError(
            f"{staged or store.path(version)} has no program {launcher}"
        )
    with signals_blocked(), undoing() as undo:
        for path in (paths.link, paths.desktop_file):
            atomic.make_directory(os.path.dirname(path), 0o755, undo)
        if staged:
            store.commit(staged, version, undo)
        target = os.path.join(store.link, launcher)
        if version != store.current:
            if linux.is_installed(paths) and os.readlink(paths.link) != target:
                # First link directly to the old version: the new one may lack the old launcher.
                _replace(
                    atomic.write_link, paths.link, os.path.realpath(paths.link), undo
                )
            store.activate(version, undo)
        _replace(_write_menu, paths.desktop_file, menu, undo)
        _replace(atomic.write_link, paths.link, target, undo)
    atomic.sync_directory(paths.bin_dir)


def uninstall(paths: ToolPaths) -> None:
    """Remove the link, menu entry and application. Raises OSError or OperationError.

    After an error, nothing has changed, unless the error names a version that cannot be removed.
    """
    store = ownership.store_of(paths)
    with store.exclusive():
        is_own = ownership.owned_paths(paths)
        with signals_blocked(), undoing() as undo:
            for write, path in (
                (_write_menu, paths.desktop_file),
                (atomic.write_link, paths.link),
            ):
                if is_own[path]:
                    _replace(write, path, None, undo)
            if is_own[paths.install_dir]:
                store.activate("", undo)
        for problem in clear(paths):
            raise problem


def clear(paths: ToolPaths) -> list[OperationError]:
    """Remove leftovers of interrupted changes; return an error for each that cannot be removed."""
    for path in (paths.link, paths.desktop_file):
        atomic.discard(atomic.temporary(path))
    # An interrupted change may have left the link pointing directly to a version.
    real = os.path.relpath(
        os.path.realpath(paths.link), os.path.realpath(paths.install_dir)
    )
    return ownership.store_of(paths).collect(keep=[real.partition("/")[0]])


def _replace(
    write: Callable[[str, str], None], path: str, new: str | None, undo: ExitStack
) -> None:
    """Call `write(path, new)`, or remove the file or link at `path` if `new` is None.

    `undo` gets a step that restores the old file or link.
    """
    former = os.readlink(path) if os.path.islink(path) else ownership.read_text(path)
    if new != former:
        _set(write, path, new)
        undo.callback(_set, write, path, former)


def _set(write: Callable[[str, str], None], path: str, content: str | None) -> None:
    if content is None:
        os.unlink(path)
    else:
        write(path, content)


def find_sudo(paths: ToolPaths, environ: Mapping[str, str]) -> str | None:
    """Return the path of sudo, or None if the caller may write to all of the tool's directories.

    Raises OperationError with the names of the directories if sudo is needed but missing.
    """
    changed = (paths.install_dir, paths.bin_dir, os.path.dirname(paths.desktop_file))
    missing = list(dict.fromkeys(filter(None, map(_closed_directory, changed))))
    sudo = find_program("sudo", environ)
    if missing and sudo is None:
        names = ", ".join(variable(paths.tool, suffix) for suffix in PATHS)
        what = (
            f"no permission to write to {', '.join(missing)}, and sudo is not installed"
        )
        raise OperationError(
            what, f"run setup as root, or set {names} to your own paths"
        )
    return sudo if missing else None


def _closed_directory(path: str) -> str:
    """Find the nearest existing directory at or above `path`; return it, or "" if it is writable.

    Another run may remove the directory at any time, so a descriptor is checked, not the path.
    """
    try:
        directory = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # missing or inaccessible
        return _closed_directory(os.path.dirname(path))
    try:
        is_open = os.access(".", os.W_OK | os.X_OK, dir_fd=directory)
    finally:
        os.close(directory)
    return "" if is_open else path


def run_with_sudo(
    sudo: str,
    settings: ToolSettings,
    messages: Messages,
    prepare: Callable[[], Application] | None = None,
) -> None:
    """Use sudo to install the application that `prepare` returns; without `prepare`, uninstall.

    The need for sudo is reported before `prepare` is called. Raises OperationError with the output
    of sudo.
    """
    paths = settings.paths
    changed = f"{paths.install_dir}, {paths.link} and {paths.desktop_file}"
    messages.line(f"sudo is needed to change {changed}")
    # -I: ignore PYTHON* variables and the current directory
    command = [sudo, sys.executable, "-I", "-m", "builtin_plugins.setup.linux.swap"]
    command += [*paths, *(prepare() if prepare else ())]
    # No cleanup here: Ctrl-C also reaches the process under sudo, which undoes its own work.
    with subprocess.Popen(
        command, env=dict(settings.environ), stderr=subprocess.PIPE
    ) as process:
        _, printed = process.communicate()
    lines = [
        line for line in printed.decode("utf-8", "replace").splitlines() if line.strip()
    ]
    if process.returncode:
        reason = "; ".join(lines) or f"exit status {process.returncode}"
        raise OperationError(f"sudo failed: {reason}")
    for line in lines:
        messages.warn(line)


def main(arguments: Sequence[str]) -> int:
    """Install a version, or uninstall the application; return 0. Raises HostError.

    The arguments are the fields of a `ToolPaths` and, to install, those of an `Application`.
    """
    paths = ToolPaths(*arguments[: len(ToolPaths._fields)])
    application = arguments[len(paths) :]
    with os_errors_explained():
        if application:
            for problem in install(paths, partial(_copy, Application(*application))):
                Messages("setup", {}).line(str(problem))
        else:
            uninstall(paths)
    return 0


def _copy(application: Application, stage: str) -> Application:
    """Copy the files that the caller of sudo prepared, so that root owns them."""
    if not application.staged:
        return application
    directory = os.path.join(stage, "new")
    atomic.copy_directory(application.staged, directory)
    return application._replace(staged=directory)


if __name__ == "__main__":
    try:
        sys.exit(cleanup_on_signal(lambda: main(sys.argv[1:])))
    except HostError as failure:
        sys.exit(str(failure))

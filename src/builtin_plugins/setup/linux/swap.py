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

from builtin_plugins.library.files import atomic
from builtin_plugins.library.files.undo import (
    cleanup_on_signal,
    os_errors_explained,
    signals_blocked,
    undoing,
)
from builtin_plugins.library.versioned_directory import staging
from builtin_plugins.setup import linux
from builtin_plugins.setup.linux import ownership
from builtin_plugins.setup.tool_settings import PATHS, ToolPaths, ToolSettings, variable
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
    """Move the application into the store if it is staged, and let the link lead to it."""
    store = ownership.store_of(paths)
    version, launcher, menu, staged = application

    # Other files may have appeared during the download.
    ownership.refuse_foreign(paths)
    directory = staged or store.path(version)
    if not linux.is_program(directory, launcher):
        raise OperationError(f"{directory} has no program {launcher}")

    with signals_blocked(), undoing() as undo:
        for path in (paths.link, paths.desktop_file):
            folder = os.path.dirname(path)
            atomic.make_directory(folder, 0o755, undo)
        if staged:
            store.add(staged, version, undo)

        target = os.path.join(store.link, launcher)
        if version != store.current:
            # The new version may lack the old launcher.
            if linux.is_installed(paths) and os.readlink(paths.link) != target:
                _link_to_old_version(paths, undo)
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
            if is_own[paths.desktop_file]:
                _replace(_write_menu, paths.desktop_file, None, undo)
            if is_own[paths.link]:
                _replace(atomic.write_link, paths.link, None, undo)
            if is_own[paths.install_dir]:
                store.activate("", undo)

        for problem in clear(paths):
            raise problem


def _link_to_old_version(paths: ToolPaths, undo: ExitStack) -> None:
    """Let the command's link lead directly to the old version, not through the store's link."""
    old_program = os.path.realpath(paths.link)
    _replace(atomic.write_link, paths.link, old_program, undo)


def clear(paths: ToolPaths) -> list[OperationError]:
    """Remove leftovers of interrupted changes; return an error for each that cannot be removed."""
    for path in (paths.link, paths.desktop_file):
        atomic.discard(atomic.temporary(path))

    # An interrupted change may have left the link pointing directly to a version.
    program = os.path.realpath(paths.link)
    install_dir = os.path.realpath(paths.install_dir)
    inside = os.path.relpath(program, install_dir)
    version, _, _ = inside.partition("/")
    store = ownership.store_of(paths)
    return store.collect(keep=[version])


def _replace(
    write: Callable[[str, str], None], path: str, new: str | None, undo: ExitStack
) -> None:
    """Call `write(path, new)`, or remove the file or link at `path` if `new` is None.

    `undo` gets a step that restores the old file or link.
    """
    if os.path.islink(path):
        former: str | None = os.readlink(path)
    else:
        former = ownership.read_text(path)

    if new != former:
        _set(write, path, new)
        undo.callback(_set, write, path, former)


def _set(write: Callable[[str, str], None], path: str, content: str | None) -> None:
    """Call `write(path, content)`, or remove the file or link if `content` is None."""
    if content is None:
        os.unlink(path)
    else:
        write(path, content)


def find_sudo(paths: ToolPaths, environ: Mapping[str, str]) -> str | None:
    """Return the path of sudo, or None if the caller may write to all of the tool's directories.

    Raises OperationError with the names of the directories if sudo is needed but missing.
    """
    closed: list[str] = []
    menus = os.path.dirname(paths.desktop_file)
    for changed in (paths.install_dir, paths.bin_dir, menus):
        directory = _closed_directory(changed)
        if directory and directory not in closed:
            closed.append(directory)
    if not closed:
        return None

    sudo = find_program("sudo", environ)
    if sudo is not None:
        return sudo

    names = ", ".join([variable(paths.tool, suffix) for suffix in PATHS])
    raise OperationError(
        f"no permission to write to {', '.join(closed)}, and sudo is not installed",
        f"run setup as root, or set {names} to your own paths",
    )


def _closed_directory(path: str) -> str:
    """Find the nearest existing directory at or above `path`; return it, or "" if it is writable.

    Another run may remove the directory at any time, so a descriptor is checked, not the path.
    """
    try:
        directory = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # missing or inaccessible
        return _closed_directory(os.path.dirname(path))

    try:
        is_writable = os.access(".", os.W_OK | os.X_OK, dir_fd=directory)
    finally:
        os.close(directory)
    if is_writable:
        return ""
    return path


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
    command += paths.row()
    if prepare is not None:
        command += prepare()

    # No cleanup here: Ctrl-C also reaches the process under sudo, which undoes its own work.
    environ = dict(settings.environ)
    with subprocess.Popen(command, env=environ, stderr=subprocess.PIPE) as process:
        _, printed = process.communicate()
    text = printed.decode("utf-8", "replace")
    lines = [line for line in text.splitlines() if line.strip()]

    if process.returncode:
        reason = f"exit status {process.returncode}"
        if lines:
            reason = "; ".join(lines)
        raise OperationError(f"sudo failed: {reason}")
    for line in lines:
        messages.warn(line)


def main(arguments: Sequence[str]) -> int:
    """Install a version, or uninstall the application; return 0. Raises HostError.

    The arguments are the fields of a `ToolPaths` and, to install, those of an `Application`.
    """
    tool, install_dir, bin_dir, desktop_file, *fields = arguments
    paths = ToolPaths(tool, install_dir, bin_dir, desktop_file)
    with os_errors_explained():
        if not fields:
            uninstall(paths)
            return 0

        application = Application(*fields)
        messages = Messages("setup", {})
        for problem in install(paths, partial(_copy, application)):
            messages.line(str(problem))
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

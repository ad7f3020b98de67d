"""`self update`: update this program from its git checkout or with pip.

Either way, a copy of the environment is changed and then swapped with the original. The old version
works until then.
"""

import os
import sys
from contextlib import ExitStack
from tempfile import TemporaryDirectory

import importlib_metadata
from packaging.requirements import Requirement
from packaging.version import Version

from builtin_plugins.library.checkout import (
    check_fast_forward,
    fast_forward,
    fetch_newest,
)
from builtin_plugins.library.files.atomic import write_file
from builtin_plugins.library.files.undo import (
    os_errors_explained,
    signals_blocked,
    undoing,
)
from builtin_plugins.library.git import Git, newer_commit
from builtin_plugins.plugins.change import (
    Change,
    begin_change_in,
)
from builtin_plugins.plugins.installer import Installer
from builtin_plugins.plugins.resolution import newest_version
from builtin_plugins.program.launcher import (
    is_launcher,
    launcher_of,
    launchers_in,
    renew_own_files,
)
from builtin_plugins.program.origin import (
    check_updatable,
    clone_of_program,
    installed_commit,
    record_commit,
)
from builtin_plugins.program.venv.copy import (
    VenvCopy,
    check_starts,
    copied_venv,
    drop_abandoned_copy,
    run_python,
)
from builtin_plugins.self_commands.declared import (
    FORMAT,
    TIMEOUT,
    YES,
    argument,
    self_command,
)
from builtin_plugins.self_commands.questions import ask_to_continue
from host.hook_marker import OWN_DISTRIBUTION
from host.installation import Layout
from host.pages.session import Session
from host.processes.importing import complete_import_path


@self_command(
    "update",
    "Update this program",
    argument("--check", "Only show whether there is a newer version."),
    FORMAT,
    YES,
    TIMEOUT,
    synonyms=("upgrade", "selfupdate", "self-update"),
)
def update(
    session: Session, check: bool, format: str, yes: bool, timeout: float
) -> None:
    """Update this program.

    An installed package is upgraded with pip. A git clone in which install.sh ran is
    fast-forwarded and installed again, wherever the installation is. Your commands, configuration
    and plugins stay. If anything fails, the old version continues to work.
    """
    launcher = launcher_of(session.layout)
    clone = clone_of_program()
    if not clone and not check:
        check_updatable(session.environ, launcher)

    now, newest = _versions(session, clone, timeout)
    if format == "json":
        session.show_json({"version": now or None, "newest": newest})
        return

    if now == newest:
        session.show_lines(f"{now} is the newest version")
    elif now:
        session.show_lines(f"{now} → {newest}")
    else:
        session.show_lines(f"an unknown version → {newest}")
    if check:
        return

    drop_abandoned_copy()
    with (
        os_errors_explained(),
        TemporaryDirectory() as directory,
        begin_change_in(session, directory, timeout) as change,
    ):
        if now == newest:
            # A killed update or `pipx upgrade` leaves the launcher old.
            if is_launcher(launcher):
                renew_own_files(launcher, change.messages.warn)
            return

        ask_to_continue(session, "Update?", yes, "nothing was changed")
        if clone:
            _update_clone(clone, session.layout, change)
        else:
            _update_package(session.layout, change)
        session.show_lines("updated")


def _versions(session: Session, clone: str, seconds: float) -> tuple[str, str]:
    """Return the installed version and the newest one, without changing anything.

    A program in a clone has the commit that was installed, which may not be the clone's HEAD; ""
    means that it is unknown. After a kill, the newest commit is installed, but HEAD is not there.
    """
    environ = session.environ
    if clone:
        git = Git(clone, environ, seconds)
        head = git("rev-parse", "HEAD").decode().strip()
        newest = newer_commit(git) or head

        now = installed_commit()
        if now == newest:
            now = head  # the files are old, so the update has to finish
        return now[:12], newest[:12]

    # The launcher skips `site`, without which the program's metadata may not be found.
    complete_import_path()
    now = str(importlib_metadata.version(OWN_DISTRIBUTION))
    newest = newest_version(Requirement(OWN_DISTRIBUTION), Installer(environ, seconds))
    if not newest:
        return now, now
    # An installed pre-release may be newer than the index.
    return now, max(now, newest, key=Version)


def _update_package(layout: Layout, change: Change) -> None:
    """Update an installed package: pip upgrades a copy of the environment, which is swapped in."""
    with copied_venv(change.messages.line) as copy:
        copy.install(change.installer, "--upgrade", OWN_DISTRIBUTION)
        check_starts(copy.python, "the new version")
        change.messages.debug("the new version is ready and now replaces the old one")
        with signals_blocked(), undoing() as undo:
            _swap_in(copy, [launcher_of(layout)], change, undo)


def _update_clone(clone: str, layout: Layout, change: Change) -> None:
    """Update a clone in which install.sh made a .venv.

    The new commit is installed into a copy of .venv; the copy is swapped in, then the files are
    fast-forwarded. If the process is killed in between, the new program runs with the old files
    until the next update, which also updates the files.
    """
    git = change.git(clone)
    _, old, new = fetch_newest(git)
    if old != new:
        check_fast_forward(git, old, new)

    with copied_venv(change.messages.line) as copy:
        sdist = os.path.join(change.area, "source.tar.gz")
        git("archive", "--prefix=source/", f"--output={sdist}", new)

        # The first call replaces the program even if its version is the same; the second
        # installs what the new version requires.
        change.messages.line("pip installs the new version")
        whole = ("--upgrade", "--force-reinstall", "--no-deps")
        copy.install(change.installer, *whole, sdist)
        copy.install(change.installer, sdist)
        check_starts(copy.python, "the new version")
        record_commit(copy.path, new)

        launchers = [launcher_of(layout)]
        for path in launchers_in(os.path.join(clone, "core")):
            if path not in launchers:
                launchers.append(path)
        with signals_blocked(), undoing() as undo:
            _swap_in(copy, launchers, change, undo)
            if old != new:
                fast_forward(git, old, new)


def _swap_in(
    copy: VenvCopy, launchers: list[str], change: Change, undo: ExitStack
) -> None:
    """Swap in the new environment, and make the new version update the launchers' own files.

    The new version is run as a command, because this version can rely only on the new one's command
    line, not on its Python code.
    If the process is killed, the next update finishes the work. Raises OSError or OperationError.
    """
    copy.swap(undo)

    for path in filter(is_launcher, launchers):
        with open(path, "rb") as file:
            undo.callback(write_file, path, file.read())

        argv = (sys.executable, "host", "--safe", "self", "launcher", path)
        warnings = run_python(*argv, failing=f"{path}: cannot be updated")
        for line in warnings.splitlines():
            change.messages.warn(line)

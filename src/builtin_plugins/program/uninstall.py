"""`self uninstall`: remove an installation, but keep the user's files."""

import glob
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from builtin_plugins.library.files.atomic import is_real_dir, remove_path
from builtin_plugins.program import completion_code, launcher
from builtin_plugins.program.origin import origin_of_program
from builtin_plugins.program.shells import SHELLS
from builtin_plugins.program.shipped_files import (
    TEAM_SOURCE,
    has_repository,
    shipped_files,
)
from builtin_plugins.self_commands.decorator import YES, argument, self_command
from host import OperationError
from host.caller import xdg_home
from host.launch.exclusive import locks_directory
from host.launch.history_record import history_path
from host.session.session import Session


@self_command(
    "uninstall",
    "Uninstall this installation; your commands stay",
    argument("--purge", "Also remove your commands, plugins, settings and history."),
    YES,
)
def uninstall(session: Session, purge: bool, yes: bool) -> None:
    """Remove the files of this installation that the program made, after asking you.

    Your commands, plugins, settings, history and files that you changed stay, unless you add
    --purge. The program itself stays, because other installations may use it; the command that
    removes it is printed.
    """
    root = session.layout.root
    program = session.program
    environ = session.environ

    if purge and has_repository(root):
        what = f"{root} is a git checkout; --purge could remove your work"
        raise OperationError(what, "remove the directory yourself")

    removed = _removed(session, purge=purge)
    siblings = launcher.usual_launchers(root, environ)
    completed = _completed_shells(program, siblings, environ)

    lines = ["will be removed:"]
    lines += [f"  {path}" for path in removed]
    for shell in completed:
        file = completion_code.start_up_file(shell, program, environ)
        lines.append(f"  the line in {file}")
    lines.append("will stay:")
    lines += _remaining(session, siblings, purge=purge)
    session.show_lines(*lines)

    question = f"Uninstall {program}?"
    session.ask_to_continue(question, yes, "nothing was removed", required=True)

    for shell in completed:
        completion_code.remove_completion(shell, program, environ)
    for shipped in shipped_files():  # an interrupted run may leave empty directories
        _remove_empty(os.path.join(root, shipped.relative.parent), root)
    for path in removed:
        if os.path.lexists(path):  # `path` may be in a directory that was removed
            remove_path(path)
        _remove_empty(os.path.dirname(path), root)
    session.show_lines(f"uninstalled {program}")


def _remaining(
    session: Session, siblings: Iterable[str], *, purge: bool
) -> Iterator[str]:
    """Yield a line for each thing that stays; `siblings` are the launchers of others."""
    root = session.layout.root
    yield f"  all other files in {root}"

    if not purge:
        how_to_remove = "; to remove it, add --purge"
        if has_repository(root):
            how_to_remove = ""
        for path in _recorded(session):
            yield f"  {path}: a record of runs{how_to_remove}"

    origin = origin_of_program(session.environ, launcher.launcher_of(session.layout))
    yield f"  {launcher.environment()}: the program; to remove it: {origin.removal}"
    for sibling in siblings:
        yield f"  {sibling}: another installation, which needs the program"


def _completed_shells(
    program: str, siblings: Iterable[str], environ: Mapping[str, str]
) -> list[str]:
    """Return the shells whose completion of the program goes with this installation.

    Completion stays if another installation has the same name; `siblings` are the others'
    launchers.
    """
    names = [os.path.basename(sibling) for sibling in siblings]
    if program in names:
        return []

    shells = []
    for shell in SHELLS:
        if completion_code.completes(shell, program, environ):
            shells.append(shell)
    return shells


def _removed(session: Session, *, purge: bool) -> list[str]:
    """Return the absolute paths of all files, links and directories to remove, in order.

    The launchers and cli.json come last, so that an interrupted run can be repeated.
    """
    installation = session.installation
    layout = session.layout

    written = [*installation.locks, *installation.indexes]
    written += map(installation.cache_path, ("catalogue", "news", "versions"))
    paths = [path for path in written if os.path.isfile(path)]
    paths += _unchanged(layout.root)
    if purge:
        paths += _recorded(session)
        paths += _purged(session)

    # The launcher of this call is the very last.
    of_this_call = launcher.launcher_of(layout)
    last = launcher.launchers_in(layout.core_dir)
    last.sort(key=lambda path: path == of_this_call)
    paths += _links(session.environ, last)

    config_file = os.path.join(layout.core_dir, "cli.json")
    if config_file in paths:
        last.append(config_file)

    distinct = dict.fromkeys(paths)
    first = [path for path in distinct if path not in last]
    return first + last


def _purged(session: Session) -> list[str]:
    """Return the user's directories that only --purge removes, and the content of `core`."""
    installation = session.installation
    layout = session.layout

    # cli.json may name directories of the user that are outside the installation.
    top = os.path.join(os.path.realpath(layout.root), "")
    paths = []
    for directory in (
        installation.commands_dir,
        installation.plugins_dir,
        layout.config_dir,
    ):
        if not os.path.realpath(directory).startswith(top):
            continue
        if is_real_dir(directory):
            paths.append(directory)

    if is_real_dir(layout.core_dir):
        names = os.listdir(layout.core_dir)
        paths += [os.path.join(layout.core_dir, name) for name in names]
    return paths


def _recorded(session: Session) -> list[str]:
    """Return the files of the installation's history, and the directory of its locks."""
    state = xdg_home(session.environ, "STATE")
    root = session.layout.root
    history = glob.escape(history_path(state, root))
    paths = sorted(glob.glob(f"{history}*"))

    locks = locks_directory(state, root)
    if is_real_dir(locks):
        paths.append(locks)
    return paths


def _unchanged(root: str) -> Iterator[str]:
    """Yield the shipped files that the user did not change; in a checkout, yield nothing."""
    if has_repository(root):
        return

    for file in shipped_files():
        path = os.path.join(root, file.relative)
        if not os.path.lexists(path) or _is_in_link(path):
            continue
        if not file.is_same_in(root):
            continue
        if not os.path.samefile(path, file.original):
            yield path

    record = os.path.join(root, TEAM_SOURCE)
    if os.path.isfile(record) and not _is_in_link(record):
        yield record


def _is_in_link(path: str) -> bool:
    """Return whether a file's directory is linked, and so may be outside the installation."""
    return os.path.islink(os.path.dirname(path))


def _links(environ: Mapping[str, str], launchers: list[str]) -> Iterator[str]:
    """Yield the links on PATH to the launchers, and the man pages that install.sh made."""
    targets = {os.path.realpath(path) for path in launchers}
    for link, target in launcher.links_on_path(environ).items():
        if target not in targets:
            continue
        yield link

        # install.sh puts the page beside the directory of the link, or below ~/.local.
        name = f"{os.path.basename(link)}.1"
        above = os.path.dirname(os.path.dirname(link))
        for directory in (above, os.path.join(above, ".local")):
            page = os.path.join(directory, "share/man/man1", name)
            if not os.path.islink(page):
                continue
            if os.readlink(page).startswith(f"{launcher.environment()}/"):
                yield page


def _remove_empty(directory: str, root: str) -> None:
    """Remove a directory if it is empty, then the empty directories above it in `root`."""
    with suppress(OSError):
        while f"{directory}/".startswith(f"{root}/"):
            with suppress(FileNotFoundError):
                os.rmdir(directory)
            directory = os.path.dirname(directory)

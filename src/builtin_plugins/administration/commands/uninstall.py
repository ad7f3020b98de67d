"""`self uninstall`: remove an installation, but keep the user's files."""

import glob
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress

from builtin_plugins.administration.commands import completion
from builtin_plugins.administration.declared import YES, argument, self_command
from builtin_plugins.administration.program import launcher
from builtin_plugins.administration.program.shipped_files import (
    HASHES,
    TEAM_SOURCE,
    shipped_files,
)
from builtin_plugins.administration.questions import ask_to_continue
from builtin_plugins.administration.shells import SHELLS
from builtin_plugins.io.files.atomic import is_real_dir, remove_path
from host import OperationError
from host.cli.session import Session
from host.run.caller import xdg_home
from host.run.exclusive import lock_path
from host.run.history import history_path


@self_command(
    "uninstall",
    "Uninstall this installation; your commands stay",
    argument("--purge", "Also remove your commands, plugins, settings and history."),
    YES,
)
def uninstall(session: Session, purge: bool, yes: bool) -> None:
    """Remove the files of this installation that the program made, after asking you.

    Your commands, plugins, settings, history and files that you changed stay, unless you add
    --purge. The Python environment stays, because other installations may use it.
    """
    root, program, environ = session.layout.root, session.program, session.environ
    is_checkout = os.path.lexists(os.path.join(root, ".git"))
    if purge and is_checkout:
        raise OperationError(
            f"{root} is a git checkout; --purge could remove your work",
            "remove the directory yourself",
        )
    removed = _removed(session, purge=purge)
    recorded = [] if purge else _recorded(session)
    how_to_remove = "" if is_checkout else "; to remove it, add --purge"
    siblings = launcher.usual_launchers(root, environ)
    shells = () if program in map(os.path.basename, siblings) else tuple(SHELLS)
    completed = [
        shell for shell in shells if completion.completes(shell, program, environ)
    ]
    session.show_lines(
        "will be removed:",
        *(f"  {path}" for path in removed),
        *(
            f"  the line in {completion.start_up_file(shell, program, environ)}"
            for shell in completed
        ),
        "will stay:",
        f"  all other files in {root}",
        *(f"  {path}: a record of runs{how_to_remove}" for path in recorded),
        f"  {sys.prefix}: the Python environment; remove it if nothing else uses it",
        *(
            f"  {sibling}: another installation, which uses this environment"
            for sibling in siblings
        ),
    )
    ask_to_continue(
        session, f"Uninstall {program}?", yes, "nothing was removed", required=True
    )
    for shell in completed:
        completion.remove_completion(shell, program, environ)
    for file in shipped_files():  # an interrupted run may leave empty directories
        _remove_empty(os.path.join(root, file.relative.parent), root)
    for path in removed:
        if os.path.lexists(path):  # `path` may be in a directory that was removed
            remove_path(path)
        _remove_empty(os.path.dirname(path), root)
    session.show_lines(f"uninstalled {program}")


def _removed(session: Session, *, purge: bool) -> list[str]:
    """Return the absolute paths of all files, links and directories to remove, in order.

    The launchers and cli.json come last, so that an interrupted run can be repeated.
    """
    installation, layout = session.installation, session.layout
    launchers = sorted(
        launcher.launchers_in(layout.core_dir), key=launcher.launcher_of(layout).__eq__
    )
    made = [*installation.locks, *installation.indexes]
    made += map(installation.cache_path, ("catalogue", "news", "versions"))
    paths = [path for path in made if os.path.isfile(path)]
    paths += _unchanged(layout.root)
    if purge:
        paths += _recorded(session)
        directories = (
            installation.commands_dir,
            installation.plugins_dir,
            layout.config_dir,
        )
        top = os.path.join(os.path.realpath(layout.root), "")
        paths += [
            directory
            for directory in directories
            if is_real_dir(directory) and os.path.realpath(directory).startswith(top)
        ]
        if is_real_dir(layout.core_dir):
            paths += [
                os.path.join(layout.core_dir, name)
                for name in os.listdir(layout.core_dir)
            ]
    paths += _links(session.environ, launchers)
    config_file = os.path.join(layout.core_dir, "cli.json")
    last = [*launchers, config_file] if config_file in paths else launchers
    return [*(path for path in dict.fromkeys(paths) if path not in last), *last]


def _recorded(session: Session) -> list[str]:
    """Return the files of the installation's history, and the directory of its locks."""
    state, root = xdg_home(session.environ, "STATE"), session.layout.root
    history = glob.glob(f"{glob.escape(history_path(state, root))}.*")
    locks = os.path.dirname(lock_path(state, root, "any"))
    return [*sorted(history), *([locks] if is_real_dir(locks) else [])]


def _unchanged(root: str) -> Iterator[str]:
    """Yield the shipped files that the user did not change; in a checkout, yield nothing."""
    if os.path.lexists(os.path.join(root, ".git")):
        return
    for file in shipped_files():
        path = os.path.join(root, file.relative)
        linked = os.path.islink(
            os.path.dirname(path)
        )  # the link may leave the installation
        ours = not linked and os.path.lexists(path) and file.state_in(root) != "changed"
        if ours and not os.path.samefile(path, file.original):
            yield path
    for path in (os.path.join(root, name) for name in (HASHES, TEAM_SOURCE)):
        if os.path.isfile(path) and not os.path.islink(os.path.dirname(path)):
            yield path


def _links(environ: Mapping[str, str], launchers: list[str]) -> Iterator[str]:
    """Yield the links on PATH to the launchers, and the man pages that install.sh made."""
    real = {*map(os.path.realpath, launchers)}
    for link, target in launcher.links_on_path(environ).items():
        if target in real:
            yield link
            above = os.path.dirname(os.path.dirname(link))
            for directory in (above, os.path.join(above, ".local")):
                page = os.path.join(
                    directory, "share/man/man1", f"{os.path.basename(link)}.1"
                )
                if os.path.islink(page) and os.readlink(page).startswith(
                    f"{sys.prefix}/"
                ):
                    yield page


def _remove_empty(directory: str, root: str) -> None:
    """Remove a directory if it is empty, then the empty directories above it in `root`."""
    with suppress(OSError):
        while f"{directory}/".startswith(f"{root}/"):
            with suppress(FileNotFoundError):
                os.rmdir(directory)
            directory = os.path.dirname(directory)

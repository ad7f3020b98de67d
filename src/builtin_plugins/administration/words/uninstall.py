"""`self uninstall`: takes an installation away, and leaves what is its user's."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress

from builtin_plugins.administration.program.environment.installations import (
    launchers_in,
    links_on_path,
    usual_launchers,
)
from builtin_plugins.administration.program.launcher import launcher_of
from builtin_plugins.administration.program.shipped_files import RECORD, shipped_files
from builtin_plugins.administration.questions import confirm
from builtin_plugins.administration.words import completion
from builtin_plugins.io.files.atomic import is_tree, remove_tree
from builtin_plugins.io.files.undo import os_errors_explained
from host import OperationError, printable
from host.cli.session import Session
from host.run.confirm import is_attended


def command(session: Session, purge: bool, yes: bool) -> None:
    """Take this installation away, after asking: what the program made, unchanged.

    Your commands, plugins, settings and what you changed stay, unless --purge. The Python
    environment stays, as other installations may run by it.
    """
    if purge and os.path.lexists(os.path.join(session.layout.root, ".git")):
        raise OperationError(
            f"{session.layout.root} is a git checkout; --purge could remove work of yours",
            "remove the directory yourself",
        )
    goes = _removed(session, purge=purge)
    siblings = usual_launchers(session.layout.root, session.environ)
    stays = [*_staying(session, goes)]
    stays += [f"{one}: another installation, which runs by that environment" for one in siblings]
    completed = _completed(session, stays_too=siblings)
    session.show_lines("goes:", *(f"  {path}" for path in goes))
    session.show_lines(*(f"  {file}: what completes in {one}" for one, file in completed.items()))
    session.show_lines("stays:", *(f"  {line}" for line in stays))
    if not (yes or is_attended()):
        raise OperationError("nobody is here to be asked; nothing was removed", "add --yes")
    confirm(f"Uninstall {printable(session.program)}?", yes, "stays as it is")
    with os_errors_explained():
        for shell in completed:
            completion.complete_in(shell, session.program, session.environ, present=False)
        root = session.layout.root
        for file in shipped_files():  # an interrupted run leaves directories that it emptied
            _remove_empty(os.path.join(root, file.relative.parent), root)
        for path in goes:
            if os.path.lexists(path):  # not one inside another
                remove_tree(path)
            _remove_empty(os.path.dirname(path), root)
    session.show_lines(f"{session.program} is uninstalled")


def _removed(session: Session, *, purge: bool) -> list[str]:
    """Return the files, links and directories that go, absolute, in the order in which they do.

    The launchers and then cli.json go last: an interrupted run can be started again.
    """
    installation, layout = session.installation, session.layout
    launchers = launchers_in(layout.core_dir)
    launchers.sort(key=launcher_of(layout).__eq__)
    files = [path for path in (*installation.locks, *installation.indexes) if os.path.isfile(path)]
    files += _unchanged(layout.root)
    trees: list[str] = []
    if purge:
        root = os.path.realpath(layout.root) + os.sep
        own = (layout.config_dir, installation.commands_dir, installation.plugins_dir)
        for path in own:
            inside = os.path.realpath(path).startswith(root)
            if inside and is_tree(path):
                trees.append(path)
        if os.path.realpath(layout.core_dir).startswith(root) and is_tree(layout.core_dir):
            names = sorted(os.listdir(layout.core_dir))
            trees += (os.path.join(layout.core_dir, name) for name in names)
        files = [one for one in files if not one.startswith(tuple(f"{tree}/" for tree in trees))]
    goes = [*files, *trees, *_links(session, launchers), *launchers]
    config_file = os.path.join(layout.core_dir, "cli.json")
    last = [*launchers, config_file] if config_file in goes else launchers
    return [*(path for path in goes if path not in last), *last]


def _unchanged(root: str) -> Iterator[str]:
    """Yield the files that are as they were shipped; of a checkout none, it is the source."""
    if os.path.lexists(os.path.join(root, ".git")):
        return
    for file in shipped_files():
        path = os.path.join(root, file.relative)
        if os.path.islink(os.path.dirname(path)):
            continue  # it is somewhere else's
        ours = file.became(root) in ("same", "former")
        if ours and not os.path.samefile(path, file.source):
            yield path
    record = os.path.join(root, RECORD)
    if os.path.isfile(record) and not os.path.islink(os.path.dirname(record)):
        yield record


def _links(session: Session, launchers: list[str]) -> Iterator[str]:
    """Yield the links on PATH that lead to one of the launchers."""
    real = {os.path.realpath(one) for one in launchers}
    for link, target in links_on_path(session.environ).items():
        if target in real:
            yield link
            yield from _man_page(link)


def _man_page(link: str) -> Iterator[str]:
    """Yield the link to this environment's man page that install.sh made beside one on PATH."""
    above = os.path.dirname(os.path.dirname(link))
    for place in (above, os.path.join(above, ".local")):
        page = os.path.join(place, "share/man/man1", f"{os.path.basename(link)}.1")
        if os.path.islink(page) and os.readlink(page).startswith(f"{sys.prefix}/"):
            yield page


def _staying(session: Session, goes: list[str]) -> Iterator[str]:
    """Yield what stays, in words: the user's own, the environment."""
    installation, layout = session.installation, session.layout
    own = (installation.commands_dir, installation.plugins_dir, layout.config_dir, layout.core_dir)
    for path in own:
        if path not in goes and _has_more(path, goes):
            yield f"{path}: what is yours there"
    yield f"{sys.prefix}: the Python environment; remove it when nothing else runs by it"


def _completed(session: Session, stays_too: list[str]) -> dict[str, str]:
    """Return the shells that complete the program's words, each with its start-up file.

    None where another installation of the same name stays: the words are its, too.
    """
    program, environ = session.program, session.environ
    if program in map(os.path.basename, stays_too):
        return {}
    return {
        shell: completion.start_up_file(shell, program, environ)
        for shell in completion.SHELLS
        if completion.completes(shell, program, environ)
    }


def _has_more(directory: str, goes: list[str]) -> bool:
    """Check whether a directory holds files or links that are neither in `goes` nor below it."""
    for place, inner, names in os.walk(directory):
        inner[:] = [name for name in inner if os.path.join(place, name) not in goes]
        paths = [os.path.join(place, name) for name in (*names, *inner)]
        if any(path not in goes and not is_tree(path) for path in paths):
            return True
    return False


def _remove_empty(directory: str, root: str) -> None:
    """Remove a directory if it is empty or gone, then in the same way those above it in `root`."""
    with suppress(OSError):
        while f"{directory}/".startswith(f"{root}/"):
            with suppress(FileNotFoundError):
                os.rmdir(directory)
            directory = os.path.dirname(directory)

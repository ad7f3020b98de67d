"""`self uninstall`: takes an installation away, and leaves what is its user's."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from glob import escape, glob

from builtin_plugins.administration.program.environment.installations import (
    is_launcher,
    launchers_in,
)
from builtin_plugins.administration.program.launcher import links_on_path
from builtin_plugins.administration.program.shipped_files import shipped_files
from builtin_plugins.administration.words import completion
from builtin_plugins.io.asking import confirm, is_attended
from builtin_plugins.io.files.atomic import is_tree, remove_tree
from builtin_plugins.io.files.undo import explained
from host import OperationError, printable
from host.cli.session import Session
from host.run.installation import data_home


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
    siblings = _siblings(session, session.layout.root)
    stays = [*_staying(session, goes)]
    stays += [f"{one}: another installation, which runs by that environment" for one in siblings]
    completed = _completed(session, stays_too=siblings)
    session.show_lines("goes:", *(f"  {path}" for path in goes))
    session.show_lines(*(f"  {file}: what completes in {one}" for one, file in completed.items()))
    session.show_lines("stays:", *(f"  {line}" for line in stays))
    if not (yes or is_attended()):
        raise OperationError("nobody is here to be asked; nothing was removed", "add --yes")
    confirm(f"Uninstall {printable(session.program)}?", yes, "stays as it is")
    with explained():
        for shell in completed:
            completion.complete_in(shell, session.program, session.environ, present=False)
        for path in goes:
            _remove(path, session.layout.root)
    session.show_lines(f"{session.program} is uninstalled")


def _removed(session: Session, *, purge: bool) -> list[str]:
    """Return the files, links and directories that go, absolute, in the order in which they do.

    Launchers are the last, so that what was interrupted can be called again.
    """
    installation, layout = session.installation, session.layout
    launchers = launchers_in(layout.core_dir)
    files = [path for path in (*installation.locks, *installation.indexes) if os.path.isfile(path)]
    files += _unchanged(layout.root)
    trees: list[str] = []
    if purge:
        root = os.path.realpath(layout.root) + os.sep
        own = (layout.config_dir, installation.commands_dir, installation.plugins_dir)
        for path in (*own, layout.core_dir):
            inside = os.path.realpath(path).startswith(root)
            if inside and is_tree(path):
                trees.append(path)
        files = [one for one in files if not one.startswith(tuple(f"{tree}/" for tree in trees))]
    return [*_links(session, launchers), *files, *trees, *launchers]


def _unchanged(root: str) -> Iterator[str]:
    """Yield the files that are as they were shipped; of a checkout none, it is the source."""
    if os.path.lexists(os.path.join(root, ".git")):
        return
    for file in shipped_files():
        path = os.path.join(root, file.relative)
        if os.path.islink(os.path.dirname(path)):
            continue  # it is somewhere else's
        if file.became(root) == "same" and not os.path.samefile(path, file.source):
            yield path


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


def _has_more(directory: str, files: list[str]) -> bool:
    """Tell whether a directory holds anything but `files`."""
    return any(
        os.path.join(place, name) not in files
        for place, inner, names in os.walk(directory)
        for name in [*names, *(one for one in inner if os.path.islink(os.path.join(place, one)))]
    )


def _siblings(session: Session, root: str) -> list[str]:
    """Return other launchers of this environment: on PATH, and where installations usually are."""
    usual = glob(os.path.join(escape(data_home(session.environ)), "*", "core", "*"))
    found = {*map(os.path.realpath, usual), *links_on_path(session.environ).values()}
    own = os.path.realpath(root) + os.sep
    return sorted(path for path in found if not path.startswith(own) and is_launcher(path))


def _remove(path: str, root: str) -> None:
    """Remove a file, link or directory, and those above it in `root` that are empty then."""
    if os.path.lexists(path):  # not one inside another
        remove_tree(path)
    above = os.path.dirname(path)
    with suppress(OSError):
        while f"{above}/".startswith(f"{root}/"):
            os.rmdir(above)
            above = os.path.dirname(above)

"""The words of commands in one tree, told from names alone: fast for thousands."""

import os

from host import DefinitionError
from host.run.definition import is_word, read_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def command_words(tree: str) -> "Iterator[tuple[str, ...]]":
    """Yield the words of each command below `tree`, in no order.

    A directory with a command.json counts as a command unless it holds directories;
    then its command.json decides. A link is followed, but no link below it.
    """
    pending: list[tuple[str, tuple[str, ...], bool]] = [(tree, (), False)]
    while pending:
        path, words, linked = pending.pop()
        directories: list[tuple[str, tuple[str, ...], bool]] = []
        has_command = False
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    name = entry.name
                    if name == "command.json":
                        has_command = True
                    elif is_word(name) and not name.endswith((".json", ".sh")) and entry.is_dir():
                        link = entry.is_symlink()
                        if not (link and linked):
                            directories.append((entry.path, (*words, name), linked or link))
        except OSError:
            continue
        if has_command and (not directories or _is_command(path)):
            if words:
                yield words
        else:
            pending += directories


def first_words(tree: str) -> list[str]:
    """Return the words that `tree` adds at the top, sorted."""
    try:
        with os.scandir(tree) as entries:
            return sorted(one.name for one in entries if is_word(one.name) and one.is_dir())
    except OSError:
        return []


def _is_command(path: str) -> bool:
    try:
        return bool(read_command(os.path.join(path, "command.json")).entrypoint)
    except (DefinitionError, FileNotFoundError):
        return True

"""Which directories in a tree can be categories or commands: any depth, no recursion."""

import os

from host.run.definition import is_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_LONGEST_SHOWN = 400  # characters of a path


class Subdirectory:
    """A directory whose name is a word; `linked` when it is a symbolic link."""

    __slots__ = ("linked", "path", "word")

    def __init__(self, word: str, path: str, linked: bool) -> None:
        self.word = word
        self.path = path
        self.linked = linked


def subdirectories(
    path: str,
    within_link: bool = False,
    warn: "Callable[[str], None] | None" = None,
    *,
    names: bool = True,
) -> list[Subdirectory]:
    """Return the directories in `path` that can be categories or commands, sorted by word.

    A link is followed, but no link below one that was (`within_link`), so loops end.
    Names that start with a dot, and `__pycache__`, are passed over. What cannot be read
    is told to `warn`; with `names` so is a name that is no word.
    """
    found = []
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.name.startswith((".", "__")) or not _is_directory(entry):
                    continue
                linked = entry.is_symlink()
                if is_word(entry.name):
                    if not (linked and within_link):
                        found.append(Subdirectory(entry.name, entry.path, linked))
                elif names and warn is not None:
                    warn(
                        f"{entry.path}: left out; a word has letters, digits and ._- after a "
                        "first letter or digit, at most 64 in all"
                    )
    except OSError as failure:
        if warn is not None:
            warn(f"{_shortened(path)}: {failure.strerror}")
    found.sort(key=_word)
    return found


def holds_commands(path: str) -> bool:
    """Tell whether a directory is a category: it says so itself or holds a command somewhere."""
    return bool(first_definition(path))


def first_definition(path: str, warn: "Callable[[str], None] | None" = None) -> str:
    """Return the directory of the first definition at or below `path` that makes it a category.

    That is `path` itself with a category.json, else the first with a command.json;
    "" when there is none. What cannot be looked into is told to `warn`.
    """
    if os.path.isfile(os.path.join(path, "category.json")):
        return path
    pending = [(path, os.path.islink(path))]
    while pending:
        directory, linked = pending.pop()
        if os.path.isfile(os.path.join(directory, "command.json")):
            return directory
        inside = subdirectories(directory, linked, warn, names=False)
        pending += [(inner.path, linked or inner.linked) for inner in inside]
    return ""


def _shortened(path: str) -> str:
    """Return a path to show; one that is too long for the system is too long for a line."""
    if len(path) <= _LONGEST_SHOWN:
        return path
    return f"{path[:_LONGEST_SHOWN]}… ({len(path)} characters)"


def _is_directory(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link that loops


def _word(found: Subdirectory) -> str:
    return found.word

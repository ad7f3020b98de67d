"""The key `path`: folders that a run appends to PATH, so that scripts find their neighbours.

A run loads this module only if the definition of its command, a file above it or its plugin has the
key. The caller's PATH stays in front, so each program that the caller finds is still found.
"""

from host.errors import DefinitionError, Problem
from host.files.paths import is_inside, join, realpath
from host.processes.programs import DEFAULT_PATH
from host.record_base import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from host.catalog.definition import Definition


class PathFolder(Record):
    """A folder to append to PATH, and the `source` that names it, for messages."""

    path: str
    source: str


def check_folders(definition: "Definition") -> list[PathFolder]:
    """Return the folders that a run of the command appends to PATH, the nearest first.

    Raises DefinitionError if a folder is outside the plugin, project or installation, even through
    a link.
    """
    folders = []
    for level in reversed(definition.chain):
        for folder in level.path:
            path = join(level.directory, folder)
            folders.append(_checked(path, folder, level.file, level.roots))

    for path in definition.plugin_path:
        root = definition.plugin_root
        folders.append(_checked(path, path, root, [root]))
    return folders


def _checked(path: str, folder: str, file: str, roots: "Iterable[str]") -> PathFolder:
    """Return the folder at `path`, as `folder` in `file` names it. Raises DefinitionError."""
    real = realpath(path)
    if not _is_in_one_of(roots, real):
        what = f"{folder} leads to {real}, which is outside the plugin, project or installation"
        raise DefinitionError(Problem(file, what, key="path"))
    if ":" in real:
        what = f"{real} contains a colon, which separates the folders in PATH"
        raise DefinitionError(Problem(file, what, "rename that folder", key="path"))
    return PathFolder(real, f"{file}: path")


def _is_in_one_of(roots: "Iterable[str]", real: str) -> bool:
    for root in roots:
        if is_inside(real, realpath(root)):
            return True
    return False


def append_folders(
    value: str | None, folders: "Sequence[PathFolder]"
) -> tuple[str, list[str]]:
    """Return the value of PATH with these folders at the end, and the folders that were added.

    Without a value, the system's default path comes first. No folder is added twice.
    """
    if value is None:
        value = DEFAULT_PATH
    known = value.split(":")
    added: list[str] = []
    for folder in folders:
        if folder.path not in known:
            known.append(folder.path)
            added.append(folder.path)
    return ":".join([value, *added]), added


def remove_folders(value: str, added: "Iterable[str]") -> str:
    """Return the value of PATH without the folders that an outer run has appended."""
    parts = value.split(":")
    for folder in added:
        if folder in parts:
            # The script may have put the folder first itself, so the last one is removed.
            from_end = parts[::-1].index(folder)
            del parts[-1 - from_end]
    return ":".join(parts)

"""The skills of plugins: texts for assistants, in `skills/NAME/SKILL.md` of a plugin's folder."""

from __future__ import annotations

import os

from host.errors import OperationError, Problem
from host.files.paths import is_inside, read_regular, realpath
from host.record_base import CommandTree
from host.records import Skill
from host.words import is_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from host.messages import Messages

_LARGEST = 64 << 10  # bytes of a SKILL.md
_DESCRIPTION = "description:"
_BLOCK_STYLES = "|>+-"  # of YAML, for a text on the lines below the key


def find_skills(trees: Iterable[CommandTree], messages: Messages) -> list[Skill]:
    """Return the skills of the plugins with these trees; of one name, the first.

    A file that leads out of the plugin's folder, or is too large, is a warning.
    """
    found: dict[str, Skill] = {}
    for tree in trees:
        if not tree.plugin:
            continue  # the installation itself
        root = realpath(tree.root or tree.path)
        for name, file in _files(root):
            if name in found:
                continue
            try:
                text = _content(file, root)
            except FileNotFoundError:
                continue
            except OperationError as error:
                messages.warn(str(error))
                continue
            found[name] = Skill(name, _described(text), tree.plugin, text)
    return list(found.values())


def skill_names(root: str) -> list[str]:
    """Return the names of the skills in the plugin's folder `root`, which is "" for a package."""
    if not root:
        return []  # "skills" would be a folder of the current directory
    return [name for name, file in _files(root) if os.path.isfile(file)]


def _files(root: str) -> Iterator[tuple[str, str]]:
    folder = os.path.join(root, "skills")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return  # most plugins have none
    for name in names:
        if is_word(name):
            yield name, os.path.join(folder, name, "SKILL.md")


def _content(file: str, root: str) -> str:
    target = realpath(file)
    if not is_inside(target, root):
        raise OperationError(
            Problem(file, f"leads out of the plugin's folder: {target}")
        )
    return read_regular(target, OperationError, _LARGEST).decode("utf-8", "replace")


def _described(text: str) -> str:
    """Return the description in the front matter, on one line, or ""."""
    lines = iter(text.split("\n"))
    if next(lines).rstrip() != "---":
        return ""
    for line in lines:
        if line.rstrip() == "---":
            break
        if line.startswith(_DESCRIPTION):
            first = line.removeprefix(_DESCRIPTION).strip()
            if not first.strip(_BLOCK_STYLES):
                first = ""
            words = [first.strip("\"'"), *_indented(lines)]
            return " ".join(filter(None, words))
    return ""


def _indented(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if line.strip() and not line.startswith((" ", "\t")):
            return
        yield line.strip()

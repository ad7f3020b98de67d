"""What may follow `self …`, from a table of its words: click is not loaded for a Tab.

The table, completion_table.json, is made by testing.completion_table from the commands.
"""

import os

from host.run.json_files import read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

_HELP = ("--help", "Show this message and exit.")


def complete(
    words: "Sequence[str]", current: str, installation: "Any", lock: "Any"
) -> "tuple[Iterable[tuple[str, str]], str]":
    """Return candidates with descriptions, and which paths to offer beside.

    `words` begin with the one after `self`. The table has for the words of each command
    its options (with their values) and what its arguments are.
    """
    table = read_json(os.path.join(os.path.dirname(__file__), "completion_table.json"))
    depth = 2 if " ".join(words[:2]) in table else 1
    path, rest = " ".join(words[:depth]), words[depth:]
    entry = table[path]
    values = entry["options"].get(rest[-1], {}).get("values") if rest else None
    if values is not None:
        return _named(values, (), installation, lock)
    if current.startswith("-"):
        options = [(name, one["help"]) for name, one in entry["options"].items()]
        return [*options, _HELP], "none"
    below = [one for one in table if one.startswith(f"{path} ")]
    if below:
        return [(one.rpartition(" ")[2], table[one]["help"]) for one in below], "none"
    given = [word for word in rest if not word.startswith("-")]
    return _named(entry["words"], given, installation, lock)


def _named(
    kind: "Any", given: "Sequence[str]", installation: "Any", lock: "Any"
) -> "tuple[Iterable[tuple[str, str]], str]":
    """Return what a value or an argument of that kind can be."""
    if isinstance(kind, list):
        return [(one, "") for one in kind], "none"
    if kind == "plugins":
        return [(name, "") for name in _plugins(installation.plugins_dir)], "none"
    if kind == "commands":
        from host.cli.completion import complete_words

        found = complete_words(list(given), "", installation, lock)
        return [one for one in found.candidates if one[0] not in ("self", "help")], "none"
    return [], kind


def _plugins(plugins_dir: str) -> list[str]:
    """Return the names in the registry, and of directories that it does not have yet."""
    from host import HostError

    names = set()
    try:
        values = read_json(os.path.join(plugins_dir, "registry.json"))
        names = {str(one["name"]) for one in values["plugins"]}
    except (HostError, OSError, LookupError, TypeError):
        pass  # the directories are there all the same
    try:
        names |= {one for one in os.listdir(plugins_dir) if "." not in one}
    except OSError:
        pass
    return sorted(names)

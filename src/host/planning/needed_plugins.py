"""Which plugins a run has to ask where no lock can be written that would remember the rest."""

from __future__ import annotations

import re

from host.errors import DefinitionError
from host.planning.loading import MOST_FILES, source_files
from host.run.locate import locate, roots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from host.run.lock import Plugin, Tree

_FROM_ELSEWHERE = re.compile(rb"\bimport\s*\*")


def serving(plugins: Iterable[Plugin], words: Sequence[str], trees: Sequence[Tree]) -> list[Plugin]:
    """Return the plugins that may have a say in the run of `words`.

    Where `trees`, which go before those of other plugins, have the command, only
    variables are left to be asked for, or a place before them all.
    """
    names = [b"env_sources", b"tryfirst"]
    try:
        found = locate(words, roots(trees))
    except DefinitionError:
        return list(plugins)
    if found.kind == "command" and not found.plugin:
        names.remove(b"tryfirst")  # nothing goes before the installation's own
    elif found.kind != "command":
        names.append(b"discover_commands")
    return [one for one in plugins if _may_have(one, names)]


def _may_have(plugin: Plugin, names: Iterable[bytes]) -> bool:
    """Tell whether a plugin may have one of these hooks; a hook is found by its name.

    It has none where all its source was looked at and neither names one nor takes over
    whatever another package has.
    """
    paths = source_files(plugin)
    if not paths or len(paths) > MOST_FILES or ":" in plugin.reference:
        return True
    for path in paths:
        try:
            with open(path, "rb") as file:
                text = file.read()
        except IsADirectoryError:
            continue
        except OSError:
            return True
        if _FROM_ELSEWHERE.search(text) or any(name in text for name in names):
            return True
    return False

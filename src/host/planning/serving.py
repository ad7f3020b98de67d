"""Which plugins a run has to ask where no lock can be written that would remember the rest."""

from __future__ import annotations

from host.errors import DefinitionError
from host.planning.loading import source_files
from host.run.locate import locate, roots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from host.run.lock import Plugin, Tree


def serving(plugins: Iterable[Plugin], words: Sequence[str], trees: Sequence[Tree]) -> list[Plugin]:
    """Return the plugins that may have a say in the run of `words`.

    One whose source files do not name a hook has none of it: a hook is found by its
    name. Where `trees`, which go before those of other plugins, have the command, only
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
    return [one for one in plugins if _names(one, names)]


def _names(plugin: Plugin, names: Iterable[bytes]) -> bool:
    texts = []
    for path in source_files(plugin):
        try:
            with open(path, "rb") as file:
                texts.append(file.read())
        except OSError:
            continue  # a directory, or gone
    return not texts or any(name in text for text in texts for name in names)

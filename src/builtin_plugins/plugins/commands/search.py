"""`self plugin search`."""

from collections.abc import Iterable

from builtin_plugins.plugins.team_catalogue import (
    ListedPlugin,
    fetch_catalogues,
)
from builtin_plugins.self_commands.decorator import (
    FORMAT,
    TIMEOUT,
    argument,
    self_command,
)
from host import OperationError, masked_text
from host.session.session import Session
from host.text_width import table_lines

_HEADER = ("NAME", "VERSION", "OWNER", "DESCRIPTION")


@self_command(
    "plugin search",
    "Find plugins to add, in your team's catalogues",
    argument("text...", complete="none"),
    FORMAT,
    TIMEOUT,
)
def plugin_search(
    session: Session, text: tuple[str, ...], format: str, timeout: float
) -> None:
    """Find plugins with TEXT in their name, description, owner or source.

    If TEXT has several words, all of them must match; case is ignored. Without TEXT, all
    plugins are shown. A plugin whose version is shown as - cannot be added by name.
    """
    if not session.installation.config.catalogues:
        what = f"{session.layout.config_file}: no catalogue is configured"
        add = 'add "team": {"catalogue": ["https://…/catalogue.json"]}'
        raise OperationError(what, add)

    listed = fetch_catalogues(session, timeout).values()
    matches = _matching(listed, text)
    if text and not matches:
        what = f"no plugin in a catalogue matches {' and '.join(text)}"
        see = f"to see all: {session.program} self plugin search"
        raise OperationError(what, see)

    if format == "json":
        shown = []
        for plugin in matches:
            source = masked_text(plugin.source)  # an address may contain a login
            shown.append({**plugin._asdict(), "source": source})
        session.show_json({"plugins": shown})
        return

    rows = []
    for plugin in matches:
        version = plugin.ref or plugin.sha256[:12] or "-"
        owner = plugin.owner or "-"
        rows.append((plugin.name, version, owner, plugin.description))
    session.show_lines(*table_lines([_HEADER, *rows]))


def _matching(
    plugins: Iterable[ListedPlugin], text: Iterable[str]
) -> list[ListedPlugin]:
    """Return the plugins that have every word of `text` in one of their texts."""
    words = [word.casefold() for word in text]
    matches = []
    for plugin in plugins:
        described = " ".join(plugin).casefold()
        if all(word in described for word in words):
            matches.append(plugin)
    return matches

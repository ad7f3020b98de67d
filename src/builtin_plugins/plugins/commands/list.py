"""`self plugin list`."""

from collections.abc import Iterator

from builtin_plugins.plugins.inventory import KnownPlugin, inventory
from builtin_plugins.self_commands.decorator import FORMAT, self_command
from host import masked_text
from host.session.session import Session
from host.text_width import table_lines

_MOST_WORDS = 5
_HEADER = ("NAME", "VERSION", "KIND", "STATE", "WORDS", "SOURCE")


@self_command(
    "plugin list",
    "List all plugins",
    FORMAT,
    synonyms=("plugins", "plugin ls"),
)
def plugin_list(session: Session, format: str) -> None:
    """List all plugins of every kind.

    The text shows the first word of each command; JSON has all commands in full.
    """
    plugins = inventory(session)
    if format == "json":
        described = [plugin.described() for plugin in plugins]
        session.show_json({"plugins": described})
        return
    if not plugins:
        add = f"{session.program} self plugin add SOURCE"
        session.show_lines(f"no plugins yet; add one with: {add}")
        return

    rows = [_cells(plugin) for plugin in plugins]
    header, *lines = table_lines([_HEADER, *rows])
    session.show_lines(header, *_with_reasons(lines, plugins))


def _with_reasons(lines: list[str], plugins: list[KnownPlugin]) -> Iterator[str]:
    """Yield each plugin's line, and below it the reason for its state, if any."""
    for line, plugin in zip(lines, plugins, strict=True):
        yield line
        if plugin.reason:
            yield f"    {plugin.reason}"


def _cells(plugin: KnownPlugin) -> tuple[str, ...]:
    entry = plugin.entry
    version = entry.version or entry.origin[:12] or "-"
    words = plugin.words
    shown = words[:_MOST_WORDS]
    if len(words) > _MOST_WORDS:
        shown.append(f"{len(words) - _MOST_WORDS} more")

    return (
        entry.name,
        version,
        plugin.kind_text,
        plugin.state_text,
        ", ".join(shown) or "-",
        masked_text(entry.source),
    )

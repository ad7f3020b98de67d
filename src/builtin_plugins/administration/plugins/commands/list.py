"""`self plugin list`."""

from builtin_plugins.administration.declared import FORMAT, self_command
from builtin_plugins.administration.pages import columns
from builtin_plugins.administration.plugins.inventory import KnownPlugin, inventory
from host import masked_text
from host.cli.session import Session

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
        session.show_json({"plugins": [plugin.described() for plugin in plugins]})
        return
    if not plugins:
        session.show_lines(
            f"no plugins yet; add one with: {session.program} self plugin add SOURCE"
        )
        return
    table = [_HEADER, *(_cells(plugin) for plugin in plugins)]
    reasons = ["", *(plugin.reason for plugin in plugins)]
    lines = []
    for line, reason in zip(columns(table), reasons, strict=True):
        lines += [line, *([f"    {reason}"] if reason else [])]
    session.show_lines(*lines)


def _cells(plugin: KnownPlugin) -> tuple[str, ...]:
    entry = plugin.entry
    version = entry.version or entry.commit[:12] or entry.sha256[:12] or "-"
    kind = f"{entry.kind} [dev]" if entry.dev else entry.kind
    words = plugin.words
    if not words and plugin.state in ("missing", "broken"):
        words = list(entry.words)
    more = [f"{len(words) - _MOST_WORDS} more"] if len(words) > _MOST_WORDS else []
    shown = ", ".join(words[:_MOST_WORDS] + more) or "-"
    return (
        entry.name,
        version,
        kind,
        plugin.state_text,
        shown,
        masked_text(entry.source),
    )

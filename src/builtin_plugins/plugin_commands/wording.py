"""What `self plugin` says of a plugin, as lines."""

from __future__ import annotations

from collections.abc import Iterable

from builtin_plugins.plugin_changes.contents import Words
from builtin_plugins.plugin_directories.registry import Entry
from host import Definition
from host.cli.columns import width
from host.secrets import masked_text


def version_text(entry: Entry) -> str:
    """Return version and commit, or the checksum's beginning where there is neither."""
    at = entry.commit[:12] or ("" if entry.version else entry.sha256[:12])
    if entry.version and at:
        return f"{entry.version} ({at})"
    return entry.version or at or "unknown"


def heading(entry: Entry) -> str:
    """Return a plugin's name, version, kind and source on one line."""
    version = f" {entry.version}" if entry.version else ""
    where = f", {masked_text(entry.source)}" if entry.source else ""
    at = f", commit {entry.commit[:12]}" if entry.commit else ""
    ref = f", ref {entry.ref}" if entry.ref else ""
    return f"{entry.name}{version} ({entry.kind}{where}{ref}{at})"


def command_lines(commands: Iterable[tuple[Words, Definition]], mark: str = " ") -> list[str]:
    """Return a line for each command: words, description, [sudo]."""
    rows = [(" ".join(words), one) for words, one in sorted(commands)]
    column = min(max((width(label) for label, _ in rows), default=0), 40)
    return [
        " ".join(
            [
                f"  {mark} {label}{' ' * max(column - width(label), 0)}",
                one.description,
                *(["[sudo]"] if one.sudo else []),
            ]
        ).rstrip()
        for label, one in rows
    ]

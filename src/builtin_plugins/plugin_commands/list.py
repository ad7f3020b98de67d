"""`self plugin list`."""

from __future__ import annotations

import click

from builtin_plugins.plugin_commands.inventory import Row, inventory
from host.cli.columns import width
from host.cli.session import Session
from host.run.text import printable

_MOST_WORDS = 5


@click.command
@click.option("--format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(session: Session, format: str) -> None:
    """List all plugins: directories, those from git, archives and pip.

    Text shows the words that each adds; JSON all its commands.
    """
    rows = inventory(session)
    if format == "json":
        import json

        session.show(json.dumps({"plugins": [row.described() for row in rows]}, indent=2) + "\n")
        return
    if not rows:
        session.show(f"no plugins yet; add one with: {session.program} self plugin add SOURCE\n")
        return
    table = [_cells(row) for row in rows]
    widths = [max(width(cells[index]) for cells in table) for index in range(5)]
    lines = []
    for cells, row in zip(table, rows, strict=True):
        padded = [
            cell + " " * (size - width(cell)) for cell, size in zip(cells, widths, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
        if row.reason:
            lines.append(f"    {printable(row.reason)}")
    session.show("".join(f"{line}\n" for line in lines))


def _cells(row: Row) -> list[str]:
    entry = row.entry
    version = entry.version or entry.commit[:12] or entry.sha256[:12] or "-"
    kind = f"{entry.kind} [dev]" if entry.dev else entry.kind
    words = row.words if row.state != "missing" else []
    more = [f"{len(words) - _MOST_WORDS} more"] if len(words) > _MOST_WORDS else []
    shown = ", ".join(words[:_MOST_WORDS] + more)
    return [printable(cell) for cell in (entry.name, version, kind, row.state, shown)]

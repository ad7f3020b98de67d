"""A page of facts: one a line, its name in front."""

from __future__ import annotations

from collections.abc import Iterable

from host import printable
from host.cli.session import Session


def show_facts(session: Session, facts: Iterable[tuple[str, object]]) -> None:
    """Show names and values in two columns; a fact without a value is left out."""
    rows = [(name.replace("_", " "), printable(str(value))) for name, value in facts if value]
    width = max(len(name) for name, _ in rows) + 1
    styled = session.terminal.styled
    lines = [f"{styled(name, 'name')}:{' ' * (width - len(name))}{value}\n" for name, value in rows]
    session.show("".join(lines))

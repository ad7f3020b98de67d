"""`self version`."""

from __future__ import annotations

import click

from host.cli.answer import version_of
from host.cli.session import Session


@click.command
@click.pass_obj
def command(session: Session) -> None:
    """Show name and version of this installation, as --version does."""
    session.show(version_of(session))

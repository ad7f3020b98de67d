"""`self version`."""

from __future__ import annotations

import click

from host.cli.answer import version_line
from host.cli.session import Session


@click.command
@click.pass_obj
def command(session: Session) -> None:
    """Show name and version of this installation, as --version does."""
    config = session.places.config
    session.show(version_line(config.name, config.version))

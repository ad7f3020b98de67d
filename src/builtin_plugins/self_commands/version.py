"""`self version`."""

from __future__ import annotations

import platform

from host.cli.answer import is_missing, own_version, version_of
from host.cli.session import Session


def command(session: Session, format: str) -> None:
    """Show name and version of this installation, as --version does.

    JSON has the host's own version, Python and the installation beside.
    """
    said = version_of(session)
    if format == "text":
        session.show(said)
        return
    config = None if is_missing(session) else session.installation.config
    values = {
        "name": config.name if config else None,
        "version": config.version if config else None,
        "host": own_version(session).rpartition(" ")[2],
        "python": platform.python_version(),
        "installation": session.layout.root if config else None,
    }
    session.show_json(values)

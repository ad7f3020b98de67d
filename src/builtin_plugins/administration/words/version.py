"""`self version`."""

from __future__ import annotations

import platform

from host.cli.session import Session


def command(session: Session, format: str) -> None:
    """Show name and version of this installation, as --version does.

    JSON has the host's own version, Python and the installation beside.
    """
    if format == "text":
        session.show(f"{session.version}\n")
        return
    config = None if session.is_missing else session.installation.config
    values = {
        "name": config.name if config else None,
        "version": config.version if config else None,
        "host": session.own_version.rpartition(" ")[2],
        "python": platform.python_version(),
        "installation": session.layout.root if config else None,
    }
    session.show_json(values)

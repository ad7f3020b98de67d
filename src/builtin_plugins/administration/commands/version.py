"""`self version`."""

import sys

from builtin_plugins.administration.declared import FORMAT, self_command
from host.cli.session import Session


@self_command(
    "version",
    "Show the version",
    FORMAT,
)
def version(session: Session, format: str) -> None:
    """Show the name and version of this installation, as --version does.

    JSON output also contains the versions of cli-host and Python, and the installation's path.
    """
    if format == "text":
        session.show(f"{session.version}\n")
        return
    config = None if session.is_missing else session.installation.config
    session.show_json(
        {
            "name": config and config.name,
            "version": config and config.version,
            "host": session.own_version.rpartition(" ")[2],
            "python": sys.version.split()[0],
            "installation": session.layout.root if config else None,
        }
    )

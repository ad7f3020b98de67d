"""`self version`."""

import sys

from builtin_plugins.self_commands.decorator import FORMAT, self_command
from host.session.session import Session


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

    facts = {
        "name": None,
        "version": None,
        "host": session.own_version.rpartition(" ")[2],
        "python": sys.version.split()[0],
        "installation": None,
    }
    if not session.is_missing:
        config = session.installation.config
        facts["name"] = config.name
        facts["version"] = config.version
        facts["installation"] = session.layout.root

    session.show_json(facts)

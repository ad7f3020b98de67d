"""`self info`: the name, versions, paths and number of commands of an installation."""

import platform
import sys

from builtin_plugins.self_commands.decorator import FORMAT, self_command
from host.catalog.catalog import Catalog
from host.catalog.contents import contents
from host.lock.lock import Lock
from host.session.session import Session


@self_command(
    "info",
    "Show paths, versions and the number of commands",
    FORMAT,
)
def info(session: Session, format: str) -> None:
    """Show names, versions and paths of this installation, and count its commands and plugins.

    Without an installation, the paths show where one is expected.
    """
    layout = session.layout
    facts = {
        "program": session.program,
        "host": session.own_version,
        "python": platform.python_version(),
        "interpreter": sys.executable,
        "installation": f"none; run: {session.program} self init",
    }
    paths = {"root": layout.root, "config_file": layout.config_file}
    counts: dict[str, int] = {}

    if not session.is_missing:
        installation = session.installation
        config = installation.config
        facts["installation"] = "complete"
        facts["name"] = config.name
        facts["version"] = config.version

        paths["commands_dir"] = installation.commands_dir
        paths["plugins_dir"] = installation.plugins_dir
        paths["settings_file"] = layout.settings_file
        paths["lock_file"] = installation.locks[0]
        projects, _ = installation.around()
        if projects:
            paths["project"] = projects[0].root

        counts = _counts(session.lock_for_inspection)

    if format == "json":
        session.show_json({**facts, "paths": paths, "counts": counts or None})
    else:
        session.show_facts({**facts, **paths, **counts}.items())


def _counts(lock: Lock) -> dict[str, int]:
    """Return the numbers of categories, commands and plugins."""
    listing = contents(Catalog(lock), (), deep=True)

    plugins = {tree.plugin for tree in lock.trees if tree.plugin}
    for plugin in lock.plugins.values():
        if plugin.ours:
            continue
        name = plugin.name
        if plugin.reference:  # a package counts once, whatever its entry points name
            name = plugin.distribution
        plugins.add(name)

    return {
        "categories": len(listing.categories),
        "commands": len(listing.commands),
        "plugins": len(plugins),
    }

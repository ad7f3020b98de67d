"""`self info`: the name, versions, paths and number of commands of an installation."""

import platform
import sys

from builtin_plugins.administration.declared import FORMAT, self_command
from builtin_plugins.administration.pages import show_facts
from host.cli.contents import contents
from host.cli.session import Session
from host.run.catalog import Catalog


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
    counts = {}
    if not session.is_missing:
        installation, lock = session.installation, session.lock_for_inspection
        config = installation.config
        facts |= {
            "installation": "complete",
            "name": config.name,
            "version": config.version,
        }
        paths["commands_dir"] = installation.commands_dir
        paths["plugins_dir"] = installation.plugins_dir
        paths["settings_file"] = layout.settings_file
        paths["lock_file"] = installation.locks[0]
        for project in installation.around()[0][:1]:
            paths["project"] = project.root
        inside = contents(Catalog(lock), (), deep=True)
        plugins = {tree.plugin for tree in lock.trees if tree.plugin}
        others = [plugin for plugin in lock.plugins.values() if not plugin.ours]
        plugins |= {one.distribution if one.reference else one.name for one in others}
        counted = {
            "categories": inside.categories,
            "commands": inside.commands,
            "plugins": plugins,
        }
        counts = {name: len(those) for name, those in counted.items()}
    if format == "json":
        session.show_json({**facts, "paths": paths, "counts": counts or None})
    else:
        show_facts(session, {**facts, **paths, **counts}.items())

"""`self info`: which program this is, where its files are, and how much there is."""

from __future__ import annotations

import os
import platform
import sys
from typing import Any

from host import InstallationError, printable
from host.cli.contents import contents
from host.cli.session import Session
from host.run.catalog import Catalog


def command(session: Session, format: str) -> None:
    """Show names, versions, paths and counts of this installation.

    Without an installation it shows where one would be.
    """
    facts = {**_program(session), **_installation(session)}
    if format == "json":
        session.show_json(facts)
        return
    rows: list[tuple[str, Any]] = []
    for key, value in facts.items():
        rows += value.items() if isinstance(value, dict) else [(key, value)]
    width = max(len(key) for key, _ in rows) + 1
    session.show(
        "".join(
            f"{key.replace('_', ' ') + ':':<{width}} {printable(str(value))}\n"
            for key, value in rows
            if value is not None
        )
    )


def _program(session: Session) -> dict[str, Any]:
    return {
        "program": session.program,
        "host": session.own_version,
        "python": platform.python_version(),
        "interpreter": sys.executable,
    }


def _installation(session: Session) -> dict[str, Any]:
    layout = session.layout
    paths = {"root": layout.root, "config_file": layout.config_file}
    try:
        installation = session.installation
    except InstallationError as error:
        if os.path.lexists(layout.config_file):
            raise
        return {
            "installation": f"none; {error.remedy or f'see: {session.program} self init'}",
            "name": None,
            "version": None,
            "paths": paths,
            "counts": None,
        }
    inside = contents(Catalog(session.plugins_known), (), deep=True)[0].without_self()
    plugins = {one.plugin for one in session.plugins_known.trees if one.plugin}
    plugins |= {one.distribution for one in session.plugins_known.plugins.values() if not one.ours}
    return {
        "installation": "complete",
        "name": installation.config.name,
        "version": installation.config.version,
        "paths": {
            **paths,
            "commands_dir": installation.commands_dir,
            "plugins_dir": installation.plugins_dir,
            "settings_file": layout.settings_file,
            "lock_file": installation.locks[0],
        },
        "counts": {
            "categories": len(inside.categories),
            "commands": len(inside.commands),
            "plugins": len(plugins),
        },
    }

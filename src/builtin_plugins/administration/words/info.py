"""`self info`: which program this is, where its files are, and how much there is."""

from __future__ import annotations

import platform
import sys
from typing import Any

from builtin_plugins.administration.facts import show_facts
from host.cli.contents import contents
from host.cli.session import Session
from host.run.catalog import Catalog
from host.run.installation import OpenInstallation


def command(session: Session, format: str) -> None:
    """Show names, versions, paths and counts of this installation.

    If there is no installation, it shows where one would be.
    """
    layout = session.layout
    facts: dict[str, Any] = {
        "program": session.program,
        "host": session.own_version,
        "python": platform.python_version(),
        "interpreter": sys.executable,
        "installation": f"none; run: {session.program} self init",
        "name": None,
        "version": None,
        "paths": {"root": layout.root, "config_file": layout.config_file},
        "counts": None,
    }
    if not session.is_missing:
        installation = session.installation
        facts |= {
            "installation": "complete",
            "name": installation.config.name,
            "version": installation.config.version,
            "counts": _counts(session),
        }
        facts["paths"] |= _paths(installation)
    if format == "json":
        session.show_json(facts)
        return
    rows: list[tuple[str, Any]] = []
    for name, value in facts.items():
        rows += (
            ((key, str(one)) for key, one in value.items())
            if isinstance(value, dict)
            else [(name, value)]
        )
    show_facts(session, rows)


def _paths(installation: OpenInstallation) -> dict[str, str]:
    return {
        "commands_dir": installation.commands_dir,
        "plugins_dir": installation.plugins_dir,
        "settings_file": installation.layout.settings_file,
        "lock_file": installation.locks[0],
    }


def _counts(session: Session) -> dict[str, int]:
    lock = session.plugins_known
    inside = contents(Catalog(lock), (), deep=True)[0].without_self()
    plugins = {one.plugin for one in lock.trees if one.plugin}
    plugins |= {one.distribution for one in lock.plugins.values() if not one.ours}
    return {
        "categories": len(inside.categories),
        "commands": len(inside.commands),
        "plugins": len(plugins),
    }

"""`self info`: which program this is, where its files are, and how much there is."""

from __future__ import annotations

import platform
import sys
from typing import Any

from builtin_plugins.administration.pages import show_facts
from host.cli.contents import contents
from host.cli.session import Session
from host.run.catalog import Catalog


def command(session: Session, format: str) -> None:
    """Show names, versions, paths and counts of this installation.

    If there is no installation, it shows where one would be.
    """
    layout = session.layout
    config = None if session.is_missing else session.installation.config
    facts: dict[str, Any] = {
        "program": session.program,
        "host": session.own_version,
        "python": platform.python_version(),
        "interpreter": sys.executable,
        "installation": "complete" if config else f"none; run: {session.program} self init",
        "name": config and config.name,
        "version": config and config.version,
        "paths": {"root": layout.root, "config_file": layout.config_file},
        "counts": None,
    }
    if config:
        installation, lock = session.installation, session.plugins_known
        inside = contents(Catalog(lock), (), deep=True)
        plugins = {one.plugin for one in lock.trees if one.plugin}
        plugins |= {one.distribution for one in lock.plugins.values() if not one.ours}
        facts["paths"] |= {
            "commands_dir": installation.commands_dir,
            "plugins_dir": installation.plugins_dir,
            "settings_file": layout.settings_file,
            "lock_file": installation.locks[0],
        }
        facts["counts"] = {
            "categories": len(inside.categories),
            "commands": len(inside.commands),
            "plugins": len(plugins),
        }
    if format == "json":
        session.show_json(facts)
        return
    inner = {
        **facts.pop("paths"),
        **{key: str(one) for key, one in (facts.pop("counts") or {}).items()},
    }
    show_facts(session, (facts | inner).items())

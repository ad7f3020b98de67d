"""`self plugin show`."""

import os

from builtin_plugins.administration.pages import show_facts
from builtin_plugins.administration.plugins.inventory import inventory, kept_versions, named_plugin
from builtin_plugins.administration.plugins.preview import command_lines, version_text
from builtin_plugins.administration.plugins.sources.base import make_source
from host import masked_text
from host.cli.session import Session


def command(session: Session, name: str, format: str) -> None:
    """Show the details of the plugin NAME; no code of a directory plugin is run."""
    row = named_plugin(session, name, inventory(session))
    if format == "json":
        values = row.described() | {"versions": list(row.entry.versions)}
        session.show_json(values)
        return
    plugins_dir = session.installation.plugins_dir
    entry, found = row.entry, make_source(row.entry).current_version(plugins_dir)
    commands = {one.words: one.definition for one in row.own.commands if one.runs} | dict(
        found.commands
    )
    hooks = ", ".join(row.hooks or found.hooks)
    kept = kept_versions(plugins_dir, entry)
    facts = {
        "name": entry.name,
        "version": entry.version,
        "description": entry.description,
        "kind": f"{entry.kind} [dev]" if entry.dev else entry.kind,
        "source": masked_text(entry.source),
        "ref": entry.ref,
        "commit": entry.commit,
        "sha256": entry.sha256,
        "state": f"{row.state_text}: {row.reason}" if row.reason else row.state_text,
        "installed": entry.installedAt,
        "files": os.path.realpath(row.root) if row.root else "",
        "kept": ", ".join(
            version_text(one) for one in kept if one.version_dir != entry.version_dir
        ),
        "hooks": f"{hooks} ({entry.hooks})" if hooks and entry.hooks else hooks,
        "commands": len(commands) or "none",
    }
    show_facts(session, facts.items())
    problems = [f"problem: {one}" for one in found.problems if str(one) != row.reason]
    session.show_lines(*command_lines({" ": commands.items()}), *problems)

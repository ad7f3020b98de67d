"""`self plugin show`."""

import os

from builtin_plugins.administration.plugins.inventory import Row, kept_versions, named_row
from builtin_plugins.administration.plugins.preview import command_lines, version_text
from builtin_plugins.administration.plugins.sources.base import make_source
from host import masked_text
from host.cli.session import Session


def command(session: Session, name: str, format: str) -> None:
    """Show the details of the plugin NAME; none of its code is run."""
    row = named_row(session, name)
    if format == "json":
        values = row.described() | {"versions": list(row.entry.versions)}
        session.show_json(values)
        return
    session.show_lines(*_lines(row, session.installation.plugins_dir))


def _lines(row: Row, plugins_dir: str) -> list[str]:
    entry, found = row.entry, make_source(row.entry).contents_now(plugins_dir)
    commands = {one.words: one.definition for one in row.own.commands if one.runs} | dict(
        found.commands
    )
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
        "state": f"{row.state_shown}: {row.reason}" if row.reason else row.state_shown,
        "installed": entry.installedAt,
        "files": os.path.realpath(row.root) if row.root else "",
        "kept": ", ".join(
            version_text(one) for one in kept if one.version_dir != entry.version_dir
        ),
    }
    lines = [f"{key + ':':<13}{value}" for key, value in facts.items() if value]
    hooks = row.hooks or list(found.hooks)
    if hooks:
        where = f" ({entry.hooks})" if entry.hooks else ""
        lines.append(f"{'hooks:':<13}{', '.join(hooks)}{where}")
    lines.append(f"{'commands:':<13}{len(commands) or 'none'}")
    lines += command_lines(commands.items())
    lines += [f"problem: {one}" for one in found.problems if str(one) != row.reason]
    return lines

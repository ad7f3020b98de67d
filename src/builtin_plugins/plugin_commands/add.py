"""`self plugin add`."""

from __future__ import annotations

import os

from builtin_plugins.asking import confirmed
from builtin_plugins.options import checked_timeout
from builtin_plugins.plugin_changes.change import (
    built,
    check_new_name,
    fetch,
    or_name,
    put,
)
from builtin_plugins.plugin_changes.collisions import check_collisions
from builtin_plugins.plugin_changes.kinds.staged import Staged
from builtin_plugins.plugin_changes.source import Origin, parse_source
from builtin_plugins.plugin_changes.work import Work, working
from builtin_plugins.plugin_commands.preview import plan_lines, show_changes
from builtin_plugins.plugin_commands.wording import heading, version_text
from builtin_plugins.plugin_directories.registry import Entry, read_registry, registry_path
from builtin_plugins.venv.distributions import installed_version
from host import OperationError, PluginError, UsageError
from host.cli.session import Session


def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    session: Session,
    source: str,
    ref: str | None,
    name: str | None,
    sha256: str | None,
    ssh: bool,
    gitlab: bool,
    bitbucket: bool,
    force: bool,
    yes: bool,
    timeout: float,
) -> None:
    """Add a plugin from SOURCE.

    SOURCE is one of
      ./directory               linked, so that every edit is live
      user/repo, a git address  cloned (https, ssh, git, file)
      .tar.gz, .zip             a path or an https address
      .whl                      a path or an https address, installed with pip
      pip:REQUIREMENT           installed with pip into this program's environment

    Nothing of a plugin is run before you agree: it shows which commands and Python
    hooks come, and on a terminal asks first.
    """
    if gitlab and bitbucket:
        raise UsageError("--gitlab and --bitbucket do not go together")
    site = "gitlab" if gitlab else "bitbucket" if bitbucket else ""
    origin = parse_source(source, ref=ref or "", sha256=sha256 or "", site=site, ssh=ssh)
    if name and origin.kind == "pip":
        raise UsageError("--name does not go with a distribution; its name is its own")
    there = _known(session, origin, name or "")
    if there is not None:
        session.show_lines(f"{_installed(session, there)}{or_name(there)}")
        return
    with working(session, checked_timeout(timeout)) as work:
        work.reporter.debug(f"fetching {origin.source}")
        staged = built(session, fetch(origin, work), work, yes=yes)
        _add_staged(session, staged, name or "", work, force=force, yes=yes)


def _add_staged(
    session: Session, staged: Staged, name: str, work: Work, *, force: bool, yes: bool
) -> None:
    """Show what a staged plugin adds, and put it in place when nothing is against it."""
    entry = staged.entry.replaced(name=name) if name else staged.entry
    found = staged.contents
    former = _former(session, entry)
    if former is None:
        check_new_name(entry, ())
    else:
        entry = entry.replaced(enabled=former.enabled)
    replaces = former is not None and _is_here(session, former)
    if former is not None and replaces and former.label == entry.label:
        session.show_lines(_installed(session, former))
        return
    if entry.kind != "pip" and not found.commands and not found.hooks:
        raise PluginError(
            f"{entry.source}: holds no command and no hook",
            "a plugin has <category>/<command>/"
            f"command.json (see: {session.program} self new plugin --help)",
        )
    if former is not None and replaces:
        show_changes(session, former, Staged(entry, found), work, force=force)
    else:
        for problem in found.problems:
            session.messages.warn(problem)
        session.show_lines(*plan_lines(entry, found))
        check_collisions(session, entry, found, force=force)
    if not confirmed(f"Update {entry.name}?" if replaces else "Add it?", yes):
        raise OperationError("nothing was changed" if replaces else "nothing was added")
    entry = put(session, entry, former, work, force=force)
    done = "added" if former is None else "updated" if replaces else "restored"
    session.show_lines(f"{done} {entry.name}", *_ways(session, entry))


def _known(session: Session, origin: Origin, name: str) -> Entry | None:
    """Return the plugin that came from there, so that nothing is to be done.

    Raises PluginError when `name` is that of a plugin from elsewhere.
    """
    if name:
        check_new_name(Entry(name, origin.kind), ())
    registry = read_registry(registry_path(session.installation.plugins_dir))
    for entry in registry.entries.values():
        same = entry.source == origin.source and entry.ref == origin.ref
        if name and entry.name == name and not same:
            raise PluginError(f"{_installed(session, entry)}", "or use --name")
        if same and entry.name == (name or entry.name) and _is_here(session, entry):
            return None if entry.from_wheel else entry  # what the file holds now decides
    return None


def _is_here(session: Session, entry: Entry) -> bool:
    if entry.kind == "pip":
        there = installed_version(entry.name)
        return there is not None and there == (entry.version or there)
    return os.path.isdir(os.path.join(session.installation.plugins_dir, entry.name))


def _former(session: Session, entry: Entry) -> Entry | None:
    """Return what the registry has of the plugin that is to be added, None where it has nothing.

    That is one whose files are gone, or a distribution, which another file of it replaces.
    Raises PluginError when another plugin of that name is here, or came from elsewhere.
    """
    there = read_registry(registry_path(session.installation.plugins_dir)).entries.get(entry.name)
    if there is None or there.kind == entry.kind == "pip":
        return there
    if _is_here(session, there) or (there.kind, there.source) != (entry.kind, entry.source):
        raise PluginError(f"{_installed(session, there)}{or_name(entry)}")
    return there


def _installed(session: Session, entry: Entry) -> str:
    """Return what to say of a plugin that is there: what it is, how to update or remove it."""
    return "; ".join([f"{heading(entry)} is installed already", *_ways(session, entry)])


def _ways(session: Session, entry: Entry) -> list[str]:
    """Return how a plugin is brought to another version, and how it is removed."""
    command = f"{session.program} self plugin"
    update = f"update it with: {command} update {entry.name}"
    if entry.pinned:
        update = f"it stays at {entry.ref or version_text(entry)}"
    if entry.from_wheel:
        update = f"update it with: {command} add WHEEL"
    return [
        "every edit is live" if entry.dev else update,
        f"remove it with: {command} remove {entry.name}",
    ]

"""The preview of a plugin: what adding or updating it would bring."""

from __future__ import annotations

from collections.abc import Iterable

from builtin_plugins.administration.plugins.collisions import check_collisions
from builtin_plugins.administration.plugins.contents import PluginContents
from builtin_plugins.administration.plugins.hooks_source import Words
from builtin_plugins.administration.plugins.sources.base import Staged, source_of
from builtin_plugins.administration.program.environment.distributions import installed_version
from builtin_plugins.administration.program.environment.installations import other_installations
from builtin_plugins.plugins_folder.registry import Entry
from host import Definition, HostError, masked_text, width_of
from host.cli.session import Session


def preview(session: Session, former: Entry | None, staged: Staged, *, force: bool = True) -> None:
    """Print what a staged version adds, or with `former` what it changes.

    Warns of definitions that would not count. Raises PluginError if the plugin takes words or a
    name of others.
    """
    entry, found = staged.entry, staged.contents
    if former is None:
        session.show_lines(*_plan_lines(entry, found))
    else:
        before = _contents_now(former, session.installation.plugins_dir)
        session.show_lines(*_change_lines(former, entry, before, found))
    for problem in found.problems:
        session.messages.warn(problem)
    check_collisions(session, entry, found, force=force)
    warn_of_sharing(session, entry, "changes")


def warn_of_sharing(session: Session, entry: Entry, does: str) -> None:
    """Warn if a change of an installed package takes effect in other installations."""
    if not entry.is_package or installed_version(entry.name) is None:
        return
    if others := other_installations(session.layout.root, session.environ):
        session.messages.warn(
            f"this also {does} {entry.name} in the installations that share this environment: "
            f"{', '.join(others)}"
        )


def _plan_lines(entry: Entry, found: PluginContents) -> list[str]:
    """Return the lines about what adding a plugin adds."""
    lines = [heading(entry)]
    if entry.description:
        lines.append(f"  {entry.description}")
    told = "those that its Python declares" if "discover_commands" in found.hooks else "none"
    lines.append(f"commands: {len(found.commands) or told}")
    lines += command_lines(found.commands.items())
    names = sorted({name for one in found.commands.values() for name in one.envs})
    if names:
        lines.append(f"variables: {', '.join(names)}")
    if programs := sorted({one for each in found.commands.values() for one in each.requires}):
        lines.append(f"requires: {', '.join(programs)}")
    if found.hooks:
        hooks = f"{entry.hooks}: " if entry.hooks else ""
        lines.append(f"Python hooks: {hooks}{', '.join(found.hooks)}")
    lines += [
        f"{what}: {', '.join(those)}" for what, those in _package_facts(entry, found) if those
    ]
    return lines


def _package_facts(entry: Entry, found: PluginContents) -> list[tuple[str, list[str]]]:
    """Return the needs of a package, and its files that each start of Python runs."""
    return [
        ("needs", [str(one).partition(";")[0] for one in source_of(entry).needs(found)]),
        ("runs at each start of Python", list(found.at_start)),
    ]


def _contents_now(entry: Entry, plugins_dir: str) -> PluginContents:
    """Return the contents of the current version, empty if they cannot be read."""
    try:
        return source_of(entry).contents_now(plugins_dir)
    except (HostError, OSError):
        return PluginContents()


def _change_lines(
    former: Entry, entry: Entry, before: PluginContents, after: PluginContents
) -> list[str]:
    """Return old → new, then commands that come and go, new `sudo`, new variables, new hooks."""
    lines = [f"{former.name}: {version_text(former)} → {version_text(entry)}"]
    gone = [(words, one) for words, one in before.commands.items() if words not in after.commands]
    come = [(words, one) for words, one in after.commands.items() if words not in before.commands]
    lines += command_lines(come, "+") + command_lines(gone, "-")
    for words, new in sorted(after.commands.items()):
        old = before.commands.get(words)
        label = " ".join(words)
        if old is not None and new.sudo and not old.sudo:
            lines.append(f"  ! {label} now needs sudo")
        known = set(old.envs) | set(old.required_envs) if old else set()
        fresh = [name for name in [*new.envs, *new.required_envs] if name not in known]
        if fresh:
            names = ", ".join(dict.fromkeys(fresh))
            lines.append(f"  ! {label} has new variables: {names}")
        lines += [
            f"  ! {label} now requires {one}"
            for one in new.requires
            if old is None or one not in old.requires
        ]
    hooks = [hook for hook in after.hooks if hook not in before.hooks]
    if hooks:
        lines.append(f"  ! new Python hooks: {', '.join(hooks)}")
    facts = dict(_package_facts(former, before))
    for what, those in _package_facts(entry, after):
        if fresh := [one for one in those if one not in facts[what]]:
            lines.append(f"  ! now {what}: {', '.join(fresh)}")
    return lines


def version_text(entry: Entry) -> str:
    """Return version and commit, or the checksum's beginning where there is neither."""
    at = entry.commit[:12] or ("" if entry.version else entry.sha256[:12])
    if entry.version and at:
        return f"{entry.version} ({at})"
    return entry.version or at or "unknown"


def heading(entry: Entry) -> str:
    """Return a plugin's name, version, kind and source on one line."""
    version = f" {entry.version}" if entry.version else ""
    where = f", {masked_text(entry.source)}" if entry.source else ""
    at = f", commit {entry.commit[:12]}" if entry.commit else ""
    ref = f", ref {entry.ref}" if entry.ref else ""
    return f"{entry.name}{version} ({entry.kind}{where}{ref}{at})"


def command_lines(commands: Iterable[tuple[Words, Definition]], mark: str = " ") -> list[str]:
    """Return a line for each command: words, description, [sudo]."""
    rows = [(" ".join(words), one) for words, one in sorted(commands)]
    column = min(max((width_of(label) for label, _ in rows), default=0), 40)
    lines = []
    for label, one in rows:
        sudo = " [sudo]" if one.sudo else ""
        padded = label + " " * (column - width_of(label))
        lines.append(f"  {mark} {padded} {one.description}{sudo}".rstrip())
    return lines

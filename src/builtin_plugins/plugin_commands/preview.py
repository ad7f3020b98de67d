"""What adding or updating a plugin would bring, shown before it is done."""

from __future__ import annotations

import os

from builtin_plugins.plugin_changes.collisions import check_collisions
from builtin_plugins.plugin_changes.contents import PluginContents, read_contents
from builtin_plugins.plugin_changes.kinds.staged import Staged
from builtin_plugins.plugin_changes.work import Work
from builtin_plugins.plugin_commands.wording import command_lines, heading, version_text
from builtin_plugins.plugin_directories.directory import kept_tree
from builtin_plugins.plugin_directories.registry import Entry
from host import HostError
from host.cli.session import Session


def plan_lines(entry: Entry, found: PluginContents) -> list[str]:
    """Return what adding a plugin adds, for people."""
    lines = [heading(entry)]
    if entry.description:
        lines.append(f"  {entry.description}")
    told = "those that its Python declares" if "discover_commands" in found.hooks else "none"
    lines.append(f"commands: {len(found.commands) or told}")
    lines += command_lines(found.commands.items())
    names = sorted({name for one in found.commands.values() for name in one.envs})
    if names:
        lines.append(f"variables: {', '.join(names)}")
    if found.hooks:
        hooks = f"{entry.hooks}: " if entry.hooks else ""
        lines.append(f"Python hooks: {hooks}{', '.join(found.hooks)}")
    return lines


def show_changes(
    session: Session, former: Entry, staged: Staged, work: Work, *, force: bool = True
) -> None:
    """Say on stdout what the staged version changes, and warn of what would not count."""
    before = _contents_now(former, work.plugins_dir)
    session.show_lines(*_change_lines(former, staged.entry, before, staged.contents))
    for problem in staged.contents.problems:
        session.messages.warn(problem)
    check_collisions(session, staged.entry, staged.contents, force=force)


def _contents_now(entry: Entry, plugins_dir: str) -> PluginContents:
    """Return what the version that is on holds; nothing where that cannot be told."""
    try:
        if entry.kind != "pip":
            return read_contents(os.path.join(plugins_dir, entry.name))
        from builtin_plugins.plugin_changes.wheel import read_wheel

        kept = kept_tree(plugins_dir, entry)
        return read_wheel(os.path.join(kept, os.listdir(kept)[0])).contents
    except (HostError, OSError, IndexError):
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
    hooks = [hook for hook in after.hooks if hook not in before.hooks]
    if hooks:
        lines.append(f"  ! new Python hooks: {', '.join(hooks)}")
    return lines

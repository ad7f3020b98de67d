"""What an update changes for the user, as lines."""

from __future__ import annotations

from builtin_plugins.plugin_contents import PluginContents
from builtin_plugins.plugin_work import command_lines
from host.escape import printable
from host.registry import Entry


def version_text(entry: Entry) -> str:
    """Return version and commit, or the checksum's beginning where there is neither."""
    at = entry.commit[:12] or ("" if entry.version else entry.sha256[:12])
    if entry.version and at:
        return printable(f"{entry.version} ({at})")
    return printable(entry.version or at or "unknown")


def change_lines(
    former: Entry, entry: Entry, before: PluginContents, after: PluginContents
) -> list[str]:
    """Return old → new, then commands that come and go, new `sudo`, new variables, new hooks."""
    lines = [f"{former.name}: {version_text(former)} → {version_text(entry)}"]
    gone = [(words, one) for words, one in before.commands.items() if words not in after.commands]
    come = [(words, one) for words, one in after.commands.items() if words not in before.commands]
    lines += command_lines(come, "+") + command_lines(gone, "-")
    for words, new in sorted(after.commands.items()):
        old = before.commands.get(words)
        label = printable(" ".join(words))
        if old is not None and new.sudo and not old.sudo:
            lines.append(f"  ! {label} now needs sudo")
        known = set(old.envs) | set(old.required_envs) if old else set()
        fresh = [name for name in [*new.envs, *new.required_envs] if name not in known]
        if fresh:
            names = printable(", ".join(dict.fromkeys(fresh)))
            lines.append(f"  ! {label} has new variables: {names}")
    hooks = [hook for hook in after.hooks if hook not in before.hooks]
    if hooks:
        lines.append(f"  ! new Python hooks: {', '.join(hooks)}")
    return lines

"""Asking plugins while a listing is shown: how it looks, and what is installed."""

from __future__ import annotations

from host.errors import PluginError
from host.run.importing import load_reference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from host.cli.session import Session
    from host.run.lock import Plugin


def ask(
    session: Session, hook: str, calls: Sequence[Mapping[str, Any]], *, only_builtin: bool = False
) -> list[Any]:
    """Return the first answer of the plugins to each of `calls`, None if nobody has one.

    The latest plugin is asked first, as pluggy does it.
    """
    found: list[Any] = [None] * len(calls)
    plugins = [one for one in session.lock.plugins.values() if hook in one.hooks]
    plugins.reverse()
    for plugin in sorted(plugins, key=lambda one: one.hooks[hook]):
        left = [index for index, answer in enumerate(found) if answer is None]
        if left and not plugin.broken and (plugin.ours or not only_builtin):
            answers = _answers(session, plugin, hook, [calls[index] for index in left])
            for index, answer in zip(left, answers, strict=True):
                found[index] = answer
    return found


def _answers(
    session: Session, plugin: Plugin, hook: str, calls: Sequence[Mapping[str, Any]]
) -> list[Any]:
    """Call a built-in plugin without pluggy, and any other in a process of its own.

    A failing one is reported and left out until one of its files changes.
    """
    if plugin.ours:
        function = load_reference(f"{plugin.reference}:{hook}")
        wanted = function.__code__.co_varnames[: function.__code__.co_argcount]
        return [function(**{name: call[name] for name in wanted}) for call in calls]
    session.find_packages()
    from host.planning.cache_files import write_lock
    from host.planning.plugin_worker import call_hook

    try:
        return call_hook(plugin, hook, calls, session.program)
    except PluginError as failure:
        plugin.broken = f"{plugin.distribution}: {failure}"
    for warning in session.lock.warnings(session.program):
        session.messages.warn(warning)  # prints each once
    write_lock(session.installation.locks, session.installation.key, session.lock)
    return [None] * len(calls)

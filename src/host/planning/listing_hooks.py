"""Asking plugins while a listing is shown: how it looks, and what is installed."""

from __future__ import annotations

from host.errors import PluginError
from host.run.importing import complete_import_path, load_reference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from host.run.installation import OpenInstallation
    from host.run.lock import Lock, Plugin
    from host.run.text import Messages


class ListingHooks:
    """The plugins that speak when a listing is shown, as the lock names them.

    Our own are called as pluggy would call them, which then is not loaded; others each
    in a process of its own: one that fails is told, and is left out until something of
    it changes.
    """

    def __init__(self, lock: Lock, installation: OpenInstallation, messages: Messages) -> None:
        self.lock = lock
        self.installation = installation
        self.messages = messages

    def ask(
        self, hook: str, calls: Sequence[Mapping[str, Any]], *, only_ours: bool = False
    ) -> list[Any]:
        """Return the first answer of the plugins to each of `calls`, None where nobody has one.

        The latest plugin is asked first, as pluggy does it.
        """
        found: list[Any] = [None] * len(calls)
        for plugin in self._speakers(hook):
            left = [index for index, answer in enumerate(found) if answer is None]
            if left and (plugin.ours or not only_ours):
                said = self._said(plugin, hook, [calls[index] for index in left])
                for index, answer in zip(left, said, strict=True):
                    found[index] = answer
        return found

    def _speakers(self, hook: str) -> list[Plugin]:
        speakers = [
            one for one in self.lock.plugins.values() if hook in one.hooks and not one.broken
        ]
        speakers.reverse()
        return sorted(speakers, key=lambda one: one.hooks[hook])

    def _said(self, plugin: Plugin, hook: str, calls: Sequence[Mapping[str, Any]]) -> list[Any]:
        if plugin.ours:
            answer = load_reference(f"{plugin.reference}:{hook}")
            wanted = answer.__code__.co_varnames[: answer.__code__.co_argcount]
            return [answer(**{name: call[name] for name in wanted}) for call in calls]
        complete_import_path()
        from host.planning.plugin_worker import call_hook

        try:
            return call_hook(plugin, hook, calls, self.messages.program)
        except PluginError as failure:
            self._leave_out(plugin, f"{plugin.distribution}: {failure}")
            return [None] * len(calls)

    def _leave_out(self, plugin: Plugin, reason: str) -> None:
        """Warn of a plugin that failed just now, and note it in the lock."""
        plugin.broken = reason
        for warning in self.lock.warnings(self.messages.program):
            self.messages.warn(warning)  # which says each once
        from host.planning.cache_files import write_lock

        write_lock(self.installation.locks, self.installation.key, self.lock)

"""Asking plugins while a listing is shown: how it looks, and what is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from host.errors import PluginError
from host.planning.loading import Candidate, Loaded, from_file, from_reference, load
from host.run.installation import Places
from host.run.lock import LISTING_HOOKS, Lock, Plugin, write_lock
from host.run.messages import Messages


class ListingHooks:
    """The plugins that speak when a listing is shown, as the lock names them.

    Our own are asked in this process, others each in one of its own: one that fails is
    told, and is left out until something of it changes.
    """

    def __init__(self, lock: Lock, places: Places, messages: Messages) -> None:
        self.lock = lock
        self.places = places
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
            return [self._ours.answer(plugin.name, hook, **call) for call in calls]
        from host.planning.child import asked

        try:
            return asked(_candidate(plugin), hook, calls)
        except PluginError as failure:
            self._leave_out(plugin, f"{plugin.distribution}: {failure}")
            return [None] * len(calls)

    @cached_property
    def _ours(self) -> Loaded:
        """Our own plugins that speak when a listing is shown; others are not imported."""
        return load(
            _candidate(one)
            for one in self.lock.plugins.values()
            if one.ours and not LISTING_HOOKS.isdisjoint(one.hooks)
        )

    def _leave_out(self, plugin: Plugin, reason: str) -> None:
        """Warn of a plugin that failed just now, and note it in the lock."""
        known = set(self.lock.warnings)
        plugin.broken = reason
        for warning in self.lock.warnings:
            if warning not in known:
                self.messages.warn(warning)
        write_lock(self.places.locks, self.places.key, self.lock)


def _candidate(plugin: Plugin) -> Candidate:
    if plugin.file:
        return from_file(plugin.name, plugin.distribution, plugin.file)
    return from_reference(plugin.name, plugin.distribution, plugin.reference)

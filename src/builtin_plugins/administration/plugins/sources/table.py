"""The class of each kind of plugin source: `Source` in the module that has the kind's name."""

from __future__ import annotations

from importlib import import_module

from builtin_plugins.administration.plugins.sources.base import PluginSource
from builtin_plugins.plugins_folder.registry import Entry


def source_class(kind: str) -> type[PluginSource]:
    """Return the class of a kind, one of `KINDS`; each is imported when it is needed."""
    found: type[PluginSource] = import_module(f"{__package__}.{kind}").Source
    return found


def source_of(entry: Entry) -> PluginSource:
    return source_class(entry.kind)(entry)

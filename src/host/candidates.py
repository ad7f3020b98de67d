"""Which plugins there are to load: entry points, and the hooks files of directory plugins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import importlib_metadata

from host import hookspecs
from host.directory_plugins import find_directory_plugins
from host.errors import PluginError
from host.lock import BUILTIN
from host.plugins import Candidate, from_file, from_reference
from host.registry import canonical, read_registry, registry_path

OWN_DISTRIBUTION = "cli-host"


def entry_points() -> Iterator[Candidate]:
    """Yield what installed distributions register, the built-in plugins first, then by name.

    A distribution whose metadata cannot be read is passed over.
    """
    found = []
    for distribution in importlib_metadata.distributions():
        try:
            points = distribution.entry_points.select(group=hookspecs.PROJECT)
            if not points:
                continue  # reading a distribution's metadata costs more than all of this
            name = str(distribution.metadata["Name"])
            version = str(distribution.version)
            found += [
                replace(
                    from_reference(point.name, name, point.value),
                    builtin=name == OWN_DISTRIBUTION,
                    version=version,
                )
                for point in points
            ]
        except Exception:  # noqa: BLE001, S112 - whatever is wrong there, it is not ours
            continue
    yield from sorted(found, key=lambda one: (not one.builtin, one.name, one.origin))


def third_party(
    points: Iterable[Candidate], plugins_dir: str, broken: dict[str, str]
) -> list[Candidate]:
    """Return the plugins that are not ours and are on, each name once.

    A distribution that the registry has as disabled is left out. A name that comes
    again is noted in `broken` under name and origin.
    """
    off = disabled_distributions(plugins_dir)
    found: dict[str, Candidate] = {}
    for one in [*points, *directory_hooks(plugins_dir)]:
        if one.builtin or (not one.file and canonical(one.origin) in off):
            continue
        if one.name in found or one.name.startswith(BUILTIN):
            broken[f"{one.name} ({one.origin})"] = "another plugin has this name"
        else:
            found[one.name] = one
    return list(found.values())


def disabled_distributions(plugins_dir: str) -> set[str]:
    """Return the canonical names of distributions whose plugins are switched off."""
    try:
        registry = read_registry(registry_path(plugins_dir))
    except PluginError:
        return set()
    return {
        canonical(entry.name)
        for entry in registry.entries.values()
        if entry.kind == "pip" and not entry.enabled
    }


def directory_hooks(plugins_dir: str) -> Iterator[Candidate]:
    """Yield the hooks files of the directory plugins that are on, in registry order."""
    for plugin in find_directory_plugins(plugins_dir)[0]:
        if plugin.hooks and plugin.enabled:
            yield from_file(plugin.name, plugin.root, plugin.hooks)

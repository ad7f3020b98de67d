"""Directory plugins: the contents of `plugins/`, combined with the registry.

`plugins/<name>` is a directory, a link to one, or a link to a version that this program made:
`plugins/.versions/<name>/<version>/tree`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from builtin_plugins.plugins_folder.json_object import read_object, text
from builtin_plugins.plugins_folder.registry import FILE_NAME as REGISTRY
from builtin_plugins.plugins_folder.registry import (
    NAME_RULE,
    Entry,
    Registry,
    is_plugin_name,
    read_entry,
    read_scripts,
)
from builtin_plugins.store import Store
from host import HostError, PluginError, Problem, Record

FILE_NAME = "plugin.json"
VERSIONS = ".versions"
TREE = "tree"
RECORD = "entry.json"  # beside the tree: its entry, which marks it as made by this program
TEXTS = ("name", "version", "description", "directory", "hooks")


class Manifest(Record):
    """The content of plugin.json, "" for absent keys.

    `directory` is the subdirectory that holds the categories, `hooks` a Python file with hookimpls;
    both are relative to the plugin. `tree` and `hooks_file` are their paths; without `directory`,
    `tree` is the plugin itself. `scripts` is None if only folders are commands, else it may have
    "prefix" and "split".
    """

    name: str = ""
    version: str = ""
    description: str = ""
    directory: str = ""
    hooks: str = ""
    tree: str = ""
    hooks_file: str = ""
    scripts: Mapping[str, str] | None = None

    @property
    def facts(self) -> dict[str, str]:
        """Return all texts except the name, by key; an entry of the registry has the same keys."""
        return {key: getattr(self, key) for key in TEXTS if key != "name"}


def read_manifest(root: str, entry: Entry | None = None) -> Manifest:
    """Return the manifest of the plugin at `root`; without plugin.json, use the keys of `entry`.

    Raises PluginError naming file and key, also for a path outside the plugin, and if this
    program is older than `min_version`.
    """
    path = os.path.join(root, FILE_NAME)
    try:
        values = read_object(path)
        texts = {key: text(path, values, key) for key in TEXTS}
        wanted = text(path, values, "min_version")
        if wanted:
            from host import version_problem  # costs a listing of plugins 2 ms

            if problem := version_problem(path, wanted):
                raise PluginError(problem)
        found = Manifest(**texts, scripts=read_scripts(path, values))
    except FileNotFoundError:
        found = Manifest(directory=entry.directory, hooks=entry.hooks) if entry else Manifest()
    if entry and entry.scripts is not None:
        found = found.replaced(scripts=entry.scripts)
    return found.replaced(
        tree=_inside(root, found.directory, "directory") if found.directory else root,
        hooks_file=_inside(root, found.hooks, "hooks") if found.hooks else "",
    )


class DirectoryPlugin(Record):
    """A plugin's directory and its manifest; `problem` is why it is ignored."""

    name: str
    root: str
    dev: bool = False
    enabled: bool = True
    manifest: Manifest = Manifest()
    problem: Problem | None = None

    @property
    def new_entry(self) -> Entry:
        """Return a new registry entry for it."""
        source = os.path.realpath(self.root) if self.dev else ""
        return Entry(self.name, "local", source, dev=self.dev).replaced(**self.manifest.facts)


def find_directory_plugins(plugins_dir: str, registry: Registry) -> list[DirectoryPlugin]:
    """Return the plugins in registry order, then the unregistered ones by name."""
    here = [one for one in names_in(plugins_dir) if one != REGISTRY and one[:1] != "."]
    here = [one for one in here if one[:2] != "__" and os.path.isdir(f"{plugins_dir}/{one}")]
    found = [
        _plugin(plugins_dir, name, entry)
        for name, entry in registry.entries.items()
        if name in here and not entry.is_package
    ]
    for name in here:
        if name in registry.refused:
            root = os.path.join(plugins_dir, name)
            found.append(DirectoryPlugin(name, root, problem=registry.refused[name]))
        # A link to a version without an entry is an unfinished addition or removal.
        elif name not in registry.entries and not store_of(plugins_dir, name).current:
            found.append(_plugin(plugins_dir, name, None))
    return found


def names_in(directory: str) -> list[str]:
    """Return the sorted names in a directory, [] if it cannot be read."""
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


def store_of(plugins_dir: str, name: str) -> Store:
    """Return the kept versions of a plugin; the link to the current one is `plugins/<name>`."""

    def is_own(path: str) -> bool:
        return recorded(path) is not None

    link = os.path.join(plugins_dir, name)
    return Store(os.path.join(plugins_dir, VERSIONS, name), link, is_own, TREE)


def recorded(version: str) -> Entry | None:
    """Return the entry of the kept version at a path, None if this program did not make it."""
    try:
        entry = read_entry(read_object(os.path.join(version, RECORD)))
    except (HostError, OSError):
        return None
    return entry if version.endswith(f"/{entry.name}/{entry.version_dir}") else None


def _plugin(plugins_dir: str, name: str, entry: Entry | None) -> DirectoryPlugin:
    root = os.path.join(plugins_dir, name)
    linked = os.path.islink(root) and not store_of(plugins_dir, name).current
    dev = entry.dev if entry else linked
    found = DirectoryPlugin(name, root, dev, enabled=entry is None or entry.enabled)
    try:
        if not is_plugin_name(name):
            what = "cannot be a plugin's name"
            raise PluginError(Problem(root, what, f"rename the directory: {NAME_RULE}"))
        if linked and not dev:
            raise PluginError(Problem(root, "leads out of the plugins directory"))
        manifest = read_manifest(root, entry)
        if os.path.exists(manifest.hooks_file) and not os.path.isfile(manifest.hooks_file):
            # Opening a FIFO would block forever.
            raise PluginError(Problem(root, f"{manifest.hooks} is no file", key="hooks"))
    except HostError as error:
        return found.replaced(problem=error.problem)
    return found.replaced(manifest=manifest)


def _inside(root: str, relative: str, what: str) -> str:
    """Return the path of `relative` in the plugin at `root`.

    Raises PluginError if it leaves the plugin, even by a link.
    """
    path = os.path.join(root, relative)
    top = os.path.realpath(root)
    real = os.path.realpath(path)
    if relative.startswith("/") or (real != top and not real.startswith(top + os.sep)):
        raise PluginError(Problem(root, f"{relative} leaves the plugin", key=what))
    return path

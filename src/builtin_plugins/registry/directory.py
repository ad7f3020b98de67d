"""Directory plugins: the contents of `plugins/`, combined with the registry.

A plugin is a version that this program made, `plugins/.versions/<name>/<version>/tree`, the user's
linked directory anywhere, or a directory that the user has put into `plugins/`.
"""

from __future__ import annotations

import os
import sys

from builtin_plugins.registry.entry import (
    FILES_DIR,
    NAME_RULE,
    VERSIONS,
    Entry,
    is_plugin_name,
    read_entry,
    read_path,
    read_scripts,
)
from builtin_plugins.registry.json_object import read_object, text
from builtin_plugins.registry.registry import Registry
from builtin_plugins.registry.version import PluginVersion
from host import CommandTree, HostError, PluginError, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

    from builtin_plugins.library.versioned_directory import Store

MANIFEST = "plugin.json"
# the file with a version's entry and number; only this program writes it
ENTRY_FILE = "entry.json"
NUMBER = "number"
TEXTS = ("name", "version", "description", "directory", "hooks")


def read_plugin(root: str, entry: Entry) -> PluginVersion:
    """Return the plugin at `root`; the texts in its plugin.json replace those of `entry`.

    Only the name, `scripts` and `path` of `entry`, if set, take precedence over plugin.json. Raises
    HostError, which names the file and the key, for an invalid value, for a path outside the
    plugin, and if this program is older than `min_version`.
    """
    path = os.path.join(root, MANIFEST)
    scripts = entry.scripts
    folders = entry.path
    manifest: dict[str, Any] = {}
    try:
        manifest = read_object(path)
    except FileNotFoundError:
        pass
    else:
        _check_min_version(path, manifest)
        texts = _texts(path, manifest, entry.name)
        entry = entry.replaced(**texts)
        scripts = _combined(scripts, read_scripts(path, manifest))
        if folders is None:
            folders = read_path(path, manifest)

    # Each path is checked: the author of the plugin wrote it.
    tree_path = root
    if entry.directory:
        tree_path = _inside(root, entry.directory, "directory")
    hooks_file = ""
    if entry.hooks:
        hooks_file = _inside(root, entry.hooks, "hooks")
    path_folders = []
    if folders is not None:
        for folder in folders:
            path_folders.append(_inside(root, folder, "path"))

    under = ""
    if scripts is not None:
        under = str(scripts.get("under", ""))
    tree = CommandTree(
        tree_path,
        entry.name,
        entry.dev,
        scripts=_names_of_scripts(scripts),
        under=tuple(under.split()),
        root=root,
        path_folders=tuple(path_folders),
    )
    return PluginVersion(entry, root, tree, hooks_file, manifest=manifest)


def _texts(path: str, values: dict[str, Any], name: str) -> dict[str, str]:
    """Return the texts in plugin.json; the user's `name` for the plugin, if any, wins."""
    texts = {key: text(path, values, key) for key in TEXTS}
    if name:
        texts["name"] = name
    return texts


def _names_of_scripts(
    scripts: Mapping[str, str | bool] | None,
) -> dict[str, str] | None:
    """Return how a tree names the commands of its scripts, or None if they are no commands."""
    if scripts is None or scripts.get("files") is False:
        return None

    names = {}
    for key in ("prefix", "split"):
        if key in scripts:
            names[key] = str(scripts[key])
    return names


def missing_path(plugin: PluginVersion) -> Problem | None:
    """Return a problem if plugin.json names a file or directory that does not exist."""
    paths = {"directory": plugin.tree.path, "hooks": plugin.hooks_file}
    for key, path in paths.items():
        if not path or os.path.exists(path):
            continue
        file = os.path.join(plugin.root, MANIFEST)
        return Problem(file, f"{path} does not exist", key=key)
    return None


def _check_min_version(path: str, values: dict[str, Any]) -> None:
    """Raise PluginError if the plugin.json at `path` needs a newer version of this program."""
    needed = text(path, values, "min_version")
    if not needed:
        return

    from host import version_problem  # imported here: importing takes 2 ms

    problem = version_problem(path, needed)
    if problem:
        raise PluginError(problem)


def _combined(
    chosen: Mapping[str, str | bool] | None, declared: Mapping[str, str | bool] | None
) -> Mapping[str, str | bool] | None:
    """Return the user's `scripts`; without a choice about files, plugin.json decides about them."""
    if chosen is None:
        return declared
    if declared is not None and chosen.get("files") is False:
        return {**declared, "under": chosen.get("under", "")}
    return chosen


def find_directory_plugins(
    plugins_dir: str, registry: Registry, without: Collection[str] = ()
) -> list[PluginVersion]:
    """Return the plugins in registry order, then the unregistered ones by name.

    Plugins whose files are missing, and those `without`, are left out; the latter are not read. An
    entry that cannot be used yields a plugin with a `problem`.
    """
    plugins = []
    for name, entry in registry.entries.items():
        if entry.is_package or name in without:
            continue
        root = entry.root(plugins_dir)
        if os.path.isdir(root):
            plugins.append(_plugin(plugins_dir, entry))

    for name, problem in registry.refused.items():
        plugins.append(PluginVersion(Entry(name, "local"), problem=problem))
    for entry in dropped_entries(plugins_dir, registry):
        if entry.name not in without:
            plugins.append(_plugin(plugins_dir, entry))
    return plugins


def dropped_entries(plugins_dir: str, registry: Registry) -> list[Entry]:
    """Return an entry for each directory in `plugins/` that the registry does not have."""
    # A damaged entry may be the one that disables such a directory.
    if registry.problems:
        return []

    entries = []
    for name in names_in(plugins_dir):
        if name.startswith((".", "__")) or name in registry.entries:
            continue
        path = os.path.join(plugins_dir, name)
        # A link to a version of ours is left of a change that was interrupted.
        if os.path.isdir(path) and not store_of(plugins_dir, name).current:
            entries.append(Entry(name, "local", dev=os.path.islink(path)))
    return entries


def names_in(directory: str) -> list[str]:
    """Return the sorted names in a directory, or [] if it cannot be read."""
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


def store_of(plugins_dir: str, name: str) -> Store:
    """Return the store of a plugin's versions, with the link `plugins/<name>`.

    The registry decides which version is the current one. The link is for people and scripts.
    """
    # Imported here because a list of plugins needs no store.
    from builtin_plugins.library.versioned_directory import Store

    def is_own(path: str) -> bool:
        return read_kept_entry(path) is not None

    link = os.path.join(plugins_dir, name)
    directory = os.path.join(plugins_dir, VERSIONS, name)
    return Store(directory, link, is_own, FILES_DIR)


def kept_versions(plugins_dir: str, name: str) -> list[Entry]:
    """Return the entries of a plugin's versions in `.versions`, the one without a number last."""
    store = store_of(plugins_dir, name)
    kept = []
    for version in store.versions():
        path = store.path(version)
        entry = read_kept_entry(path)
        if entry is not None:
            # The current version has no number yet.
            kept.append((number_of(path) or sys.maxsize, entry))
    kept.sort(key=lambda item: item[0])
    return [entry for _, entry in kept]


def read_kept_entry(version: str) -> Entry | None:
    """Return the entry in `version`, or None if this is not a directory that the program made."""
    try:
        values = read_object(os.path.join(version, ENTRY_FILE))
        entry = read_entry(values)
    except (HostError, OSError):
        return None

    # The file of a copied or renamed directory belongs to another version.
    is_at_its_place = version.endswith(f"/{entry.name}/{entry.version_dir}")
    if not is_at_its_place:
        return None
    return entry


def number_of(version: str) -> int:
    """Return the number of a version, by which earlier versions are ordered, or 0 for none."""
    try:
        number = read_object(os.path.join(version, ENTRY_FILE)).get(NUMBER)
    except (HostError, OSError):
        return 0
    if isinstance(number, int):
        return number
    return 0


def _plugin(plugins_dir: str, entry: Entry) -> PluginVersion:
    """Return the plugin of an entry; its `problem` is set if it cannot be used."""
    root = entry.root(plugins_dir)
    try:
        if not is_plugin_name(entry.name):
            what = "is not a valid plugin name"
            remedy = f"rename the directory: {NAME_RULE}"
            raise PluginError(Problem(root, what, remedy))
        check_place(plugins_dir, entry)
        return read_plugin(root, entry)
    except HostError as error:
        return PluginVersion(entry, root, problem=error.problem)


def check_place(plugins_dir: str, entry: Entry) -> None:
    """Raise PluginError if an entry's files are outside `plugins/`, except for a linked directory.

    A version in `.versions` may itself be a link, or contain one in the place of its files.
    """
    if entry.is_users_directory:
        return
    root = entry.root(plugins_dir)
    inside = os.path.join(os.path.realpath(plugins_dir), "")
    if not os.path.realpath(root).startswith(inside):
        what = "links to a directory outside the plugins directory"
        raise PluginError(Problem(root, what))


def _inside(root: str, relative: str, what: str) -> str:
    """Return the path of `relative` in the plugin at `root`.

    Raises PluginError if the path leads out of the plugin, even through a link.
    """
    path = os.path.join(root, relative)
    top = os.path.realpath(root)
    target = os.path.realpath(path)
    is_inside = os.path.commonpath([top, target]) == top
    if relative.startswith("/") or not is_inside:
        raise PluginError(Problem(root, f"{relative} is outside the plugin", key=what))
    return path

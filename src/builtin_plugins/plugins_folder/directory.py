"""Directory plugins: the contents of `plugins/`, combined with the registry.

`plugins/<name>` is a directory, a link to one, or a link to a version that this program made:
`plugins/.versions/<name>/<version>/tree`.
"""

from __future__ import annotations

import os

from builtin_plugins.plugins_folder.entry import (
    NAME_RULE,
    REGISTRY,
    Entry,
    is_plugin_name,
    read_entry,
    read_path,
    read_scripts,
)
from builtin_plugins.plugins_folder.json_object import read_object, text
from builtin_plugins.plugins_folder.registry import Registry
from builtin_plugins.plugins_folder.version import PluginVersion
from host import CommandTree, HostError, PluginError, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

    from builtin_plugins.store.versions import Store

MANIFEST = "plugin.json"
VERSIONS = ".versions"
FILES_DIR = "tree"  # the subdirectory of each version for the plugin's files
# the file with a version's entry; only this program writes it
ENTRY_FILE = "entry.json"
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
    try:
        values = read_object(path)
    except FileNotFoundError:
        pass
    else:
        _check_min_version(path, values)
        texts = _texts(path, values, entry.name)
        entry = entry.replaced(**texts)
        scripts = _combined(scripts, read_scripts(path, values))
        if folders is None:
            folders = read_path(path, values)

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
    return PluginVersion(entry, root, tree, hooks_file)


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


def manifest_decides(root: str) -> bool:
    """Return whether the plugin.json in `root` says which files are commands, or what is on PATH.

    Raises HostError if it cannot be read.
    """
    try:
        values = read_object(os.path.join(root, MANIFEST))
    except FileNotFoundError:
        return False

    for key in ("scripts", "path"):
        if values.get(key) is not None:
            return True
    return False


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

    The plugins `without` are left out, and not read.
    """
    names = _names_of_plugins(plugins_dir, without)
    plugins = []
    existing = frozenset(names)
    for name, entry in registry.entries.items():
        if name in existing and not entry.is_package:
            plugins.append(_plugin(plugins_dir, name, entry))

    for name in names:
        if name in registry.refused:
            problem = registry.refused[name]
            root = os.path.join(plugins_dir, name)
            entry = Entry(name, "local")
            plugins.append(PluginVersion(entry, root, problem=problem))
        elif name in registry.entries or registry.is_damaged:
            # A registry that cannot be read may have disabled the plugin.
            continue
        # An unregistered link to a kept version comes from an unfinished addition or removal.
        elif not store_of(plugins_dir, name).current:
            plugins.append(_plugin(plugins_dir, name, None))
    return plugins


def names_in(directory: str) -> list[str]:
    """Return the sorted names in a directory, or [] if it cannot be read."""
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


def _names_of_plugins(plugins_dir: str, without: Collection[str]) -> list[str]:
    """Return the names of the directories in `plugins/`, except hidden ones and `without`."""
    names = []
    for name in names_in(plugins_dir):
        if name.startswith((".", "__")):
            continue
        if name == REGISTRY or name in without:
            continue

        path = os.path.join(plugins_dir, name)
        if os.path.isdir(path):
            names.append(name)
    return names


def store_of(plugins_dir: str, name: str) -> Store:
    """Return the store of a plugin's versions; the link to the current one is `plugins/<name>`."""
    # Imported here because a list of plugins needs no store.
    from builtin_plugins.store.versions import Store

    def is_own(path: str) -> bool:
        return read_kept_entry(path) is not None

    link = os.path.join(plugins_dir, name)
    directory = os.path.join(plugins_dir, VERSIONS, name)
    return Store(directory, link, is_own, FILES_DIR)


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


def _plugin(plugins_dir: str, name: str, entry: Entry | None) -> PluginVersion:
    """Return the plugin in `plugins/<name>`; without an entry, it gets one for a local directory.

    Its `problem` is set if it cannot be used.
    """
    root = os.path.join(plugins_dir, name)
    # A link to a version is this program's own.
    is_users_link = os.path.islink(root) and not store_of(plugins_dir, name).current
    if entry is None:
        source = ""
        if is_users_link:
            source = os.path.realpath(root)
        entry = Entry(name, "local", source, dev=is_users_link)

    try:
        if not is_plugin_name(name):
            what = "is not a valid plugin name"
            remedy = f"rename the directory: {NAME_RULE}"
            raise PluginError(Problem(root, what, remedy))

        # A kept version may itself be a link, or contain one in the place of its files.
        inside = os.path.join(os.path.realpath(plugins_dir), "")
        is_inside = os.path.realpath(root).startswith(inside)
        is_in_place = is_inside and not is_users_link
        if not is_in_place and not entry.dev:
            what = "links to a directory outside the plugins directory"
            raise PluginError(Problem(root, what))
        return read_plugin(root, entry)
    except HostError as error:
        return PluginVersion(entry, root, problem=error.problem)


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

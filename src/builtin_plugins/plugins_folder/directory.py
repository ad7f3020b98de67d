"""Directory plugins: what lies in `plugins/`, joined with what the registry says of it."""

from __future__ import annotations

import os

from builtin_plugins.plugins_folder.registry import FILE_NAME as REGISTRY
from builtin_plugins.plugins_folder.registry import (
    FRAMEWORK_WORDS,
    Entry,
    Registry,
    is_plugin_name,
    read_scripts,
)
from host import HostError, PluginError, Problem, Record
from host.run.json_file import Fields, read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FILE_NAME = "plugin.json"
VERSIONS = ".versions"
TREE = "tree"
_TEXTS = ("name", "version", "description", "directory", "hooks")


class Manifest(Record):
    """What plugin.json says, "" where it says nothing.

    `directory` is the subdirectory that holds the categories, `hooks` a Python file
    with hookimpls; both relative to the plugin. `tree` and `hooks_file` are their paths,
    the first the plugin's own without a `directory`. `scripts` is None if only folders are
    commands, else it may have "prefix" and "split". `warnings` are misspelt keys.
    """

    name: str = ""
    version: str = ""
    description: str = ""
    directory: str = ""
    hooks: str = ""
    tree: str = ""
    hooks_file: str = ""
    scripts: Mapping[str, str] | None = None
    warnings: tuple[Problem, ...] = ()

    @property
    def facts(self) -> dict[str, str]:
        """Return what an entry of the registry has of it, by name: all texts but the name."""
        return {key: getattr(self, key) for key in _TEXTS if key != "name"}


def read_manifest(root: str, entry: Entry | None = None) -> Manifest:
    """Return the manifest of the plugin at `root`; where there is none, `entry` knows the places.

    Raises DefinitionError naming file and key, PluginError for a place outside the plugin.
    """
    path = os.path.join(root, FILE_NAME)
    try:
        said = Fields(path, read_json(path))
        texts = {key: said.text(key) for key in _TEXTS}
        found = Manifest(**texts, scripts=read_scripts(said), warnings=said.misspelt())
    except FileNotFoundError:
        found = Manifest(directory=entry.directory, hooks=entry.hooks) if entry else Manifest()
    if entry and entry.scripts is not None:
        found = found.replaced(scripts=entry.scripts)
    return found.replaced(
        tree=_inside(root, found.directory, "directory") if found.directory else root,
        hooks_file=_inside(root, found.hooks, "hooks") if found.hooks else "",
    )


class DirectoryPlugin(Record):
    """A plugin's directory, and what it says of itself; `problem` says why it does not count."""

    name: str
    root: str
    dev: bool = False
    enabled: bool = True
    manifest: Manifest = Manifest()
    problem: Problem | None = None

    @property
    def new_entry(self) -> Entry:
        """Return the entry that it gets where the registry has none."""
        source = os.path.realpath(self.root) if self.dev else ""
        return Entry(self.name, "local", source, dev=self.dev).replaced(**self.manifest.facts)


def find_directory_plugins(plugins_dir: str, registry: Registry) -> list[DirectoryPlugin]:
    """Return the plugins in registry order, then the unregistered by name.

    Where nothing is known of any, kept versions are plugins, too.
    """
    here = _present(plugins_dir)
    unknown = registry.damage and not registry.exists
    found = [
        _plugin(plugins_dir, name, entry)
        for name, entry in registry.entries.items()
        if name in here and not entry.is_package
    ]
    for name in here:
        if name in registry.entries:
            continue
        if name in registry.refused:
            root = os.path.join(plugins_dir, name)
            found.append(DirectoryPlugin(name, root, problem=registry.refused[name]))
        # A link to a kept version without an entry is half added or half removed.
        elif unknown or not linked_version_dir(plugins_dir, name):
            found.append(_plugin(plugins_dir, name, None))
    return found


def _present(plugins_dir: str) -> list[str]:
    """Return the names of the directories, links to directories included, sorted."""
    return [
        name
        for name in names_in(plugins_dir)
        if name != REGISTRY
        and not name.startswith((".", "__"))
        and os.path.isdir(os.path.join(plugins_dir, name))
    ]


def names_in(directory: str) -> list[str]:
    """Return what is in a directory, sorted; nothing where it cannot be read."""
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


def linked_version_dir(plugins_dir: str, link: str, name: str = "") -> str | None:
    """Return to which kept version of plugin `name`, if not called as it is, `link` leads.

    None when it leads to none.
    """
    try:
        parts = os.readlink(os.path.join(plugins_dir, link)).split("/")
    except OSError:
        return None
    is_kept = len(parts) == 4 and parts[:2] == [VERSIONS, name or link] and parts[3] == TREE
    return parts[2] if is_kept else None


def _plugin(plugins_dir: str, name: str, entry: Entry | None) -> DirectoryPlugin:
    root = os.path.join(plugins_dir, name)
    linked = os.path.islink(root) and linked_version_dir(plugins_dir, name) is None
    dev = entry.dev if entry else linked
    found = DirectoryPlugin(name, root, dev, enabled=entry is None or entry.enabled)
    try:
        _check_place(name, root, leads_out=linked and not dev)
        said = read_manifest(root, entry)
        if os.path.exists(said.hooks_file) and not os.path.isfile(said.hooks_file):
            # Opening a FIFO would never end.
            raise PluginError(Problem(root, f"{said.hooks} is no file", key="hooks"))
    except HostError as error:
        return found.replaced(problem=error.problem)
    return found.replaced(manifest=said)


def _check_place(name: str, root: str, *, leads_out: bool) -> None:
    if name in FRAMEWORK_WORDS:
        what = f"{name} is a word of this program itself"
        raise PluginError(Problem(root, what, "rename the directory"))
    if not is_plugin_name(name):
        raise PluginError(Problem(root, "cannot be a plugin's name", "use a-z, 0-9 and ._-"))
    if leads_out:
        raise PluginError(Problem(root, "leads out of the plugins directory"))


def _inside(root: str, relative: str, what: str) -> str:
    """Return the path of `relative` in the plugin at `root`.

    Raises PluginError when it leaves the plugin, also by a link.
    """
    path = os.path.join(root, relative)
    top = os.path.realpath(root)
    real = os.path.realpath(path)
    if relative.startswith("/") or (real != top and not real.startswith(top + os.sep)):
        raise PluginError(Problem(root, f"{relative} leaves the plugin", key=what))
    return path

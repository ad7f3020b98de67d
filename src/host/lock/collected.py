"""Collect the records of all plugins, check them, and make the lock of them."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from host.catalog.declared_commands import Declared
from host.errors import HostError
from host.lock import broken
from host.lock.checked_records import CHECKED, Checked, absolute_path, check_texts
from host.lock.first_words import files_by_word
from host.lock.loading import LoadedPlugin, package_files, plugin_manager
from host.lock.lock import Lock, stamp
from host.lock.plugin import Plugin
from host.lock.plugin_worker import PluginAnswer
from host.plugin_functions import AfterRun, BeforeRun, SecretScheme
from host.record_base import CommandTree, EnvSource
from host.records import (
    BrokenPlugin,
    Disabled,
    Installation,
    PluginFile,
    PluginOrder,
    PluginPackage,
    Watch,
)
from host.variables.layers import LOAD_ORDER

_ALL = "*"  # the name in `Disabled` for all plugins of other distributions


class Collected:
    """The checked records of all plugins queried so far."""

    def __init__(self, stamps: dict[str, str]) -> None:
        self.stamps = stamps
        self.plugins: dict[str, Plugin] = {}
        self.files: list[PluginFile] = []
        self.packages: list[PluginPackage] = []
        self.disabled: dict[str, Sequence[Sequence[str]]] = {}
        # The position of each plugin in the registry.
        self.order: dict[str, int] = {}
        # Each record with what orders the records.
        self.checked: list[tuple[tuple[int, int], Checked]] = []

    def query_builtin(
        self, points: Iterable[Plugin], hooks: Iterable[str], installation: Installation
    ) -> None:
        """Query the built-in plugins in this process."""
        # To read the hooks takes longer than to load a plugin.
        manager = plugin_manager()
        loaded_plugins = []
        for plugin in points:
            if plugin.ours:
                loaded_plugins.append(LoadedPlugin(plugin, manager))
                self.plugins[plugin.name] = plugin

        for hook in hooks:
            for loaded in loaded_plugins:
                take = partial(self.take, loaded.plugin, hook)
                loaded.collect(hook, take, installation=installation)

    def third_party(self, points: Iterable[Plugin]) -> list[Plugin]:
        """Add the enabled third-party plugins to `plugins`; return those that can be queried.

        The packages of the registry come first. A distribution in the program's environment is
        left out if the registry has a package of its name. If two plugins have the same name, the
        second is added as broken, under a name that includes its distribution.
        """
        usable = []
        for plugin in self._candidates(points):
            if plugin.name in self.plugins:
                plugin.name = f"{plugin.name} ({plugin.distribution})"
                plugin.broken = broken.NAME_TAKEN
            else:
                usable.append(plugin)
            self.plugins[plugin.name] = plugin
        return usable

    def _candidates(self, points: Iterable[Plugin]) -> list[Plugin]:
        """Return the enabled plugins: packages of the registry, distributions, hooks files."""
        candidates: list[Plugin] = []
        if _ALL in self.disabled:
            return candidates
        for package in self.packages:
            for point in package.points:
                candidates.append(
                    Plugin(
                        point.name,
                        distribution=point.distribution,
                        version=point.version,
                        reference=point.reference,
                        package=package.name,
                        folders=package.folders,
                        under=package.under,
                    )
                )

        hidden = set(self.disabled)
        for package in self.packages:
            hidden.add(package.name)
        for plugin in points:
            if not plugin.ours and plugin.package not in hidden:
                candidates.append(plugin)

        for file in self.files:
            candidates.append(
                Plugin(file.name, file.origin, file=file.path, under=file.under)
            )
        return candidates

    def add(self, plugin: Plugin, answer: PluginAnswer) -> None:
        """Add all records of a third-party plugin."""
        plugin.hooks = answer.hooks
        if answer.reason:
            plugin.broken = broken.with_distribution(plugin, answer.reason)
            # A failed import returns no stamps, so take those of all files of the plugin.
            self.stamp_files(package_files(plugin))
        self.stamps.update(answer.stamps)

        for hook, record in answer.records:
            self.take(plugin, hook, record)

    def stamp_files(self, paths: Iterable[str]) -> None:
        """Build the lock again if one of these files changes."""
        for path in paths:
            self.stamps[path] = stamp(path)

    def take(self, plugin: Plugin, hook: str, record: Any) -> None:
        """Add a record; an invalid one marks its plugin as broken."""
        try:
            self._add_record(plugin, hook, record)
        except (HostError, TypeError, ValueError) as error:
            plugin.broken = broken.wrong_record(hook, error)

    def _add_record(self, plugin: Plugin, hook: str, record: Any) -> None:
        check_texts(record)
        if isinstance(record, Watch):
            path = absolute_path(record.path)
            self.stamps.setdefault(path, stamp(path))
        elif isinstance(record, BrokenPlugin):
            self._add_broken(record)
        elif isinstance(record, PluginOrder):
            self._set_order(record)
        elif isinstance(record, PluginFile):
            self.files.append(record)
        elif isinstance(record, PluginPackage):
            self.packages.append(record)
        elif isinstance(record, Disabled):
            self.disabled[record.plugin] = record.commands
        else:
            self._add_checked(plugin, hook, record)

    def _set_order(self, record: PluginOrder) -> None:
        self.order = {}
        for position, name in enumerate(record.names, start=1):
            self.order[name] = position

    def _add_broken(self, record: BrokenPlugin) -> None:
        name = record.plugin
        if name not in self.plugins:
            self.plugins[name] = Plugin(name, package=name)
        plugin = self.plugins[name]
        reasons = [record.reason]
        if plugin.broken and not name:
            reasons.insert(0, plugin.broken)
        plugin.broken = "; ".join(reasons)
        plugin.missing = record.missing

    def _add_checked(self, plugin: Plugin, hook: str, record: Any) -> None:
        """Add a record that the lock contains."""
        check = CHECKED[type(record)]
        checked = check(plugin, record)

        # `tryfirst` and `trylast` of the hook come before the order of the registry.
        rank = plugin.hooks.get(hook, 0)
        position = self._position(plugin, checked)
        self.checked.append(((rank, position), checked))
        if isinstance(record, CommandTree):
            plugin.trees = [*plugin.trees, record.path]

    def _position(self, plugin: Plugin, record: Checked) -> int:
        """Return the position of a record's plugin in the registry; others come after these."""
        name = ""
        if plugin.ours:
            if isinstance(record, CommandTree):
                name = record.plugin  # the folder that the built-in plugin declares
        elif plugin.folders:
            # A package may have several plugins, and the registry has the package's name.
            name = plugin.package
        else:
            name = plugin.name
        return self.order.get(name, len(self.order) + 1)

    def lock(self) -> Lock:
        """Return the lock; records are in order of precedence, the installation's own first."""
        places = sorted({place for place, _ in self.checked})
        trees: list[CommandTree] = []
        commands: list[Declared] = []
        sources: list[EnvSource] = []
        schemes: list[SecretScheme] = []
        before_runs: list[BeforeRun] = []
        after_runs: list[AfterRun] = []
        for place, record in sorted(self.checked, key=_place_of):
            order = 1 + places.index(place)
            if isinstance(record, CommandTree):
                if record.plugin:  # otherwise, it is of the installation
                    record.order = order
                trees.append(record)
            elif isinstance(record, Declared):
                if not record.ours:
                    record.order = order
                commands.append(record)
            elif isinstance(record, EnvSource):
                sources.append(record)
            elif isinstance(record, SecretScheme):
                schemes.append(record)
            elif isinstance(record, BeforeRun):
                before_runs.append(record)
            else:
                after_runs.append(record)

        trees.sort(key=lambda tree: tree.order)
        sources.sort(key=lambda source: LOAD_ORDER[source.reader])
        orders = [command.order for command in commands if not command.ours]
        return Lock(
            trees=trees,
            commands=commands,
            sources=sources,
            plugins=self.plugins,
            stamps=self.stamps,
            disabled=self.disabled,
            schemes=schemes,
            before_runs=before_runs,
            after_runs=after_runs,
            first_declared=min(orders, default=None),
            first_words=self._first_words(trees),
        )

    def _first_words(self, trees: Iterable[CommandTree]) -> dict[str, dict[str, str]]:
        """Return the first words in the directory of each plugin, by its path."""
        first_words = {}
        for tree in trees:
            # They stay right while the directory is unchanged, so it must be watched.
            if tree.plugin and tree.path in self.stamps:
                first_words[tree.path] = files_by_word(tree)
        return first_words


def _place_of(placed: tuple[tuple[int, int], Checked]) -> tuple[int, int]:
    place, _ = placed
    return place

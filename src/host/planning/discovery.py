"""Query all plugins and build the lock from their records."""

import glob
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Literal

import importlib_metadata

from host.errors import HostError, InstallationError
from host.hook_marker import GROUP, OWN_DISTRIBUTION
from host.planning.checked_records import CHECKED, Checked, absolute_path, check_texts
from host.planning.loading import LoadedPlugin, package_files, package_of
from host.planning.lock_file import write_lock
from host.planning.plugin_worker import PLANNING_HOOKS, PluginAnswer, query
from host.records import (
    BrokenPlugin,
    Disabled,
    Installation,
    PluginFile,
    PluginOrder,
    PluginPackage,
    RecordedWords,
    Watch,
)
from host.run.declarations import AfterRun, CommandTree, EnvSource, SecretScheme
from host.run.declared_commands import Declared
from host.run.importing import program_path
from host.run.installation import OpenInstallation
from host.run.layers import LOAD_ORDER
from host.run.layout import Layout
from host.run.lock import Lock, stamp
from host.run.messages import Messages
from host.run.plugin import Plugin

_BUILTIN_HOOKS = ("find_plugins", *PLANNING_HOOKS)


def refresh(
    installation: OpenInstallation, messages: Messages, safe: bool = False
) -> Lock:
    """Query all plugins; write and return the lock.

    In safe mode, no third-party Python is imported, and nothing is written. Each broken plugin
    causes one warning. Raises InstallationError if this program is too old for cli.json. In that
    case, `self` commands work only if they need no lock.
    """
    if wanted := installation.config.min_version:
        from host.min_version import version_problem

        if problem := version_problem(installation.layout.config_file, wanted):
            raise InstallationError(problem)
    lock = query_plugins(installation, "none" if safe else "all")
    messages.warn(*lock.warnings(installation.layout.program))
    if not safe:
        write_lock(installation.locks, installation.key, lock)
    return lock


def own_commands(layout: Layout) -> list[Declared]:
    """Return the commands that the built-in plugins declare; no installation is needed."""
    collected = _Collected({})
    installation = Installation(layout.program, layout.root, "", "", "")
    collected.query_builtin(entry_points(), ["discover_commands"], installation)
    return list(collected.lock().commands)


def query_plugins(
    installation: OpenInstallation, code: Literal["all", "packages", "none"]
) -> Lock:
    """Query the plugins and return the lock; a failing plugin loses only its own records.

    `code` is the third-party Python that may be imported: "packages" leaves out the hooks of
    directory plugins. With "all", the hook `prepare` is called first.
    """
    record = _for_hooks(installation)
    collected = _Collected({path: stamp(path) for path in _import_paths()})
    points = entry_points()
    hooks = ("prepare", *_BUILTIN_HOOKS) if code == "all" else _BUILTIN_HOOKS
    collected.query_builtin(points, hooks, record)
    collected.stamps.update({path: stamp(path) for path in _files_of_checkout(points)})
    for plugin in collected.third_party(points):
        if code == "all" or (code == "packages" and not plugin.file):
            collected.add(plugin, query(plugin, record))
    return collected.lock()


def query_package(installation: OpenInstallation, package: PluginPackage) -> Lock:
    """Query only the plugin `package`, which need not be in the registry yet; return its records.

    This runs the plugin's code.
    """
    collected = _Collected({})
    collected.packages.append(package)
    for plugin in collected.third_party([]):
        collected.add(plugin, query(plugin, _for_hooks(installation)))
    return collected.lock()


def _for_hooks(installation: OpenInstallation) -> Installation:
    layout = installation.layout
    directories = (
        installation.commands_dir,
        installation.plugins_dir,
        layout.config_dir,
    )
    return Installation(layout.program, layout.root, *directories)


def entry_points() -> list[Plugin]:
    """Return the plugins of installed distributions, sorted by name, the built-in ones first.

    Distributions with unreadable metadata are skipped.
    """
    plugins = []
    seen = set()
    for distribution in importlib_metadata.distributions(path=program_path()):
        try:
            path = getattr(
                distribution, "_path", None
            )  # no public attribute has the path
            real_path = os.path.realpath(path) if path else None
            if real_path in seen:
                continue  # Fedora's `lib64` is a link to `lib`, and both are on `sys.path`
            seen.add(real_path)
            files = (
                [path / name for name in ("entry_points.txt", "METADATA")]
                if path
                else []
            )
            if any(file.exists() and not file.is_file() for file in files):
                continue  # reading a FIFO never ends
            points = distribution.entry_points.select(group=GROUP)
            if not points:
                continue  # fast path, because reading the metadata is slow
            name = str(distribution.metadata["Name"])
            version = str(distribution.version)
        except Exception:  # noqa: BLE001, S112 - another package's files may contain anything
            continue
        builtin = name == OWN_DISTRIBUTION
        package = re.sub("[-_.]+", "-", name).lower()  # normalized as in `packaging`
        plugins += [
            Plugin(
                point.name, name, version, point.value, ours=builtin, package=package
            )
            for point in points
        ]
    return sorted(
        plugins, key=lambda plugin: (not plugin.ours, plugin.name, plugin.distribution)
    )


def _import_paths() -> Iterator[str]:
    """Yield paths whose stamps change if a distribution is installed, changed or removed."""
    for path in program_path():
        if os.path.isdir(path):
            yield path
            yield from sorted(glob.glob(os.path.join(glob.escape(path), "*.pth")))


def _files_of_checkout(points: Iterable[Plugin]) -> list[str]:
    """Return the imported modules of the built-in plugins, if the program runs from a checkout.

    The lock has their declarations. An edit there, or a `git pull`, changes no distribution.
    """
    library = os.path.dirname(
        os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    )
    if glob.glob(
        os.path.join(glob.escape(library), f"{OWN_DISTRIBUTION.replace('-', '_')}-*")
    ):
        return []  # an installation with pip, which changes `library`
    packages = {package_of(plugin) for plugin in points if plugin.ours}
    modules = [
        sys.modules[name] for name in sys.modules if name.partition(".")[0] in packages
    ]
    files = [getattr(module, "__file__", None) for module in modules]
    return sorted(file for file in files if file and os.path.isfile(file))


class _Collected:
    """The checked records of all plugins queried so far."""

    def __init__(self, stamps: dict[str, str]) -> None:
        self.stamps = stamps
        self.plugins: dict[str, Plugin] = {}
        self.files: list[PluginFile] = []
        self.packages: list[PluginPackage] = []
        self.disabled: dict[str, Sequence[Sequence[str]]] = {}
        self.recorded: dict[str, Sequence[str]] = {}
        self.order: dict[str, int] = {}  # the position of each plugin in the registry
        self.checked: list[
            tuple[tuple[int, int], Checked]
        ] = []  # with what orders the records

    def query_builtin(
        self, points: Iterable[Plugin], hooks: Iterable[str], installation: Installation
    ) -> None:
        """Query the built-in plugins in this process."""
        loaded = [LoadedPlugin(plugin) for plugin in points if plugin.ours]
        self.plugins = {item.plugin.name: item.plugin for item in loaded}
        for hook in hooks:
            for item in loaded:
                take = partial(self.take, item.plugin, hook)
                item.collect(hook, take, installation=installation)

    def third_party(self, points: Iterable[Plugin]) -> list[Plugin]:
        """Add the enabled third-party plugins to `plugins`; return those that can be queried.

        The packages of the registry come first. A distribution in the program's environment is
        left out if the registry has a package of its name. If two plugins have the same name, the
        second is added as broken, under a name that includes its distribution.
        """
        candidates = []
        for package in self.packages:
            for point in package.points:
                plugin = Plugin(
                    point.name, point.distribution, point.version, point.reference
                )
                plugin.package = package.name
                plugin.folders = package.folders
                plugin.under = package.under
                candidates.append(plugin)
        hidden = {*self.disabled, *(package.name for package in self.packages)}
        others = [plugin for plugin in points if not plugin.ours]
        candidates += [plugin for plugin in others if plugin.package not in hidden]
        for file in self.files:
            candidates.append(
                Plugin(file.name, file.origin, file=file.path, under=file.under)
            )

        usable = []
        for plugin in candidates:
            if plugin.name in self.plugins:
                plugin.name = f"{plugin.name} ({plugin.distribution})"
                plugin.broken = "another plugin has this name"
            else:
                usable.append(plugin)
            self.plugins[plugin.name] = plugin
        return usable

    def add(self, plugin: Plugin, answer: PluginAnswer) -> None:
        plugin.hooks = answer.hooks
        if answer.reason:
            plugin.broken = f"{plugin.distribution}: {answer.reason}"
            # a failed import returns no stamps, so take those of all files of the plugin
            self.stamps.update({path: stamp(path) for path in package_files(plugin)})
        self.stamps.update(answer.stamps)
        for hook, record in answer.records:
            self.take(plugin, hook, record)

    def take(self, plugin: Plugin, hook: str, record: Any) -> None:
        """Add a record; an invalid one marks its plugin as broken."""
        try:
            self._add_record(plugin, hook, record)
        except (HostError, TypeError, ValueError) as error:
            plugin.broken = f"{hook}: {error}"

    def _add_record(self, plugin: Plugin, hook: str, record: Any) -> None:
        check_texts(record)
        if isinstance(record, Watch):
            self.stamps.setdefault(absolute_path(record.path), stamp(record.path))
        elif isinstance(record, BrokenPlugin):
            unloaded = Plugin(record.plugin, package=record.plugin)
            unusable = self.plugins.setdefault(record.plugin, unloaded)
            unusable.broken = record.reason
            unusable.missing = record.missing
        elif isinstance(record, PluginOrder):
            self.order = {
                name: index for index, name in enumerate(record.names, start=1)
            }
        elif isinstance(record, PluginFile):
            self.files.append(record)
        elif isinstance(record, PluginPackage):
            self.packages.append(record)
        elif isinstance(record, Disabled):
            self.disabled[record.plugin] = record.commands
        elif isinstance(record, RecordedWords):
            self.recorded[record.plugin] = record.words
        else:
            check = CHECKED[type(record)]
            checked = check(plugin, record)
            place = (plugin.hooks.get(hook, 0), self._position(plugin, checked))
            self.checked.append((place, checked))
            if isinstance(record, CommandTree):
                plugin.trees = [*plugin.trees, record.path]

    def _position(self, plugin: Plugin, record: Checked) -> int:
        """Return the position of a record's plugin in the registry; others come after these."""
        if not plugin.ours:
            name = plugin.package if plugin.folders else plugin.name
        else:
            name = record.plugin if isinstance(record, CommandTree) else ""
        return self.order.get(name, len(self.order) + 1)

    def lock(self) -> Lock:
        """Return the lock; records are in order of precedence, the installation's own first."""
        places = sorted({place for place, _ in self.checked})
        self.checked.sort(key=lambda placed: placed[0])
        records = []
        for place, record in self.checked:
            if isinstance(record, (CommandTree, Declared)) and not _is_of_installation(
                record
            ):
                record.order = 1 + places.index(place)
            records.append(record)
        trees = [record for record in records if isinstance(record, CommandTree)]
        declared = [record for record in records if isinstance(record, Declared)]
        sources = [record for record in records if isinstance(record, EnvSource)]
        return Lock(
            sorted(trees, key=lambda tree: tree.order),
            declared,
            sorted(sources, key=lambda source: LOAD_ORDER[source.reader]),
            self.plugins,
            self.stamps,
            self.disabled,
            [record for record in records if isinstance(record, SecretScheme)],
            [record for record in records if isinstance(record, AfterRun)],
            min(
                (command.order for command in declared if not command.ours),
                default=None,
            ),
            self.recorded,
        )


def _is_of_installation(record: CommandTree | Declared) -> bool:
    """Return whether a record is of the installation or this program, not of a plugin."""
    return record.ours if isinstance(record, Declared) else not record.plugin

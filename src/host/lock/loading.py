"""Load a plugin and call its hooks; an exception marks only this plugin as broken."""

import importlib.util
import sys
from collections.abc import Callable
from glob import escape, glob
from importlib.machinery import PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

import pluggy
from importlib_metadata import EntryPoint

from host import hookspecs
from host.errors import PluginError
from host.hook_marker import GROUP
from host.lock import broken
from host.lock.plugin import Plugin
from host.processes.importing import program_path

# All exceptions but the user's Ctrl-C.
_ANYTHING = (Exception, SystemExit, GeneratorExit)
# prefix of the module names of hooks files
_FILE_MODULES = "cli_host_directory_plugin_"


def plugin_manager() -> pluggy.PluginManager:
    """Return a manager that knows the hooks and has no plugins."""
    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(hookspecs)
    return manager


class LoadedPlugin:
    """Imports a plugin and calls its hooks; failures set `broken` of the `Plugin`."""

    def __init__(self, plugin: Plugin, manager: pluggy.PluginManager) -> None:
        """Import the plugin, register it and set its `hooks`."""
        self.plugin = plugin
        self._manager = manager
        try:
            plugin.hooks = self._register()
        except PluginError as failure:
            self._refuse(str(failure))
        except _ANYTHING as failure:
            self._refuse(broken.exception(failure))

    def _refuse(self, reason: str) -> None:
        """Mark the plugin as broken, and call none of its hooks."""
        self.plugin.broken = reason
        self._manager.set_blocked(self.plugin.name)

    def _register(self) -> dict[str, int]:
        """Import the plugin; return its hooks, with -1 for `tryfirst`, 1 for `trylast`, or else 0.

        Raises an exception if the import fails or a hook is invalid.
        """
        plugin = self.plugin
        manager = self._manager
        if plugin.file:
            module = _load_file(plugin)
        else:
            module = EntryPoint(plugin.name, plugin.reference, GROUP).load()
        manager.register(module, plugin.name)
        manager.check_pending()

        hooks = {}
        for name in hookspecs.HOOKS:
            caller = getattr(manager.hook, name)
            for implementation in caller.get_hookimpls():
                if implementation.plugin_name != plugin.name:
                    continue
                if implementation.wrapper or implementation.hookwrapper:
                    raise PluginError(f"{name}: {broken.HAS_WRAPPER}")
                hooks[name] = implementation.trylast - implementation.tryfirst
        return hooks

    @property
    def files(self) -> list[str]:
        """The imported source files of the plugin's package."""
        files = set()
        if self.plugin.file:
            files.add(self.plugin.file)
        package = package_of(self.plugin)
        for name, module in list(sys.modules.items()):
            if not f"{name}.".startswith(f"{package}."):
                continue  # another package's module may run code when an attribute is read
            file = getattr(module, "__file__", None)  # None for a namespace package
            if file:
                files.add(file)
        return sorted(files)

    def collect(self, hook: str, take: Callable[[Any], None], **arguments: Any) -> None:
        """Call a hook, and call `take` with each record that the hook yields."""
        try:
            for records in self._caller(hook)(**arguments):
                for record in records:
                    take(record)
        except _ANYTHING as failure:
            self.plugin.broken = broken.hook_raised(hook, failure)

    def call(self, hook: str, **arguments: Any) -> Any:
        """Return the result of a hook, or None if the plugin lacks the hook or fails."""
        try:
            return self._caller(hook)(**arguments)
        except _ANYTHING as failure:
            self.plugin.broken = broken.hook_raised(hook, failure)
            return None

    def _caller(self, hook: str) -> pluggy.HookCaller:
        """Return what calls the hook of this plugin only."""
        others = []
        for name, module in self._manager.list_name_plugin():
            if name != self.plugin.name:
                others.append(module)
        return self._manager.subset_hook_caller(hook, others)


def package_of(plugin: Plugin) -> str:
    """Return the name of the plugin's module or top-level package."""
    if plugin.file:
        return f"{_FILE_MODULES}{plugin.name.encode().hex()}"
    module, _, _ = plugin.reference.partition(":")
    package, _, _ = module.partition(".")
    return package


def _load_file(plugin: Plugin) -> ModuleType:
    """Import a hooks file under a unique module name, without writing bytecode."""
    loader = SourceFileLoader(package_of(plugin), plugin.file)
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec  # noqa: S101 - for mypy

    module = importlib.util.module_from_spec(spec)
    sys.modules[loader.name] = module
    sys.dont_write_bytecode = True  # affects only this child process
    loader.exec_module(module)
    return module


def package_files(plugin: Plugin) -> list[str]:
    """Return the files and folders of a plugin's package, without importing it."""
    if plugin.file:
        return [plugin.file]
    try:
        if plugin.folders:
            path = [*plugin.folders, *program_path()]
            spec = PathFinder.find_spec(package_of(plugin), path)
        else:
            spec = importlib.util.find_spec(package_of(plugin))
    except (ImportError, ValueError, AttributeError):
        return []
    if spec is None:
        return []

    files = []
    if spec.origin:
        files.append(spec.origin)
    folders = spec.submodule_search_locations or ()
    for folder in folders:
        for file in glob(f"{escape(folder)}/**", recursive=True):
            if "__pycache__" not in file:
                files.append(file)
    return files

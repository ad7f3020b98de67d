"""Loading plugins, so that one that is broken harms no other."""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.machinery import SourceFileLoader
from importlib.metadata import EntryPoint
from types import ModuleType
from typing import Any

import pluggy

from host import hookspecs
from host.run.importing import StdoutOnStderr
from host.run.lock import Plugin
from host.run.text import is_on

ANYTHING = (Exception, SystemExit, GeneratorExit)  # all but a user's Ctrl-C

_OURS_ONLY = frozenset(["prepare", "find_plugins"])
_FILE_MODULES = "cli_host_directory_plugin_"  # what the modules of hooks files are called
MOST_FILES = 2000  # of one plugin, to look at for changes
_LONGEST = 300  # characters of a reason


@dataclass(slots=True)
class Loaded:
    """The packages of the plugins that loaded, in order; `broken` says why others did not."""

    manager: pluggy.PluginManager
    packages: dict[str, str] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)

    def hooks_of(self, name: str) -> dict[str, int]:
        """Return the hooks that plugin `name` implements, with the place each asked for.

        -1 stands for tryfirst, 1 for trylast, 0 for neither.
        """
        return {
            caller.name: implementation.trylast - implementation.tryfirst
            for caller in self.manager.get_hookcallers(self.manager.get_plugin(name)) or []
            for implementation in caller.get_hookimpls()
            if implementation.plugin_name == name
        }

    def call_each(self, hook: str, take: Callable[[str, Any], None], **arguments: Any) -> None:
        """Call `take` with (plugin, record) for each record as it comes, in pluggy's order.

        A plugin that fails is only noted.
        """
        order = list(self.packages)
        for one in sorted(
            getattr(self.manager.hook, hook).get_hookimpls(),
            key=lambda one: (one.trylast - one.tryfirst, order.index(one.plugin_name)),
        ):
            with self._noted(one.plugin_name, hook):
                wanted = {key: arguments[key] for key in one.argnames}
                for record in one.function(**wanted) or ():
                    take(one.plugin_name, record)

    def answer(self, name: str, hook: str, **arguments: Any) -> Any:
        """Return what plugin `name` answers; None where it has no such hook, or fails."""
        for one in getattr(self.manager.hook, hook).get_hookimpls():
            if one.plugin_name == name:
                with self._noted(name, hook), StdoutOnStderr():
                    return one.function(**{key: arguments[key] for key in one.argnames})
        return None

    @contextmanager
    def _noted(self, name: str, hook: str) -> Iterator[None]:
        """Note what a hook raises: a plugin may do anything."""
        try:
            yield
        except ANYTHING as failure:
            self.broken[name] = f"{hook} raised {placed_reason(failure, self.packages[name])}"


def package_of(plugin: Plugin) -> str:
    """Return the module, or the package of modules, that is the plugin's own."""
    if plugin.file:
        return _file_module(plugin.name)
    return plugin.reference.partition(":")[0].partition(".")[0]


def _file_module(name: str) -> str:
    return f"{_FILE_MODULES}{name.encode().hex()}"


def _load_file(name: str, path: str) -> ModuleType:
    """Import a Python file under a name that no other module has, and leave nothing beside it."""
    module_name = _file_module(name)
    spec = importlib.util.spec_from_file_location(
        module_name, path, loader=SourceFileLoader(module_name, path)
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{path}: cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = kept
    return module


def load(plugins: Iterable[Plugin]) -> Loaded:
    """Import and register plugins; each failure is noted under the plugin's name."""
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    loaded = Loaded(manager)
    with StdoutOnStderr():
        for plugin in plugins:
            before = set(sys.modules)
            reason = _register(manager, plugin)
            if reason:
                loaded.broken[plugin.name] = reason
            else:
                loaded.packages[plugin.name] = package_of(plugin)
            if not plugin.ours:
                loaded.files |= _files_of(plugin, set(sys.modules) - before)
    return loaded


def _register(manager: pluggy.PluginManager, plugin: Plugin) -> str:
    """Load one plugin; return why it is broken, "" when it is not."""
    try:
        if plugin.file:
            found = _load_file(plugin.name, plugin.file)
        else:
            found = EntryPoint(plugin.name, plugin.reference, hookspecs.PROJECT).load()
        manager.register(found, plugin.name)
    except ANYTHING as failure:  # a plugin may do anything
        return placed_reason(failure, package_of(plugin))
    try:
        manager.check_pending()
    except pluggy.PluginValidationError as failure:
        manager.unregister(name=plugin.name)
        return reason_of(failure)
    reason = _unsupported(manager, plugin)
    if reason:
        manager.unregister(name=plugin.name)
    return reason


def _unsupported(manager: pluggy.PluginManager, plugin: Plugin) -> str:
    """Return which of the plugin's hookimpls is none that we call, "" when all are."""
    for caller in manager.get_hookcallers(manager.get_plugin(plugin.name)) or []:
        for one in caller.get_hookimpls():
            if one.plugin_name != plugin.name:
                continue
            if one.wrapper or one.hookwrapper:
                return f"{caller.name}: wrappers are not supported"
            if inspect.iscoroutinefunction(one.function) or inspect.isasyncgenfunction(
                one.function
            ):
                return f"{caller.name}: is async def; a hook is a plain function"
        if caller.name in _OURS_ONLY and not plugin.ours:
            return f"{caller.name}: only plugins of {hookspecs.OWN_DISTRIBUTION} are asked this"
    return ""


def _files_of(plugin: Plugin, modules: set[str]) -> set[str]:
    """Return the source files of the plugin's own package that were imported."""
    if plugin.file:
        return {plugin.file}
    package = package_of(plugin)
    files = set()
    for name in modules | {package}:
        if name == package or name.startswith(package + "."):
            file = getattr(sys.modules.get(name), "__file__", None)
            if file:
                files.add(str(file))
    return files


def source_files(plugin: Plugin) -> list[str]:
    """Return the files and directories that a plugin may be made of, without running it.

    They are not all where they are more than `MOST_FILES`.
    """
    if plugin.file:
        return [plugin.file]
    try:
        spec = importlib.util.find_spec(package_of(plugin))
    except (ImportError, ValueError, AttributeError):
        return []
    found = [spec.origin] if spec and spec.origin else []
    for root in (spec and spec.submodule_search_locations) or ():
        for directory, inner, names in os.walk(root):
            inner[:] = [name for name in inner if name != "__pycache__"]
            found += [directory, *(f"{directory}/{name}" for name in names if name.endswith(".py"))]
            if len(found) > MOST_FILES:
                return found
    return found


def placed_reason(failure: BaseException, package: str) -> str:
    """Return an exception as one line that ends in the place in `package` that it came through.

    Where DEBUG is on the whole traceback goes to stderr.
    """
    if is_on(os.environ.get("DEBUG")):
        traceback.print_exception(failure, file=sys.stderr)
    place = _place(failure, package)
    return f"{reason_of(failure)} ({place})" if place else reason_of(failure)


def reason_of(failure: BaseException) -> str:
    """Return an exception as one line that a list can show."""
    text = short_reason(" ".join(str(failure).split()))
    return f"{type(failure).__name__}: {text}" if text else type(failure).__name__


def short_reason(text: str) -> str:
    """Return `text`, cut where it is longer than anybody reads."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _place(failure: BaseException, package: str) -> str:
    """Return "file:line" of the innermost frame that is the package's own, "" for none."""
    if isinstance(failure, SyntaxError) and failure.filename:
        return f"{failure.filename}:{failure.lineno or 1}"
    found = ""
    for frame, line in traceback.walk_tb(failure.__traceback__):
        module = frame.f_globals.get("__name__")
        if isinstance(module, str) and f"{module}.".startswith(f"{package}."):
            found = f"{frame.f_code.co_filename}:{line}"
    return found

"""Loading plugins, so that one that is broken harms no other."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Any

import importlib_metadata
import pluggy

from builtin_plugins.plugin_directories.directory import find_directory_plugins
from builtin_plugins.plugin_directories.registry import read_registry, registry_path
from host import hookspecs
from host.errors import PluginError
from host.run.importing import StdoutOnStderr
from host.run.lock import BUILTIN

OWN_DISTRIBUTION = "cli-host"


_FILE_MODULES = "cli_host_directory_plugin_"  # what the modules of hooks files are called

_LONGEST = 300  # characters of a reason

ANYTHING = (Exception, SystemExit, GeneratorExit)  # all but a user's Ctrl-C
HOOKS = ("discover_commands", "env_sources", "render_listing", "is_installed")
_MOST_FILES = 2000  # of one plugin, to look at for changes
LISTING_HOOKS = frozenset(["render_listing", "is_installed"])


@dataclass(frozen=True, slots=True)
class Candidate:
    """A plugin that could be loaded: its name, the distribution or directory it comes from.

    `reference` is an entry point's "package.module", `file` a directory plugin's hooks file.
    """

    name: str
    origin: str
    load: Callable[[], Any]
    builtin: bool = False
    version: str = ""
    reference: str = ""
    file: str = ""


@dataclass(slots=True)
class Loaded:
    """The plugins that loaded, in order; `broken` has a reason for each that did not."""

    manager: pluggy.PluginManager
    names: list[str] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)

    def hooks_of(self, name: str) -> list[str]:
        """Return the names of the hooks that plugin `name` implements."""
        callers = self.manager.get_hookcallers(self.manager.get_plugin(name)) or []
        return [caller.name for caller in callers]

    def call_each(self, hook: str, **arguments: Any) -> Iterator[tuple[str, list[Any]]]:
        """Yield (plugin, records) for each plugin in order; one that fails is only noted."""
        implementations = {
            implementation.plugin_name: implementation
            for implementation in getattr(self.manager.hook, hook).get_hookimpls()
        }
        for name in self.names:
            implementation = implementations.get(name)
            if implementation is None:
                continue
            try:
                wanted = {key: arguments[key] for key in implementation.argnames}
                yield name, list(implementation.function(**wanted) or ())
            except ANYTHING as failure:  # a plugin may do anything
                self.broken[name] = f"{hook} raised {worded(failure)}"

    def first(self, hook: str, **arguments: Any) -> Any:
        """Return the first answer that is not None; a plugin that fails gives none."""
        for implementation in reversed(getattr(self.manager.hook, hook).get_hookimpls()):
            try:
                wanted = {key: arguments[key] for key in implementation.argnames}
                with StdoutOnStderr():
                    answer = implementation.function(**wanted)
            except ANYTHING as failure:  # a plugin may do anything
                self.broken[implementation.plugin_name] = f"{hook} raised {worded(failure)}"
                continue
            if answer is not None:
                return answer
        return None


def from_reference(name: str, origin: str, reference: str) -> Candidate:
    """Return the plugin that an entry point names as "package.module" or "module:attr"."""
    return Candidate(name, origin, partial(_load_named, reference), reference=reference)


def from_file(name: str, origin: str, path: str) -> Candidate:
    """Return the plugin in a directory plugin's hooks file."""
    return Candidate(name, origin, partial(_load_file, name, path), file=path)


def _load_named(reference: str) -> Any:
    module, _, attributes = reference.partition("[")[0].partition(":")
    found: Any = importlib.import_module(module.strip())
    for attribute in filter(None, attributes.strip().split(".")):
        found = getattr(found, attribute)
    return found


def _load_file(name: str, path: str) -> ModuleType:
    """Import a Python file under a name that no other module has, and leave nothing beside it."""
    module_name = f"{_FILE_MODULES}{name.encode().hex()}"
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


def load(candidates: Iterable[Candidate]) -> Loaded:
    """Import and register plugins; each failure is noted under the plugin's name."""
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    loaded = Loaded(manager)
    with StdoutOnStderr():
        for candidate in candidates:
            before = set(sys.modules)
            reason = _register(manager, candidate)
            if reason and candidate.name in loaded.names:
                loaded.broken[f"{candidate.name} ({candidate.origin})"] = reason
            elif reason:
                loaded.broken[candidate.name] = reason
            else:
                loaded.names.append(candidate.name)
            if not candidate.builtin:
                loaded.files |= _files_of(candidate, set(sys.modules) - before)
    return loaded


def _register(manager: pluggy.PluginManager, candidate: Candidate) -> str:
    """Load one plugin; return why it is broken, "" when it is not."""
    if manager.has_plugin(candidate.name):
        return "another plugin has this name"
    try:
        plugin = candidate.load()
        manager.register(plugin, candidate.name)
    except ANYTHING as failure:  # a plugin may do anything
        return worded(failure)
    try:
        manager.check_pending()
    except pluggy.PluginValidationError as failure:
        manager.unregister(name=candidate.name)
        return worded(failure)
    return ""


def _files_of(candidate: Candidate, modules: set[str]) -> set[str]:
    """Return the source files of the plugin's own package that were imported."""
    if candidate.file:
        return {candidate.file}
    package = candidate.reference.partition(":")[0].partition(".")[0]
    files = set()
    for name in modules | {package}:
        if name == package or name.startswith(package + "."):
            file = getattr(sys.modules.get(name), "__file__", None)
            if file:
                files.add(str(file))
    return files


def source_files(candidate: Candidate) -> list[str]:
    """Return the files and directories that a plugin may be made of, without running it."""
    if candidate.file:
        return [candidate.file]
    package = candidate.reference.partition(":")[0].partition(".")[0]
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError, AttributeError):
        return []
    found = [spec.origin] if spec and spec.origin else []
    for root in (spec and spec.submodule_search_locations) or ():
        for directory, inner, names in os.walk(root):
            inner[:] = [name for name in inner if name != "__pycache__"]
            found += [directory, *(f"{directory}/{name}" for name in names if name.endswith(".py"))]
            if len(found) > _MOST_FILES:
                return found
    return found


def shortened(text: str) -> str:
    """Return `text`, cut where it is longer than anybody reads."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def worded(failure: BaseException) -> str:
    """Return an exception as one line that a list can show."""
    text = shortened(" ".join(str(failure).split()))
    return f"{type(failure).__name__}: {text}" if text else type(failure).__name__


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
        if one.builtin or _is_off(one, off):
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
    entries = registry.entries.values()
    names = [entry.name for entry in entries if entry.kind == "pip" and not entry.enabled]
    if not names:
        return set()  # and nobody waits for the import
    from packaging.utils import canonicalize_name

    return set(map(canonicalize_name, names))


def _is_off(candidate: Candidate, off: Collection[str]) -> bool:
    if candidate.file or not off:
        return False
    from packaging.utils import canonicalize_name

    return canonicalize_name(candidate.origin) in off


def directory_hooks(plugins_dir: str) -> Iterator[Candidate]:
    """Yield the hooks files of the directory plugins that are on, in registry order."""
    for plugin in find_directory_plugins(plugins_dir)[0]:
        if plugin.hooks and plugin.enabled:
            yield from_file(plugin.name, plugin.root, plugin.hooks)

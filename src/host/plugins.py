"""Loading plugins, so that one that is broken harms no other."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import importlib_metadata
import pluggy

from host import hookspecs
from host.references import complete_import_path

OWN_DISTRIBUTION = "cli-host"
HOOKS = ("discover_commands", "env_sources", "render_listing", "is_installed")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A plugin that could be loaded: its name, the distribution or file it comes from."""

    name: str
    origin: str
    load: Callable[[], Any]
    builtin: bool = False
    version: str = ""
    reference: str = ""


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
            except (Exception, SystemExit) as failure:  # noqa: BLE001 - a plugin may do anything
                self.broken[name] = f"{hook} raised {_worded(failure)}"

    def first(self, hook: str, **arguments: Any) -> Any:
        """Return the first answer that is not None; a plugin that fails gives none."""
        for implementation in reversed(getattr(self.manager.hook, hook).get_hookimpls()):
            try:
                wanted = {key: arguments[key] for key in implementation.argnames}
                answer = implementation.function(**wanted)
            except (Exception, SystemExit) as failure:  # noqa: BLE001 - a plugin may do anything
                self.broken[implementation.plugin_name] = f"{hook} raised {_worded(failure)}"
                continue
            if answer is not None:
                return answer
        return None


def entry_points() -> Iterator[Candidate]:
    """Yield what installed distributions register, the built-in plugins first, then by name.

    A distribution whose metadata cannot be read is passed over.
    """
    complete_import_path()
    found = []
    for distribution in importlib_metadata.distributions():
        try:
            name = str(distribution.metadata["Name"])
            version = str(distribution.version)
            points = distribution.entry_points.select(group=hookspecs.PROJECT)
            found += [
                Candidate(
                    point.name,
                    name,
                    point.load,
                    builtin=name == OWN_DISTRIBUTION,
                    version=version,
                    reference=point.value,
                )
                for point in points
            ]
        except Exception:  # noqa: BLE001, S112 - whatever is wrong there, it is not ours
            continue
    yield from sorted(found, key=lambda one: (not one.builtin, one.name, one.origin))


def load(candidates: Iterator[Candidate]) -> Loaded:
    """Import and register plugins; each failure is noted under the plugin's name."""
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    loaded = Loaded(manager)
    with stdout_on_stderr():
        for candidate in candidates:
            before = set(sys.modules)
            reason = _register(manager, candidate)
            if reason and candidate.name in loaded.names:
                loaded.broken[f"{candidate.name} ({candidate.origin})"] = reason
            elif reason:
                loaded.broken[candidate.name] = f"{candidate.origin}: {reason}"
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
    except (Exception, SystemExit) as failure:  # noqa: BLE001 - a plugin may do anything
        return _worded(failure)
    try:
        manager.check_pending()
    except pluggy.PluginValidationError as failure:
        manager.unregister(name=candidate.name)
        return _worded(failure)
    return ""


def _files_of(candidate: Candidate, modules: set[str]) -> set[str]:
    """Return the source files of the plugin's own package that were imported."""
    package = candidate.reference.partition(":")[0].partition(".")[0]
    files = set()
    for name in modules | {package}:
        if name == package or name.startswith(package + "."):
            file = getattr(sys.modules.get(name), "__file__", None)
            if file:
                files.add(str(file))
    return files


def _worded(failure: BaseException) -> str:
    text = " ".join(str(failure).split())
    return f"{type(failure).__name__}: {text}" if text else type(failure).__name__


@contextmanager
def stdout_on_stderr() -> Iterator[None]:
    """Send what is printed meanwhile to stderr, also by code below Python."""
    try:
        sys.stdout.flush()
        saved = os.dup(1)
    except (OSError, AttributeError):
        yield
        return
    try:
        os.dup2(2, 1)
        yield
    finally:
        try:
            sys.stdout.flush()
        finally:
            os.dup2(saved, 1)
            os.close(saved)

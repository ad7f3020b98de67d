"""Query all plugins and build the lock from their records."""

from typing import Literal

from host.catalog.declared_commands import Declared
from host.errors import InstallationError
from host.hook_marker import OWN_DISTRIBUTION
from host.installation import Layout, OpenInstallation
from host.lock.collected import Collected
from host.lock.entry_points import entry_points, files_of_checkout, import_paths
from host.lock.lock import Lock
from host.lock.plugin_worker import PLANNING_HOOKS, query
from host.lock.write_lock import write_lock
from host.messages import Messages
from host.records import Installation, PluginPackage

_BUILTIN_HOOKS = ("find_plugins", *PLANNING_HOOKS)


def refresh(
    installation: OpenInstallation, messages: Messages, safe: bool = False
) -> Lock:
    """Query all plugins; write and return the lock.

    In safe mode, no third-party Python is imported, and nothing is written. Each broken plugin
    causes one warning. Raises InstallationError if this program is too old for cli.json. In that
    case, `self` commands work only if they need no lock.
    """
    _check_version(installation)
    if safe:
        lock = query_plugins(installation, "none")
    else:
        lock = query_plugins(installation, "all")
    messages.warn(*lock.warnings(installation.layout.program))
    if not safe:
        write_lock(installation.locks, installation.key, lock)
    return lock


def _check_version(installation: OpenInstallation) -> None:
    oldest = installation.config.min_version
    if not oldest:
        return

    from host.min_version import version_problem

    problem = version_problem(installation.layout.config_file, oldest)
    if problem:
        raise InstallationError(problem)


def own_commands(layout: Layout) -> list[Declared]:
    """Return the commands that the built-in plugins declare; no installation is needed."""
    collected = Collected({})
    installation = Installation(layout.program, layout.root, "", "", "")
    points = entry_points(OWN_DISTRIBUTION)
    collected.query_builtin(points, ["discover_commands"], installation)
    return list(collected.lock().commands)


def query_plugins(
    installation: OpenInstallation, code: Literal["all", "packages", "none"]
) -> Lock:
    """Query the plugins and return the lock; a failing plugin loses only its own records.

    `code` is the third-party Python that may be imported: "packages" leaves out the hooks of
    directory plugins.
    """
    record = _for_hooks(installation)
    collected = Collected({})

    # Stamps are taken before anything is read, so that a change meanwhile is noticed.
    collected.stamp_files(import_paths())
    points = entry_points()
    collected.query_builtin(points, _BUILTIN_HOOKS, record)
    collected.stamp_files(files_of_checkout(points))

    for plugin in collected.third_party(points):
        if code == "none":
            continue
        is_package = not plugin.file
        if is_package or code == "all":
            collected.add(plugin, query(plugin, record))
    return collected.lock()


def query_package(installation: OpenInstallation, package: PluginPackage) -> Lock:
    """Query only the plugin `package`, which need not be in the registry yet; return its records.

    This runs the plugin's code.
    """
    record = _for_hooks(installation)
    collected = Collected({})
    collected.packages.append(package)
    for plugin in collected.third_party([]):
        collected.add(plugin, query(plugin, record))
    return collected.lock()


def _for_hooks(installation: OpenInstallation) -> Installation:
    """Return what the hooks of plugins know of the installation."""
    layout = installation.layout
    return Installation(
        layout.program,
        layout.root,
        installation.commands_dir,
        installation.plugins_dir,
        layout.config_dir,
    )

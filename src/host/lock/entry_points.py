"""Find the plugins among the installed distributions, by their entry points."""

import glob
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import importlib_metadata

from host.hook_marker import GROUP, OWN_DISTRIBUTION
from host.lock.loading import package_of
from host.lock.plugin import Plugin
from host.processes.importing import program_path

_METADATA_FILES = ("entry_points.txt", "METADATA")


def entry_points(only: str | None = None) -> list[Plugin]:
    """Return the plugins of installed distributions, sorted by name, the built-in ones first.

    Distributions with unreadable metadata are skipped, and all but `only` if that is a name.
    """
    # Fedora's `lib64` is a link to `lib`, and both are on `sys.path`.
    folders = dict.fromkeys(map(os.path.realpath, program_path()))
    plugins = []
    path = list(folders)
    for distribution in importlib_metadata.distributions(name=only, path=path):
        try:
            place = getattr(distribution, "_path", None)  # no public attribute has it
            if place and not _may_have_plugins(place):
                continue
            # Most distributions have no plugin, and parsing all of their entry points is slow.
            if GROUP in (distribution.read_text("entry_points.txt") or ""):
                plugins += _plugins_of(distribution)
        except Exception:  # noqa: BLE001, S112 - another package's files may contain anything
            continue

    return sorted(plugins, key=_place)


def _may_have_plugins(place: Any) -> bool:
    """Return whether there are entry points, and all can be read: reading a FIFO never ends."""
    for name in _METADATA_FILES:
        try:
            kind = os.stat(f"{place}/{name}").st_mode
        except NotADirectoryError:  # it may be inside a zip
            continue
        except FileNotFoundError:
            if name == "entry_points.txt":
                return False
            continue
        if not stat.S_ISREG(kind):
            return False
    return True


def _plugins_of(distribution: Any) -> list[Plugin]:
    metadata = distribution.metadata  # parsed at each access
    name = str(metadata["Name"])
    version = str(metadata["Version"])
    is_builtin = name == OWN_DISTRIBUTION
    package = re.sub("[-_.]+", "-", name).lower()  # normalized as in `packaging`
    plugins = []
    for point in distribution.entry_points.select(group=GROUP):
        plugins.append(
            Plugin(
                point.name,
                distribution=name,
                version=version,
                reference=point.value,
                ours=is_builtin,
                package=package,
            )
        )
    return plugins


def _place(plugin: Plugin) -> tuple[bool, str, str]:
    return not plugin.ours, plugin.name, plugin.distribution


def import_paths() -> Iterator[str]:
    """Yield paths whose stamps change if a distribution is installed, changed or removed."""
    for path in program_path():
        if not os.path.isdir(path):
            continue
        yield path
        pattern = os.path.join(glob.escape(path), "*.pth")
        yield from sorted(glob.glob(pattern))


def files_of_checkout(points: Iterable[Plugin]) -> list[str]:
    """Return the imported modules of the built-in plugins, if the program runs from a checkout.

    The lock has their declarations. An edit there, or a `git pull`, changes no distribution.
    """
    if _is_installed_with_pip():
        return []  # then each change of the program changes its directory

    packages = {package_of(plugin) for plugin in points if plugin.ours}
    files = []
    for name, module in [*sys.modules.items()]:
        package, _, _ = name.partition(".")
        if package not in packages:
            continue
        # A module need not be a file: a namespace package is none.
        file = getattr(module, "__file__", None)
        if file and os.path.isfile(file):
            files.append(file)
    return sorted(files)


def _is_installed_with_pip() -> bool:
    """Return whether the metadata of this program stands beside its packages."""
    planning = os.path.dirname(os.path.abspath(__file__))
    host = os.path.dirname(planning)
    library = glob.escape(os.path.dirname(host))
    name = OWN_DISTRIBUTION.replace("-", "_")
    metadata = glob.glob(f"{library}/{name}-*")
    return metadata != []

"""Packages that the user installed into the program's Python environment.

They are found by their entry points. This program never changes its environment to add, update or
remove a plugin; it names the command of the tool that made the environment.
"""

import os
import shlex
import sys
from typing import Any

from builtin_plugins.plugins.package_contents import read_package
from builtin_plugins.plugins.sources.base import PluginSource
from builtin_plugins.registry.version import PluginVersion
from host import PluginError
from host.hook_marker import OWN_DISTRIBUTION
from host.processes.importing import complete_import_path, program_path


class EnvironmentSource(PluginSource):
    """A distribution on the program's own import path."""

    name_hint = ""

    def check_change(self, word: str) -> None:
        if self._distribution() is None:
            return
        command = _removal_command(self.entry.name)
        if word == "update":
            command = _update_command(self.entry.name)
        what = f"{self.entry.name}: {sys.prefix} has this package, not a folder in plugins/"
        raise PluginError(what, f"{word} it with: {command}")

    def is_present(self, plugins_dir: str) -> bool:
        return self._distribution() is not None

    def current_version(self, plugins_dir: str) -> PluginVersion:
        distribution = self._distribution()
        if distribution is None:
            return PluginVersion(self.entry)
        folder = str(distribution.locate_file(""))
        try:
            return read_package(self.entry, [folder])
        except (OSError, ValueError):
            return PluginVersion(self.entry)

    def _distribution(self) -> Any:
        complete_import_path()
        import importlib_metadata  # imported here: it takes 35 ms

        name = self.entry.name
        matches = importlib_metadata.distributions(name=name, path=program_path())
        return next(iter(matches), None)


def _update_command(name: str) -> str:
    """Return the command that updates a package, for the tool that made the environment."""
    if _is_of("uv-receipt.toml"):
        return f"uv tool upgrade {OWN_DISTRIBUTION}"
    if _is_of("pipx_metadata.json"):
        return f"pipx upgrade --include-injected {OWN_DISTRIBUTION}"
    return f"{shlex.quote(sys.executable)} -I -m pip install --upgrade {name}"


def _removal_command(name: str) -> str:
    """Return the command that removes a package, for the tool that made the environment."""
    if _is_of("uv-receipt.toml"):
        return f"uv tool install --reinstall {OWN_DISTRIBUTION}, without --with {name}"
    if _is_of("pipx_metadata.json"):
        return f"pipx uninject {OWN_DISTRIBUTION} {name}"
    return f"{shlex.quote(sys.executable)} -I -m pip uninstall {name}"


def _is_of(receipt: str) -> bool:
    return os.path.isfile(os.path.join(sys.prefix, receipt))

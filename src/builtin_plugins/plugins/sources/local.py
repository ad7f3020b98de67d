"""Local plugins: the author's own directory, used where it is; edits take effect at once."""

import os

from builtin_plugins.plugins.change import Change
from builtin_plugins.plugins.sources.base import (
    PluginSource,
    split_extras,
)
from builtin_plugins.registry.version import PluginVersion
from host import OperationError, UsageError
from host.files.paths import is_inside


class LocalSource(PluginSource):
    """A directory that belongs to the user; it is neither copied nor changed."""

    @staticmethod
    def address_of_directory(path: str) -> str:
        return path

    def fetch(self, change: Change) -> PluginVersion:
        source, extras = split_extras(self.address)
        root = os.path.realpath(source)
        plugins_dir = os.path.realpath(change.plugins_dir)

        # It would be found twice, or contain itself.
        if os.path.dirname(root) == plugins_dir:
            raise OperationError(f"{source}: is already in the plugins directory")
        if is_inside(plugins_dir, root):
            raise OperationError(f"{source}: contains the plugins directory")

        contents = self.stage_contents(self.entry, change, root)
        if extras and not contents.unbuilt:
            raise UsageError(f"{source}{extras}: only a package can have extras")
        return contents

    def keep_project(self, change: Change) -> None:
        """The project stays in the user's directory, where `build` links it."""

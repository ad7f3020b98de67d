"""Local plugins: a link to the author's own directory, so that each edit takes effect at once."""

import os
from contextlib import ExitStack

from builtin_plugins.administration.plugins.plugin_contents import PluginContents
from builtin_plugins.administration.plugins.python_project import project_name
from builtin_plugins.administration.plugins.reconcile import link_next, set_aside
from builtin_plugins.administration.plugins.sources.base import PluginSource, split_extras
from builtin_plugins.administration.plugins.transaction import Transaction
from builtin_plugins.plugins_folder.entry import Entry
from host import OperationError, PluginError, UsageError


class LocalSource(PluginSource):
    """A directory that belongs to the user; it is neither copied nor changed."""

    @staticmethod
    def address_of_directory(path: str) -> str:
        return path

    def fetch(self, tx: Transaction) -> PluginContents:
        source, extras = split_extras(self.address)
        root = os.path.realpath(source)
        plugins_dir = os.path.realpath(tx.plugins_dir)
        if os.path.dirname(root) == plugins_dir:
            raise OperationError(f"{source}: is already in the plugins directory")
        if plugins_dir.startswith(os.path.join(root, "")):
            raise OperationError(f"{source}: contains the plugins directory")
        found = self.described(self.entry, tx, root)
        if extras and not found.unbuilt:
            raise UsageError(f"{source}{extras}: only a package can have extras")
        return found

    def as_package(self, entry: Entry, tx: Transaction) -> PluginContents:
        root = os.path.realpath(split_extras(self.address)[0])
        if entry.name:
            what = f"{self.address}: is a Python package, which keeps its own name"
            raise PluginError(what, f"add it without --name, under another name than {entry.name}")
        name = project_name(root) or os.path.basename(root)
        # The address may have extras, which are no part of the directory's name.
        entry = entry.replaced(name=name, kind="pip", source=self.entry.source)
        return PluginContents(entry, unbuilt={name: f"in {self.address}"})

    def install(self, tx: Transaction, undo: ExitStack) -> None:
        set_aside(tx.plugins_dir, self.entry.name, undo)  # a dangling link
        link_next(tx.plugins_dir, self.entry.name, self.entry.source, undo)

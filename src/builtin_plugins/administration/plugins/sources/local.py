"""Local plugins: a link to the author's own directory, so that each edit takes effect at once."""

import os
from contextlib import ExitStack

from builtin_plugins.administration.plugins.plugin_contents import PluginContents
from builtin_plugins.administration.plugins.reconcile import set_aside
from builtin_plugins.administration.plugins.sources.base import PluginSource
from builtin_plugins.administration.plugins.transaction import Transaction
from builtin_plugins.io.files.atomic import write_link
from host import OperationError


class LocalSource(PluginSource):
    """A directory that belongs to the user; it is neither copied nor changed."""

    @staticmethod
    def address_of_directory(path: str) -> str:
        return path

    def fetch(self, tx: Transaction) -> PluginContents:
        source, root = self.address, os.path.realpath(self.address)
        plugins_dir = os.path.realpath(tx.plugins_dir)
        if os.path.dirname(root) == plugins_dir:
            raise OperationError(f"{source}: is already in the plugins directory")
        if plugins_dir.startswith(os.path.join(root, "")):
            raise OperationError(f"{source}: contains the plugins directory")
        return self.described(self.entry, tx, root)

    def install(self, tx: Transaction, undo: ExitStack) -> None:
        link = os.path.join(tx.plugins_dir, self.entry.name)
        set_aside(tx.plugins_dir, self.entry.name, undo)  # a dangling link
        write_link(link, self.entry.source)
        undo.callback(os.unlink, link)

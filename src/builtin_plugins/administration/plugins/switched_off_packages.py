"""Words of distributions that are switched off: they lead nowhere, and it is said why."""

from __future__ import annotations

from collections.abc import Iterator

from builtin_plugins.plugins_folder.registry import effective_registry
from builtin_plugins.plugins_folder.switched_off import MARK, SwitchedOff
from host import CommandTree, Installation, hookimpl

_OFF = f"{__name__}:SwitchedOffPackage"


@hookimpl
def discover_commands(installation: Installation) -> Iterator[CommandTree]:
    for name in effective_registry(installation.plugins_dir).disabled_distributions:
        yield CommandTree(f"{installation.plugins_dir}{MARK}{name}", plugin=name, finder=_OFF)


class SwitchedOffPackage(SwitchedOff):
    """A finder of what a disabled distribution would add; its path has the name after `MARK`."""

    __slots__ = ()

    def remark(self, place: str, word: str) -> str:
        """Return that the plugin is disabled where its files speak of the words."""
        from host.run.importing import complete_import_path

        complete_import_path()
        from builtin_plugins.administration.plugins.contents import read_installed

        name, words = self.root.rpartition(MARK)[2], tuple(word.split("/"))
        known = read_installed(name).commands
        found = any(one[: len(words)] == words for one in known)
        return f"plugin {name} is disabled" if found else ""

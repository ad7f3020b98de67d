"""The finder of a disabled distribution: nothing is found there, and it says why."""

from builtin_plugins.plugin_directories.switched_off import MARK, SwitchedOff


class SwitchedOffPackage(SwitchedOff):
    """A finder of what a disabled distribution would add; its path has the name after `MARK`."""

    __slots__ = ()

    def remark(self, place: str, word: str) -> str:
        """Return that the plugin is disabled where its files speak of the words."""
        from host.run.importing import complete_import_path

        complete_import_path()
        from builtin_plugins.plugin_changes.wheel import read_installed

        name, words = self.root.rpartition(MARK)[2], tuple(word.split("/"))
        known = read_installed(name).commands
        found = any(one[: len(words)] == words for one in known)
        return f"plugin {name} is disabled" if found else ""

"""The record of a plugin in the lock."""

from host.record_base import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_NOTHING: "Mapping[str, Any]" = {}


class Plugin(Record):
    """A plugin; `name` is the name of its entry point or its name in the registry.

    `distribution`, `version` and `reference` ("package.module") are those of an entry point;
    `package` is the normalized name of the distribution, or the name in the registry. `file` is a
    hooks file. `ours` is true for a built-in plugin. `hooks` maps each implemented hook to -1
    (tryfirst), 0 or 1 (trylast). `trees` has the paths of its trees. `broken` is the reason why it
    is not used, or "", and `missing` is true if its files are not there. `under` has the words of
    the category that contains everything it declares, or is empty. `folders` has the directories of
    a package that is not installed in the program's environment.
    """

    name: str
    distribution: str = ""
    version: str = ""
    reference: str = ""
    file: str = ""
    ours: bool = False
    package: str = ""
    hooks: "Mapping[str, int]" = _NOTHING
    trees: "Sequence[str]" = ()
    broken: str = ""
    missing: bool = False
    under: "Sequence[str]" = ()
    folders: "Sequence[str]" = ()

    @property
    def is_linked(self) -> bool:
        """Whether its author works on it in place: a folder is then in the author's directory."""
        return len(self.folders) > 1

    @property
    def full_name(self) -> str:
        """The name, with the distribution's name in parentheses if that is different."""
        if not self.reference or self.distribution == self.name:
            return self.name
        if "(" in self.name:  # two plugins have the name, so the host has added it
            return self.name
        return f"{self.name} ({self.distribution})"

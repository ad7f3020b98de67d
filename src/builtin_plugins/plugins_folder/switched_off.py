"""The finder of a disabled plugin's tree: nothing is found there, and it says why."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MARK = "/./"  # before the plugin's name in the path of such a tree


class SwitchedOff:
    """A finder (host.run.locate says what one answers) of a tree that does not count.

    Its path has the plugin's name after `MARK`.
    """

    __slots__ = ("definitions", "root")

    def __init__(self, root: str) -> None:
        self.root = root
        self.definitions = None  # it reads none

    def enter(self, *_: "Any") -> str:
        return ""

    def command(self, *_: "Any") -> None:
        return None

    def words(self, *_: "Any") -> list[str]:
        return []

    def holds_commands(self, *_: "Any") -> bool:
        return False

    category = command
    inner = words
    aliased = enter

    def remark(self, place: str, word: str) -> str:
        """Return that the plugin is disabled where it has the directory `word`."""
        if not os.path.isdir(os.path.join(place, word)):
            return ""
        name = self.root.partition(MARK)[2].partition("/")[0]
        return f"plugin {name} is disabled"

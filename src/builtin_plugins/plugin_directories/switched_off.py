"""The finder of a disabled plugin's tree: nothing is found there, and it says why."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MARK = "/./"  # before the plugin's name in the path of such a tree


class SwitchedOff:
    """A finder (host.run.locate says what one answers) of a tree that does not count.

    Its path has the plugin's name after `MARK`.
    """

    __slots__ = ("definitions", "root")

    def __init__(self, root: str) -> None:
        self.root = root
        self.definitions = None  # it reads none

    def enter(self, place: str, word: str) -> str:
        del place, word
        return ""

    def command(self, place: str) -> None:
        del place

    def category(self, place: str) -> None:
        del place

    def words(self, place: str, tell: "Callable[[str], None] | None" = None) -> list[str]:
        del place, tell
        return []

    def inner(
        self, place: str, tell: "Callable[[str], None] | None" = None
    ) -> list[tuple[str, str]]:
        del place, tell
        return []

    def holds_commands(self, place: str, tell: "Callable[[str], None] | None" = None) -> bool:
        del place, tell
        return False

    def aliased(self, place: str, alias: str) -> str:
        del place, alias
        return ""

    def remark(self, place: str, word: str) -> str:
        """Return that the plugin is disabled where it has the directory `word`."""
        if not os.path.isdir(os.path.join(place, word)):
            return ""
        name = self.root.partition(MARK)[2].partition("/")[0]
        return f"plugin {name} is disabled"

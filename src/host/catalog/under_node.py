"""The words of the category that contains a whole tree."""

from host.catalog.command_files import FolderNode, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.catalog.definition import Definition


def placed_under(words: "Sequence[str]", root: FolderNode) -> "UnderNode | FolderNode":
    """Return the node that contains the tree at `root` by all its words, the first one first."""
    node: UnderNode | FolderNode = root
    for word in reversed(words):
        node = UnderNode(word, node)
    return node


class UnderNode(Node):
    """A word of the category that contains a whole tree; no folder has this word.

    See `CommandTree.under`. `root` is the tree's root, or the node of the next word.
    """

    def __init__(self, word: str, root: "UnderNode | FolderNode") -> None:
        self.tree = root.tree
        self.at = root.at
        self._word = word
        self._root = root

    @property
    def has_below(self) -> bool:
        return self.holds_commands()

    def enter(self, word: str) -> "UnderNode | FolderNode | None":
        return self._root if word == self._word else None

    def inside(self) -> "dict[str, UnderNode | FolderNode]":
        return {self._word: self._root}

    def read_command(self) -> "Definition | None":
        return None

    def category(self) -> "Definition | None":
        return None

    def holds_commands(self) -> bool:
        return self._root.holds_commands()

    def above(self) -> "tuple[Definition, ...]":
        return ()

    def aliased(self, alias: str) -> str:  # noqa: ARG002 - as in the other nodes
        return ""

"""The commands and categories that plugins declare in code."""

from host.catalog.command_files import Node
from host.catalog.definition import Definition
from host.errors import DefinitionError, Problem
from host.files.json_file import Fields, parse_json
from host.record_base import CommandTree, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any


CLICK = "$click"  # the key of a declared definition with the tree of a click command


class Declared(Record):
    """A command or category declared in code: its words, and its definition as JSON.

    `json` is parsed when `definition` is first read. `runs` is false for a category. `order` is the
    position of its plugin.
    """

    words: tuple[str, ...]
    json: bytes
    plugin: str
    ours: bool = False
    runs: bool = True
    order: int = 0

    _checked = None

    @property
    def definition(self) -> "Definition":
        """The checked definition. Raises DefinitionError only while the lock is being built."""
        if self._checked is None:
            owner = f"plugin {self.plugin}: {' '.join(self.words)}"
            fields = parse_json(owner, self.json)
            self._checked = parse_declared(owner, fields, ours=self.ours)
        return self._checked


class DeclaredNode(Node):
    """A command or category that a plugin declares in code; `at` has its words."""

    def __init__(
        self,
        tree: CommandTree,
        words: "tuple[str, ...]",
        declared: "Iterable[Declared]",
    ) -> None:
        self.tree = tree
        self.at = words
        # The commands and categories at and below these words.
        depth = len(words)
        self._declared = [item for item in declared if item.words[:depth] == words]

    @property
    def has_below(self) -> bool:
        return bool(self.inside())

    def enter(self, word: str) -> "DeclaredNode | None":
        return self.inside().get(word)

    def inside(self) -> "dict[str, DeclaredNode]":
        depth = len(self.at)
        below = set()
        for (
            item
        ) in self._commands():  # a category without commands below it is not listed
            if len(item.words) > depth:
                below.add(item.words[depth])

        nodes = {}
        for word in sorted(below):
            nodes[word] = DeclaredNode(self.tree, (*self.at, word), self._declared)
        return nodes

    def _commands(self) -> "Iterator[Declared]":
        """Yield the commands at and below this node."""
        for item in self._declared:
            if item.runs:
                yield item

    def read_command(self) -> "Definition | None":
        for item in self._commands():
            if item.words == self.at:
                return item.definition
        return None

    def category(self) -> "Definition | None":
        for item in self._declared:
            if item.words == self.at and not item.runs:
                return item.definition
        return None

    def holds_commands(self) -> bool:
        return True

    def above(self) -> "tuple[Definition, ...]":
        return ()

    def aliased(self, alias: str) -> str:
        for item in self._commands():
            is_child = item.words[:-1] == self.at
            if is_child and alias in item.definition.aliases:
                return item.words[-1]
        return ""


def parse_declared(
    owner: str, fields: "Mapping[str, Any]", *, ours: bool = False
) -> Definition:
    """Return the definition that the plugin `owner` declares in code. Raises DefinitionError.

    A command's `entrypoint` is a Python reference; a category has none. Arguments of built-in
    plugins (`ours`) may have a reference as `complete`: see host.tab.candidates.
    """
    values = dict(fields)
    text = values.pop("text", "")  # the help text of a built-in command
    tree = values.pop(CLICK, None)

    definition = Definition("", Fields(owner, values), ours=ours)
    definition.text = text
    if tree is not None:
        from host.arguments.click_tree import tree_of_json

        definition.click = tree_of_json(tree)

    if definition.path:
        reason = "only a file can name folders, which are relative to that file"
        raise DefinitionError(Problem(owner, reason, key="path"))
    can_run = definition.in_python or definition.moved_to != ""
    if "entrypoint" in fields and not can_run:
        reason = 'expected a reference "package.module:attr"'
        raise DefinitionError(Problem(owner, reason, key="entrypoint"))
    return definition

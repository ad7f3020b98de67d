"""The catalog: finds the command or category that words name, in all trees of the lock.

`find` resolves words, and `children` lists a category. Both use the same precedence: see
`_first_match` and `_listed_match`.
A run reads only the folders on the path of its words, so its cost does not depend on the number
of commands. Only this module merges trees. There are two kinds of node with the same methods:
`FolderNode`, and `DeclaredNode` for commands that a plugin declares in Python.
"""

from host.catalog.command_files import FolderNode
from host.catalog.definition import read_definition
from host.errors import DefinitionError, Problem
from host.record_base import CommandTree
from host.words import RESERVED_WORDS, is_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeAlias

    from host.catalog.command_files import Read
    from host.catalog.declared_commands import Declared, DeclaredNode
    from host.catalog.definition import Definition
    from host.catalog.under_node import UnderNode
    from host.lock.lock import Lock
    from host.projects.projects import Project

    Around = Callable[[], tuple[list[Project], list[Problem]]]
    AnyNode: TypeAlias = "FolderNode | UnderNode | DeclaredNode"


class Match:
    """The result of resolving words.

    kind         "command", "category" or "unknown"
    words        the words of the command or category; for "unknown", the words that were found
    nodes        the nodes with these words, in order of precedence; only one for a command
    node         the node with the definition, or None
    moved_from   the command that the words name, if this is the command in its place
    shadowed     the nodes of the commands that the match shadows, only in the result of `children`
    problems     the problems in its category.json, if `find` returns a category
    """

    def __init__(
        self, kind: str, words: tuple[str, ...], nodes: "Sequence[AnyNode]"
    ) -> None:
        self.kind = kind
        self.words = words
        self.nodes = nodes
        self.moved_from: Match | None = None
        self.shadowed: Sequence[AnyNode] = ()
        self.problems: list[Problem] = []
        self.node: AnyNode | None = None
        self.definition: Definition | None = None
        if kind == "command":
            self.node = nodes[0]
            self.definition = self.node.definition

    @property
    def name(self) -> str:
        name = "" if self.definition is None else self.definition.name
        return name or self.words[-1]

    @property
    def description(self) -> str:
        return "" if self.definition is None else self.definition.description

    @property
    def has_no_entrypoint(self) -> bool:
        """Whether this is a category without an entrypoint of its own."""
        if self.kind != "category":
            return False
        return self.definition is None or not self.definition.entrypoint

    @property
    def plugin(self) -> str:
        """The plugin of `node`, or "" for the installation itself."""
        return self.node.tree.plugin if self.node else ""

    @property
    def project(self) -> "Project | None":
        return self.node.project if self.node else None

    @property
    def directories(self) -> list[str]:
        return [node.at for node in self.nodes if node.tree.path]

    @property
    def has_below(self) -> bool:
        """Whether there are commands below this command."""
        return self.nodes[0].has_below

    @property
    def shadows(self) -> tuple[str, ...]:
        """The place (see `Node.place`) of each command that this command or category shadows."""
        if not self.shadowed:  # as for most commands
            return ()
        return tuple([node.place for node in self.shadowed])


class Catalog:
    """All trees in order of precedence: the lock's folders, its declared commands, the projects.

    `read` reads a definition file, directly or through an index. `around` finds the projects; it
    is called only if the words name no command in another tree. `problems` has the problems in
    projects.
    """

    def __init__(
        self,
        lock: "Lock",
        read: "Read" = read_definition,
        around: "Around | None" = None,
    ) -> None:
        self.lock = lock
        self._read = read
        self._around = around
        self._projects: list[Project] | None = None
        self.problems: list[Problem] = []

    def _declared(self) -> "list[AnyNode]":
        """Return the root of each plugin's declared commands."""
        from host.catalog.declared_commands import DeclaredNode

        # linked directories
        linked = set()
        for tree in self.lock.trees:
            if tree.dev:
                linked.add(tree.plugin)
        for name, plugin in self.lock.plugins.items():
            if plugin.is_linked:
                linked.add(name)

        by_plugin: dict[str, list[Declared]] = {}
        for command in self.lock.commands:
            by_plugin.setdefault(command.plugin, []).append(command)

        roots: list[AnyNode] = []
        for name, commands in by_plugin.items():
            first = commands[0]
            plugin_name = name
            if first.ours:
                plugin_name = ""
            is_linked = name in linked
            tree = CommandTree("", plugin_name, dev=is_linked, order=first.order)
            roots.append(DeclaredNode(tree, (), commands))
        return roots

    def _roots(self) -> "list[AnyNode]":
        """Return new roots of all trees of the lock in their order of precedence.

        The folders of a plugin come before the commands that it declares in code.
        """
        roots = [*self._folders(), *self._declared()]
        return sorted(roots, key=lambda root: root.tree.order)

    def _may_be_shadowed(self, command: Match) -> bool:
        """Return whether an earlier plugin than that of a command declares commands in code."""
        first = self.lock.first_declared
        return first is not None and command.nodes[0].tree.order > first

    @property
    def projects(self) -> "list[Project]":
        """The projects around the current directory, the nearest first."""
        if self._projects is None:
            self._projects = []
            if self._around is not None:
                self._projects, self.problems = self._around()
        return self._projects

    def _folders(self) -> "list[AnyNode]":
        """Return new root nodes for the trees in the lock; old nodes may have outdated listings."""
        roots: list[AnyNode] = []
        for tree in self.lock.trees:
            root = FolderNode(tree, self._read)
            if tree.under:
                from host.catalog.under_node import placed_under

                roots.append(placed_under(tree.under, root))
            else:
                roots.append(root)
        return roots

    def find(self, words: "Sequence[str]", *, whole: bool = False) -> Match:
        """Return the match of the leading `words`; the remaining words are arguments.

        At each word, the first tree that has it decides whether it is a command or a category.
        Categories with the same words are merged. A word that no tree has may be an alias. A
        command may have commands below it: the longest sequence of words that names a command
        wins. With `whole`, a category that all words name wins over a command that fewer words
        name. Aliases are read only if no folder has the command, and projects only if no other tree
        has it. Declared commands are read if no folder has the command, or if the folder's plugin
        comes after a plugin that declares commands. Raises DefinitionError if the match's
        definition is invalid.
        """
        # In the order of their cost: most runs find their command in a folder.
        match = _find(self._folders(), words, whole=whole, aliases=False)
        if match.kind == "command" and self._may_be_shadowed(match):
            match = _find(self._roots(), words, whole=whole, aliases=False)
        if match.kind != "command":
            match = _find(self._roots(), words, whole=whole)

        if match.kind == "command":
            return match
        if not self.projects:
            return match

        roots = self._roots()
        for project in self.projects:
            roots.append(FolderNode(project.tree, self._read, project))
        return _find(roots, words, whole=whole)

    def default(self, category: Match) -> Match:
        """Return the default command of a category, or the category if it has none.

        Raises DefinitionError if the default names no command.
        """
        definition = category.definition
        if definition is None or not definition.default:
            return category

        command = self.find((*category.words, definition.default))
        # An alias has other words than the command, but as many.
        is_inside = len(command.words) > len(category.words)
        # A project must not choose what runs in a category of other trees.
        is_of_category = command.project is category.project
        if command.kind != "command" or not (is_inside and is_of_category):
            what = f"there is no command {definition.default} in this category"
            raise DefinitionError(Problem(definition.file, what, key="default"))
        return command

    def follow(self, command: Match) -> Match:
        """Return the command that runs in place of `command`: see the key `moved_to`.

        This is `command` itself if it has not moved. Raises DefinitionError if the target is no
        command, or has moved, too.
        """
        definition = command.definition
        if definition is None or not definition.moved_to:
            return command

        words = tuple(definition.moved_to.split(" "))
        target = self.find(words)
        is_command = target.kind == "command" and target.words == words
        what = ""
        if target.definition is None or not is_command:
            what = f"there is no command {definition.moved_to}"
        elif words[0] in RESERVED_WORDS:
            what = (
                f"{definition.moved_to} is a part of the program; name another command"
            )
        elif target.project is not command.project:
            # Otherwise, a project could choose a command that nobody must trust to run.
            what = f"{definition.moved_to} and this command are not in the same project"
        elif target.definition.moved_to:
            what = f"{definition.moved_to} has moved, too; name {target.definition.moved_to}"
        if what:
            place = definition.file or command.plugin
            raise DefinitionError(Problem(place, what, key="moved_to"))
        target.moved_from = command
        return target

    def children(self, category: Match) -> tuple[list[Match], list[Problem]]:
        """Return the matches directly below a category or command, and the problems there.

        Folders without commands and folders with a reserved name are left out.
        """
        problems = [*category.problems] if category.words else [*self.problems]
        reached: dict[str, list[AnyNode]] = {}
        for node in category.nodes:
            inside = node.inside()
            problems += node.problems
            for word, inner in inside.items():
                if _is_reserved(category, word, node):
                    problems.append(reserved_problem(word, inner))
                else:
                    reached.setdefault(word, []).append(inner)

        matches = []
        for word, nodes in reached.items():
            match = _listed_match((*category.words, word), nodes, problems)
            if match is None:
                continue
            matches.append(match)
            if match.kind == "category":
                _describe(match, problems)
                continue
            try:
                _inherit(match)
            except DefinitionError:
                pass  # a listing of the invalid category reports the error
        return matches, problems


def _find(
    roots: "list[AnyNode]",
    words: "Sequence[str]",
    *,
    whole: bool = False,
    aliases: bool = True,
) -> Match:
    """Return the match of the leading words below these roots: see `Catalog.find`."""
    match = Match("category", (), roots)
    # the last command on the way: there may be commands below it
    command: Match | None = None
    for word in words:
        is_last = match is command and not match.has_below
        if is_last or word.startswith("-"):
            break

        child = _child(match, word)
        if child is None and not aliases:
            return Match("unknown", match.words, match.nodes)
        if child is None:
            child = _child(match, _aliased(match.nodes, word))
        if child is None:
            # the word is the first argument of a command, or a mistake
            match = command or Match("unknown", match.words, match.nodes)
            break

        match = child
        if match.kind == "command":
            command = match

    first = match.nodes[0] if match.nodes else None
    if first is not None and first.error is not None:
        raise first.error  # a run shows the error; a listing shows the commands below

    names_category = whole and len(match.words) == len(words)
    if command is not None and not names_category:
        match = command  # all words behind the last command are its arguments
    if match.kind == "category":
        _describe(match, match.problems)
    _inherit(match)
    return match


def _inherit(match: Match) -> None:
    """Add the defaults of the categories above to a command. Raises DefinitionError."""
    definition = match.definition
    if definition is None or not definition.is_command:
        return

    above = match.nodes[0].above()
    if above:
        definition.inherit(above)


def _child(category: Match, word: str) -> Match | None:
    """Return the match of `word` in a category, or None if none exists. Raises DefinitionError."""
    if not is_word(word):
        return None
    nodes = _entered(category, word)
    return _first_match((*category.words, word), nodes)


def _entered(category: Match, word: str) -> "Iterator[AnyNode]":
    """Yield the nodes of `word` in a category; a run enters no tree after the first command."""
    for node in category.nodes:
        if _is_reserved(category, word, node):
            continue
        child = node.enter(word)
        if child is not None:
            yield child


def reserved_problem(word: str, node: "AnyNode") -> Problem:
    """Return the problem that `node`, directly below a tree's root, has the reserved `word`."""
    path = node.at
    if isinstance(node, FolderNode) and not node.is_folder:
        _, path = node.scripts[0]
    return Problem(path, f"left out; the word {word} is reserved for this program")


def _is_reserved(category: Match, word: str, node: "AnyNode") -> bool:
    if word not in RESERVED_WORDS:
        return False
    is_at_root = not category.words
    is_on_disk = node.tree.path != ""
    return is_at_root and is_on_disk


def _first_match(words: tuple[str, ...], reached: "Iterable[AnyNode]") -> Match | None:
    """Return the match that a run finds, or None if no node remains.

    The first node that is a command or a category decides whether the match is a command or a
    category; nothing behind a command is read. Raises DefinitionError if the first definition is
    invalid.
    """
    categories: list[AnyNode] = []
    for node in reached:
        if not _read_command(node, []):
            # Behind a category, the run does not need this node.
            if node.error is not None and not categories:
                raise node.error
        elif _is_hidden(node, categories):
            continue
        elif node.runnable:
            return Match("command", words, [node])
        else:
            categories.append(node)

    if not categories:
        return None
    return Match("category", words, categories)


def _listed_match(
    words: tuple[str, ...], reached: "Iterable[AnyNode]", problems: list[Problem]
) -> Match | None:
    """Return the match that a listing shows, or None if no node remains.

    It is the match that a run finds, except that a category includes only nodes that contain
    commands. All nodes are read: what the match shadows is in `shadowed`, and the problems are
    appended to `problems`.
    """
    categories: list[AnyNode] = []
    shadowed: list[AnyNode] = []
    command: AnyNode | None = None
    for node in reached:
        if not _read_command(node, problems):
            continue
        if node.definition is None and not node.holds_commands():
            problems += node.problems  # they may say why there are none
        elif command is not None or _is_hidden(node, categories):
            shadowed.append(node)
        elif node.runnable:
            command = node
        else:
            categories.append(node)

    match: Match | None = None
    if command is not None:
        match = Match("command", words, [command])
    elif categories:
        match = Match("category", words, categories)
    if match is not None:
        match.shadowed = shadowed
    return match


def _is_hidden(node: "AnyNode", categories: "Sequence[AnyNode]") -> bool:
    """Return whether a node is a command behind categories with the same words.

    An empty category hides no command.
    """
    if not categories:  # as for most nodes
        return False
    return node.runnable and _hold_commands(categories)


def _read_command(node: "AnyNode", problems: list[Problem]) -> bool:
    """Set the definition or the error of a node; return whether the node is usable.

    A node with an invalid definition is usable if there are commands below it.
    """
    try:
        node.definition = node.read_command()
    except DefinitionError as error:
        node.error = error
        problems.append(error.problem)
        return _hold_commands(node.inside().values())
    if node.definition is not None:
        problems += node.definition.warnings
    return True


def _hold_commands(nodes: "Iterable[AnyNode]") -> bool:
    """Return whether there are commands below one of these nodes."""
    return any(node.holds_commands() for node in nodes)


def _aliased(nodes: "Iterable[AnyNode]", alias: str) -> str:
    """Return the word of the command in these nodes that has `alias`, or "" if there is none."""
    if not is_word(alias):
        return ""
    for node in nodes:
        word = node.aliased(alias)
        if word:
            return word
    return ""


def _describe(category: Match, problems: list[Problem]) -> None:
    """Set a category's definition: a category.json, or a command.json without an entrypoint.

    A project never describes a category that other trees also have, because it could then choose
    the default command.
    """
    for node in category.nodes:
        if node.project is not category.nodes[0].project:
            break
        definition: Definition | None = None
        try:
            definition = node.category()
        except DefinitionError as error:
            problems.append(error.problem)
        if definition is not None:
            problems += definition.warnings
        category.definition = definition or node.definition
        if category.definition is not None:
            category.node = node
            break

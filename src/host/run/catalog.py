"""The catalog of a run: what words name, over the trees of commands that the lock lists.

`find` follows words, `children` lists a category; both apply one rule of precedence (`_decide`).
A run looks only at the folders on the way, so it costs the same with ten commands and with ten
thousand. Trees are merged here and nowhere else. There are two kinds of tree, `FolderTree` (with
`ProjectTree`) and `DeclaredTree`, with the same methods.
"""

from host.errors import DefinitionError, Problem
from host.run.command import is_word, read_definition
from host.run.folders import FolderTree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from host.run.command import Definition
    from host.run.lock import Declared, Lock
    from host.run.projects import Project, ProjectTree

    Read = Callable[[str], Definition]
    Around = Callable[[Read], tuple[list[ProjectTree], list[Problem]]]

RESERVED = "self"  # the first word of the commands that manage the program itself
NOT_CATEGORIES = (RESERVED, "help")  # first words that no folder can define


class Node:
    """One place in one tree: `at` is a path in a FolderTree, words in a DeclaredTree.

    `definition` is its command.json once `_decide` has read it; `error` is what is wrong with
    that file if commands lie below it all the same.
    """

    __slots__ = ("at", "definition", "error", "tree")

    def __init__(self, tree: "Any", at: "Any") -> None:
        self.tree = tree
        self.at = at
        self.definition: Definition | None = None
        self.error: DefinitionError | None = None

    @property
    def runnable(self) -> bool:
        return self.definition is not None and self.definition.entrypoint != ""

    def enter(self, word: str) -> "Node | None":
        inner = self.tree.enter(self.at, word)
        return Node(self.tree, inner) if inner else None

    def holds_commands(self, problems: "list[Problem] | None" = None) -> bool:
        return bool(self.tree.holds_commands(self.at, problems))

    def holds_below(self) -> bool:
        """Return whether a command lies below it, whatever its own command.json says."""
        return any(
            self.tree.holds_commands(self.tree.path_of(self.at, word))
            for word in self.tree.words(self.at)
        )


class Match:
    """What words name.

    `kind` is "command", "category" or "unknown" (then `words` is the part that exists).
    `nodes` are those of a category, in order of precedence, or the command's own; `plugin` is ""
    for the installation's own, and so is `project` None. `shadows` names what else has a command's
    words; only `children` fills it, and `has_below`: whether a command has commands below it.
    """

    __slots__ = (
        *("definition", "dev", "has_below", "kind", "nodes", "plugin", "project", "shadows"),
        "words",
    )

    def __init__(
        self,
        kind: str,
        words: tuple[str, ...],
        nodes: "Sequence[Node]",
        definition: "Definition | None" = None,
    ) -> None:
        self.kind = kind
        self.words = words
        self.nodes = nodes
        self.definition = definition
        self.plugin = ""
        self.dev = False
        self.project: Project | None = None
        self.has_below = False
        self.shadows: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return (self.definition.name if self.definition else "") or self.words[-1]

    @property
    def description(self) -> str:
        return self.definition.description if self.definition else ""

    @property
    def directories(self) -> list[str]:
        return [node.at for node in self.nodes if node.tree.root]


class DeclaredTree:
    """The commands that one plugin declares in Python; its places are words.

    The first command that begins with the words of a place decides what the place is.
    """

    __slots__ = ("_declared", "dev", "plugin", "root")

    project = None

    def __init__(self, declared: "Iterable[Declared]", plugin: str, dev: bool) -> None:
        self._declared = declared
        self.root: tuple[str, ...] = ()
        self.plugin = plugin
        self.dev = dev

    def path_of(self, place: tuple[str, ...], word: str) -> tuple[str, ...]:
        return (*place, word)

    def enter(self, place: tuple[str, ...], word: str) -> tuple[str, ...]:
        inner = (*place, word)
        return next((inner for _ in self._below(inner)), ())

    def command(self, place: tuple[str, ...]) -> "Definition | None":
        first = next(self._below(place))
        return first.definition if first.words == place else None

    def category(self, place: tuple[str, ...]) -> "Definition | None":
        own = (one.definition for one in self._declared if not one.runs and one.words == place)
        return next(own, None)

    def words(self, place: tuple[str, ...], problems: "list[Problem] | None" = None) -> list[str]:
        del problems
        words = {one.words[: len(place) + 1] for one in self._below(place)} - {place}
        return sorted([one[-1] for one in words])

    def holds_commands(
        self, place: tuple[str, ...], problems: "list[Problem] | None" = None
    ) -> bool:
        del place, problems
        return True

    def has_below(self, place: tuple[str, ...]) -> bool:
        del place
        return False

    def above(self, place: tuple[str, ...]) -> "tuple[Definition, ...]":
        del place
        return ()

    def aliased(self, place: tuple[str, ...], alias: str) -> str:
        for one in self._below(place):
            if one.words[:-1] == place and alias in one.definition.aliases:
                return one.words[-1]
        return ""

    def _below(self, place: tuple[str, ...]) -> "Iterator[Declared]":
        return (one for one in self._declared if one.runs and one.words[: len(place)] == place)


class Catalog:
    """The trees of one lock in order of precedence: folders, then what plugins declare.

    `read` reads a definition file: by default as a run does, or through an index. `around` finds
    the trees of projects, which come last; it is called if the lock's trees do not have a command.
    `problems` are what it found wrong.
    """

    __slots__ = ("_all", "_around", "_read", "_roots", "problems")

    def __init__(
        self, lock: "Lock", read: "Read" = read_definition, around: "Around | None" = None
    ) -> None:
        folders = [
            FolderTree(one.path, one.plugin, one.dev, one.scripts, read) for one in lock.trees
        ]
        linked = {one.plugin for one in lock.trees if one.dev}
        declared: list[list[Declared]] = []
        for one in lock.commands:
            if not declared or declared[-1][0].plugin != one.plugin:
                declared.append([])
            declared[-1].append(one)
        in_code = [
            DeclaredTree(own, "" if own[0].ours else own[0].plugin, own[0].plugin in linked)
            for own in declared
        ]
        self._roots = [Node(one, one.root) for one in folders]
        self._roots += [Node(one, one.root) for one in in_code]
        self._read = read
        self._around = around
        self._all: list[Node] | None = None
        self.problems: list[Problem] = []

    @property
    def projects(self) -> "list[ProjectTree]":
        """The trees of projects, the nearest first."""
        if self._all is None:
            self._all = self._roots
            if self._around is not None:
                trees, self.problems = self._around(self._read)
                self._all = [*self._roots, *[Node(one, one.root) for one in trees]]
        return [one.tree for one in self._all[len(self._roots) :]]

    def find(self, words: "Sequence[str]", *, whole: bool = False) -> Match:
        """Return what the leading `words` name; the rest are arguments.

        At each step the first tree that has the word decides whether it is a command or a
        category; categories of the same words are one category. A word that is none may be an
        alias. A command may have commands below it: the longest run of words that names one
        counts, with `whole` also a category that all the words name. Projects are asked for what
        is no command without them. Raises DefinitionError if the deciding definition is wrong.
        """
        found = self._find(self._roots, words, whole=whole)
        if found.kind != "command" and self.projects:
            found = self._find(self._all or [], words, whole=whole)
        return found

    def _find(self, roots: "list[Node]", words: "Sequence[str]", *, whole: bool) -> Match:
        found = Match("category", (), roots)
        command: Match | None = None
        for word in words:
            node = found.nodes[0] if found is command else None
            if word.startswith("-") or (node and not node.tree.has_below(node.at)):
                break
            inner = _entered(found, word) if is_word(word) else None
            if inner is None:
                named = _aliased(found.nodes, word)
                inner = _entered(found, named) if named else None
            if inner is None:
                if command is None:
                    _raise_error_of(found.nodes)
                    return Match("unknown", found.words, found.nodes)
                found = command
                break
            found = inner
            if found.kind == "command":
                command = found
        _raise_error_of(found.nodes)
        if found.kind == "category" and not (whole and len(found.words) == len(words)):
            found = command or found
        if found.kind == "category":
            _describe(found)
        definition = found.definition
        if definition is not None and definition.entrypoint:
            node = found.nodes[0]
            definition.inherit(node.tree.above(node.at))
        return found

    def default(self, category: Match) -> Match:
        """Return the command that runs if a category is called without a word, or the category.

        Raises DefinitionError if there is no such command.
        """
        definition = category.definition
        if definition is None or not definition.default:
            return category
        found = self.find((*category.words, definition.default))
        is_inside = found.kind == "command" and len(found.words) > len(category.words)
        if not is_inside or found.project is not category.project:
            what = f"there is no command {' '.join(category.words)} {definition.default}"
            what += " in this project" if is_inside else ""
            raise DefinitionError(Problem(definition.file, what, key="default"))
        return found

    def shadowed(self, command: Match) -> tuple[str, ...]:
        """Return what else has the words of a command: directories, or `plugin NAME`."""
        word = command.words[-1]
        nodes = self.find(command.words[:-1]).nodes
        reached = [inner for node in nodes if (inner := node.enter(word))]
        match = _matched(command.words, reached, [])
        return match.shadows if match else ()

    def children(self, category: Match) -> tuple[list[Match], list[Problem]]:
        """Return what is directly below a category or command, and what is wrong there.

        A folder without commands is left out, and so is one with a reserved word.
        """
        problems: list[Problem] = [] if category.words else [*self.problems]
        reached: dict[str, list[Node]] = {}
        reserved = () if category.words else NOT_CATEGORIES
        defaults: dict[Any, tuple[Definition, ...]] = {}
        for node in category.nodes if category.kind == "category" else category.nodes[:1]:
            try:
                defaults[node.tree] = node.tree.above(node.tree.path_of(node.at, "any"))
            except DefinitionError:
                defaults[node.tree] = ()  # the listing that has the file reports it
            for word in node.tree.words(node.at, problems):
                at = node.tree.path_of(node.at, word)
                if word in reserved and node.tree.root:
                    reason = f"left out; the word {word} is this program's own"
                    problems.append(Problem(at, reason))
                else:
                    reached.setdefault(word, []).append(Node(node.tree, at))
        found = []
        for word, nodes in reached.items():
            match = _matched((*category.words, word), nodes, problems)
            if match is not None:
                if match.kind == "category":
                    _describe(match, problems)
                else:
                    node = match.nodes[0]
                    match.has_below = node.tree.has_below(node.at)
                    above = defaults[node.tree]
                    if above and match.definition:
                        match.definition.inherit(above)
                found.append(match)
        return found, problems


def _entered(category: Match, word: str) -> Match | None:
    """Return what `word` names in a category, None for nothing; raises DefinitionError."""
    reserved = _is_reserved(category, word)
    nodes = [one for one in category.nodes if not (reserved and one.tree.root)]
    reached = (inner for node in nodes if (inner := node.enter(word)))
    return _matched((*category.words, word), reached)


def _is_reserved(category: Match, word: str) -> bool:
    return word in NOT_CATEGORIES and not category.words


def _matched(
    words: tuple[str, ...], reached: "Iterable[Node]", problems: "list[Problem] | None" = None
) -> Match | None:
    """Return the command or category that nodes of the same words make, None for neither."""
    nodes = _decide(reached, problems)
    if not nodes:
        return None
    if not nodes[0].runnable:
        return Match("category", words, nodes)
    found = Match("command", words, nodes, nodes[0].definition)
    tree = nodes[0].tree
    found.plugin, found.dev, found.project = tree.plugin, tree.dev, tree.project
    if len(nodes) > 1:
        found.shadows = tuple(
            [one.at if one.tree.root else f"plugin {one.tree.plugin}" for one in nodes[1:]]
        )
    return found


def _decide(reached: "Iterable[Node]", problems: "list[Problem] | None" = None) -> list[Node]:
    """Return the nodes that count among those of the same words: a command's, or a category's.

    The first node that is a command or a category decides. A run (no `problems`) stops there and
    raises DefinitionError if that definition is wrong. For a listing all nodes are read: after
    the command come those that it shadows, a category keeps only nodes that hold commands, and
    what is wrong goes to `problems`.
    """
    kept: list[Node] = []
    runs = False
    for node in reached:
        if not _counts(node, problems, decides=not kept):
            continue
        if runs or not node.runnable:
            if problems is None or node.definition or node.holds_commands(problems):
                kept.append(node)
        elif not any(earlier.holds_commands() for earlier in kept):
            kept, runs = [node], True
            if problems is None:
                break
    return kept


def _counts(node: Node, problems: "list[Problem] | None", *, decides: bool) -> bool:
    """Read the command.json of a node; return whether the node counts even if it is wrong."""
    try:
        node.definition = node.tree.command(node.at)
    except DefinitionError as error:
        if problems is not None:
            problems.append(error.problem)
        if node.holds_below():
            node.error = error
            return True
        if problems is None and decides:
            raise
        return False
    if problems is not None and node.definition is not None:
        problems += node.definition.warnings
    return True


def _raise_error_of(nodes: "Sequence[Node]") -> None:
    """Raise the error in the definition of the node that decides, if there is one."""
    if nodes and nodes[0].error is not None:
        raise nodes[0].error


def _aliased(nodes: "Iterable[Node]", alias: str) -> str:
    """Return the word of the command that has `alias` in a category, "" for none."""
    for node in nodes if is_word(alias) else ():
        word: str = node.tree.aliased(node.at, alias)
        if word:
            return word
    return ""


def _describe(category: Match, problems: "list[Problem] | None" = None) -> None:
    """Give a category the first category.json, or command.json without entrypoint, it has.

    A project never describes a category that others have too: it would choose what runs there.
    """
    owner = category.nodes[0].tree.project if category.nodes else None
    for node in category.nodes:
        if node.tree.project is not owner:
            break
        definition: Definition | None = None
        try:
            definition = node.tree.category(node.at)
            warnings = definition.warnings if definition else ()
        except DefinitionError as error:
            warnings = (error.problem,)
        if problems is not None:
            problems += warnings
        category.definition = definition or node.definition
        if category.definition is not None:
            tree = node.tree
            category.plugin, category.dev, category.project = tree.plugin, tree.dev, tree.project
            break

"""The nodes of a tree of commands on disk, of any depth, safe against cyclic links.

The words of a command form a path, such as `root/theme/set`. The path leads to the folder of a
category or command, or to a script, whose name may have an extension (`root/theme/set.sh`).

Scripts look for the files beside them. So the path of a node is the one that the script's owner
would type: links to the tree are resolved, and links inside the tree stay as they are written.
"""

import posix

from host.catalog.definition import read_definition
from host.catalog.script_names import EXTENSIONS, existing, refusal, words_of_script
from host.errors import DefinitionError, Problem
from host.files.paths import (
    basename,
    is_directory,
    is_file,
    is_inside,
    is_link,
    join,
    read_regular,
    realpath,
)
from host.words import WORD_RULE, is_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from host.catalog.definition import Definition
    from host.projects.projects import Project
    from host.record_base import CommandTree

    Read = Callable[[str], Definition]
    Scripts = list[tuple[list[str], str]]

# parts of keys; \u may encode a letter
_DEFAULTS = (
    *(b"env", b"group", b"requires", b'"path"'),
    *(b"record", b"timeout", b"exclusive"),
    b"\\u",
)
_ALIASES = (b"alias", b"\\u")  # also @alias and alias=
# Hard links of a folder without subfolders: its name in the parent folder, and its own `.`. Reading
# folders instead of link counts would make a listing of 10,000 commands a fifth slower.
_NO_SUBFOLDERS = 2


class Node:
    """The node that words name in one tree; `at` is its path or, if declared in code, its words.

    The catalog sets `definition`, or `error` if the definition is invalid but there are commands
    below it. `problems` has the problems in the folder, and is complete once the folder is listed.
    """

    tree: "CommandTree"
    at: "Any"
    project: "Project | None" = None
    definition: "Definition | None" = None
    error: DefinitionError | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def place(self) -> str:
        """The folder or script of the node, or `plugin NAME` if a plugin declares the command."""
        if self.definition is not None and self.definition.is_script:
            return self.definition.file
        if not self.tree.path:
            return f"plugin {self.tree.plugin}"
        place: str = self.at
        return place

    @property
    def runnable(self) -> bool:
        return self.definition is not None and self.definition.is_command

    def forget(self) -> None:
        """Let go of the child nodes, for which a large tree needs megabytes."""


class FolderNode(Node):
    """A node of a tree on disk: a folder, a script or both, or the first words of a script's name.

    The constructor makes the root; `enter` and `inside` return the other nodes. A folder is listed
    only once. A link to a directory is not followed if it is below another link, if it is in the
    folder of a command, or if it leads to a directory that contains the tree. Therefore every
    traversal ends.

    word     its last word, or "" for the root; a folder behind a link may have another name
    at       its path; see the module's docstring for links
    """

    parent: "FolderNode | None" = None
    word = ""
    is_folder = True
    linked = False  # true if the node is reached through a link
    owned = False  # true in a command's folder, whose files are not scripts: see `read_command`
    evidence: str | None = None  # set by `evidence_of_commands`
    defaults: "tuple[Definition, ...] | None" = None
    _base = ""  # the real path of the tree, or of the folder behind the last link that leaves it
    _inside: "dict[str, FolderNode] | None" = None
    _scripts: "Scripts | None" = None

    def __init__(
        self,
        tree: "CommandTree",
        read: "Read" = read_definition,
        project: "Project | None" = None,
    ) -> None:
        self.tree = tree
        self.at = tree.path.rstrip("/") or "/"
        self.project = project
        self._read = read

    def _child(
        self, word: str, is_folder: bool, linked: bool, scripts: "Scripts | None" = None
    ) -> "FolderNode":
        node = FolderNode(self.tree, self._read, self.project)
        node.at = f"{self.at}/{word}"
        node.word = word
        node.parent = self
        node._base = self._base
        node.is_folder = is_folder
        node.linked = linked
        node.owned = self.owned
        node._scripts = scripts

        if is_folder and linked and not self.linked:
            # A link that leaves the tree begins a tree of its own: see the module's docstring.
            target = realpath(node.at)
            if not is_inside(target, self.base):
                node.at = node._base = target
        return node

    @property
    def base(self) -> str:
        """The real path of the tree, or of the folder behind the last link that leaves the tree."""
        return self._base or realpath(self.tree.path)

    @property
    def written(self) -> str:
        """The path of the node in its tree as it is written, with all links to folders."""
        words: list[str] = []
        node = self
        # a loop, because trees may be thousands of levels deep
        while node.parent is not None:
            words.insert(0, node.word)
            node = node.parent
        return "/".join([self.tree.path, *words])

    def _resolve(self) -> None:
        """Resolve the links to the tree of this root node.

        A run does this only for the tree that has the command, because it costs a system call for
        each part of the path.
        """
        self.at = self._base = realpath(self.tree.path)

    def enter(self, word: str) -> "FolderNode | None":
        """Return the child node of `word`, or None if there is none."""
        if self._inside is not None:
            return self._inside.get(word)
        node = self._entered(word)
        if node is None or self._base:
            return node
        self._resolve()
        return self._entered(word)  # with the resolved path

    def _entered(self, word: str) -> "FolderNode | None":
        at = join(self.at, word)
        linked = is_link(at)
        is_folder = is_directory(at)
        if is_folder and linked:
            is_folder = self._follows(at)
        # In a command's folder, a subfolder without a definition has the command's own files.
        if self.owned and not _has_definition(at):
            is_folder = False

        node = self._child(word, is_folder, self.linked or linked)
        if not is_folder and not node.scripts:
            return None
        return node

    def inside(self) -> "dict[str, FolderNode]":
        """Return all child nodes by word, sorted."""
        if self._inside is None:
            self._inside = self._children()
        return self._inside

    def _children(self) -> "dict[str, FolderNode]":
        if not self._base:
            self._resolve()
        folders: dict[str, bool] = {}
        files: list[str] = []
        if self.is_folder:
            folders, files = self._listed()

        # A script belongs to the child with its first word, which gets the words that follow.
        scripts: dict[str, Scripts] = {}
        below = [*self.scripts, *self._accepted(files)]
        for words, path in below:
            if words:
                first, *others = words
                scripts.setdefault(first, []).append((others, path))

        children = {}
        for word in sorted({*folders, *scripts}):
            is_folder = word in folders
            linked = folders.get(word, False)
            own_scripts = scripts.get(word, [])
            children[word] = self._child(word, is_folder, linked, own_scripts)
        return children

    def forget(self) -> None:
        self._inside = None  # `inside` reads the folder again

    @property
    def scripts(self) -> "Scripts":
        """The scripts at or below this node: their words relative to the node, and their paths.

        Scripts are below the node only if the tree splits names such as `db-dump` into words.
        """
        if self._scripts is None:
            self._scripts = []
            if self.parent is not None:
                self._scripts = self.parent.scripts_of(self.word)
        return self._scripts

    @property
    def script(self) -> str:
        """The path of the script whose name has exactly this node's words, or "" for none."""
        for words, path in self.scripts:
            if not words:
                return path
        return ""

    def scripts_of(self, word: str) -> "Scripts":
        """Return the remaining words and the path of each script whose words begin with `word`.

        The folder is listed only if necessary.
        """
        scripts = [*self.scripts]
        if self.is_folder:
            names = self._names_with(word)
            scripts += self._accepted(names)

        below = []
        for words, path in scripts:
            if words[:1] == [word]:
                below.append((words[1:], path))
        return below

    def _names_with(self, word: str) -> "Iterable[str]":
        """Return the names of the files that may be scripts whose words begin with `word`."""
        scripts = self.tree.scripts
        is_root = self.parent is None
        if not (scripts and is_root):
            paths = existing(join(self.at, word))
            return map(basename, paths)

        # Names in this folder have a prefix or are split, so only a listing finds them.
        prefix = scripts.get("prefix", "")
        _, names = self._listed()
        return [name for name in names if name.startswith(prefix + word)]

    def _accepted(self, names: "Iterable[str]") -> "Scripts":
        """Return the words and the path of each file in `names` that can be a command."""
        scripts = self.tree.scripts
        if scripts is None or self.owned:
            return []
        if self.parent is not None:
            scripts = {}  # only names directly in the tree have a prefix and are split
        accepted = []
        for name in sorted(names):
            words = words_of_script(name, scripts)
            path = join(self.at, name)
            if words and not refusal(path, self.base):
                accepted.append((words, path))
        if not accepted:
            return []

        # The script that a category runs is not a command beside it.
        entrypoint = ""
        try:
            category = self.category()
        except DefinitionError:  # a listing of the folder reports the error
            category = None
        if category is not None:
            entrypoint = join(self.at, category.entrypoint)
        return [(words, path) for words, path in accepted if path != entrypoint]

    def read_command(self) -> "Definition | None":
        """Return the definition of this node's command or category, or None if there is none.

        The folder's command.json comes first, then its script `main`, then a script beside the
        folder. A command's folder owns its files: this call marks it as `owned`, and then scripts
        in it are not commands. So call it before `enter`, `inside` and `has_below`. Raises
        DefinitionError.
        """
        definition = None
        if self.is_folder:
            definition = self._definition(f"{self.at}/command.json")
        if definition is not None and definition.is_command:
            return self._claimed(definition)

        main = self._main()
        if main and definition is not None:
            definition.entrypoint = basename(main)  # command.json describes the script
            return self._claimed(definition)

        script = main or self.script
        if not script:
            # a command.json without an entrypoint describes a category
            return definition
        definition = self._definition(script)
        if definition is None:
            return None
        return self._claimed(definition)

    def _claimed(self, definition: "Definition") -> "Definition":
        """Give the definition of this node's command its name, and mark the folder as `owned`."""
        definition.name = definition.name or self.word or basename(self.at)
        # not so for a script beside the folder, which may hold other commands
        if definition.file.startswith(f"{self.at}/"):
            self.owned = True
        return definition

    def category(self) -> "Definition | None":
        """Return category.json's definition, or None if it is missing. Raises DefinitionError."""
        return self._definition(f"{self.at}/category.json")

    def _definition(self, path: str) -> "Definition | None":
        """Return the definition in a file, or None if it is missing. Raises DefinitionError."""
        try:
            definition = self._read(path)
        except FileNotFoundError:
            return None
        if self.project is not None:
            definition.project = self.project
            definition.written = self._written(path)

        tree = self.tree
        definition.roots = (tree.root or tree.path, self._base or tree.path)
        if self.tree.path_folders:
            definition.plugin_root = self.tree.root
            definition.plugin_path = self.tree.path_folders
        return definition

    def _written(self, path: str) -> str:
        """Return a path at or above this node as it is written in the tree: see `written`."""
        node: FolderNode | None = self
        while node is not None and not path.startswith(f"{node.at}/"):
            node = node.parent  # the file of a script is in the folder above its node

        if node is None:
            return path
        return f"{node.written}{path.removeprefix(node.at)}"

    def _main(self) -> str:
        """Return the path of a script `main` that makes the folder a command, or ""."""
        if self.tree.scripts is None or self.parent is None:
            return ""
        if not self.is_folder or is_file(f"{self.at}/category.json"):
            return ""

        for path in existing(f"{self.at}/main"):
            if not refusal(path, self.base):
                return path
        return ""

    @property
    def has_below(self) -> bool:
        """Whether there are commands or categories below this node's command."""
        if not self.owned:
            return self.holds_commands()
        if posix.stat(self.at).st_nlink == _NO_SUBFOLDERS:
            return False
        return bool(self.inside())

    def holds_commands(self) -> bool:
        """Return whether the node has a category.json, a command.json or commands below it."""
        return bool(self.evidence_of_commands())

    def evidence_of_commands(self) -> str:
        """Return the path of a file that shows what `holds_commands` asks, or "" for none."""
        if self.evidence is None:
            self.evidence = self._search()
        return self.evidence

    def _search(self) -> str:
        if not self.is_folder:
            for words, path in self.scripts:
                if words:
                    return path
            return ""
        if is_file(f"{self.at}/category.json"):
            return f"{self.at}/category.json"

        pending = [self]
        while pending:
            node = pending.pop()
            script = node.script if node is not self else ""
            evidence = script or node.command_near()
            if not evidence:
                pending += node.inside().values()
                continue
            # The command is below these parents, too.
            while node.parent is not None and node is not self:
                node = node.parent
                node.evidence = evidence
            return evidence
        return ""

    def command_near(self) -> str:
        """Return the path of a command.json in the folder or a direct subfolder, or ""."""
        path = f"{self.at}/command.json"
        if is_file(path):
            return path
        try:
            with posix.scandir(self.at) as entries:
                for entry in entries:
                    is_folder = is_word(entry.name) and not entry.is_symlink()
                    path = f"{entry.path}/command.json"
                    if is_folder and is_file(path):
                        return path
        except OSError:
            pass  # a listing of the folder reports the error
        return ""

    def above(self) -> "tuple[Definition, ...]":
        """Return the parents' definitions that have defaults for this node, the outermost first.

        Raises DefinitionError.
        """
        pending = []  # the parents whose defaults are not known yet, the innermost first
        node = self.parent
        while node is not None and node.defaults is None:
            pending.append(node)
            node = node.parent

        defaults: tuple[Definition, ...] = ()
        if node is not None and node.defaults is not None:
            defaults = node.defaults
        elif self.project is not None:
            from host.catalog.usable_projects import project_definition

            defaults = (project_definition(self.project),)
        for parent in reversed(pending):
            if _mentions(f"{parent.at}/category.json", _DEFAULTS):
                category = parent.category()
                if category is not None:
                    defaults = (*defaults, category)
            parent.defaults = defaults
        return defaults

    def aliased(self, alias: str) -> str:
        """Return the word of the child command with the alias `alias`, or "" if there is none."""
        for word, node in self.inside().items():
            file = node.script or f"{node.at}/command.json"
            if not _mentions(file, _ALIASES):  # parsing each file would take far longer
                continue
            try:
                definition = node.read_command()
            except DefinitionError:
                continue
            if definition is None or not definition.is_command:
                continue
            if alias in definition.aliases:
                return word
        return ""

    def refused(self, word: str) -> "list[tuple[str, str]]":
        """Return the files `word` and `word.EXTENSION` that cannot be commands, with reasons."""
        if self.tree.scripts is None or self.owned:
            return []
        refused = []
        for extension in EXTENSIONS:
            path = join(self.at, word + extension)
            if not is_file(path):
                continue
            reason = refusal(path, self.base)
            if reason:
                refused.append((path, reason))
        return refused

    def _listed(self) -> "tuple[dict[str, bool], list[str]]":
        """Return the usable subfolders, as {word: is_linked}, and the names of the files.

        Names that cannot be words and links to folders that contain the tree go into `problems`.
        """
        folders: dict[str, bool] = {}
        files: list[str] = []
        try:
            with posix.scandir(self.at) as entries:
                for entry in entries:
                    name = entry.name
                    if name.startswith((".", "__")):
                        continue

                    linked = entry.is_symlink()
                    is_folder = entry.is_dir(follow_symlinks=False)
                    if linked:
                        # not `is_dir`, whose error for one link would end the listing
                        is_folder = is_directory(entry.path)
                    if not is_folder:
                        files.append(name)
                    elif not is_word(name):
                        problem = Problem(entry.path, f"left out; {WORD_RULE}")
                        self.problems += (problem,)
                    elif self.owned and not _has_definition(entry.path):
                        continue
                    elif not linked or self._follows(entry.path):
                        folders[name] = self.linked or linked
        except OSError as failure:
            self.problems += (Problem(self.at, f"{failure.strerror}"),)
        return folders, files

    def _follows(self, path: str) -> bool:
        """Return whether `path`, a link to a directory, is followed: see `FolderNode`."""
        if self.linked or self.owned:
            return False
        target = realpath(path)
        if is_inside(self.base, target):
            reason = f"left out; it links to {target}, which contains this tree"
            self.problems += (Problem(path, reason),)
            return False
        return True


def _has_definition(folder: str) -> bool:
    return is_file(f"{folder}/command.json") or is_file(f"{folder}/category.json")


def _mentions(file: str, keys: "Iterable[bytes]") -> bool:
    """Return whether the bytes of `file` contain one of these keys; True if it is unreadable."""
    try:
        content = read_regular(file, DefinitionError)
    except FileNotFoundError:
        return False
    except DefinitionError:
        return True  # reading the definition reports the error
    return any(key in content for key in keys)

"""The contents of a plugin, read from its files only: none of its code is imported or run."""

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from builtin_plugins.administration.left_out import left_out
from builtin_plugins.administration.plugins.tree import commands_of
from builtin_plugins.plugins_folder.directory import MANIFEST, DirectoryPlugin
from builtin_plugins.plugins_folder.registry import Entry
from host import Definition, PluginError, Problem, Record
from host.cli.contents import contents
from host.hook_marker import GROUP
from host.hookspecs import HOOKS
from host.run.catalog import Catalog
from host.run.command_files import FolderNode
from host.run.declarations import CommandTree
from host.run.files import read_regular
from host.run.json_file import Fields, read_json
from host.run.lock import Lock

Words = tuple[str, ...]

_HOOKS_LIMIT = 1 << 20  # maximum size of a hooks file in bytes
_HOOK = re.compile(r"(?ms)^[ \t]*@(?:\w+\.)*hookimpl\b.*?^[ \t]*def[ \t]+(\w+)")
_DECLARATION = re.compile(r"\bCommandDeclaration\(\s*(?:words\s*=\s*)?\(([^)]*)\)")
_LITERAL = re.compile(r"[\"']([^\"']+)[\"']")
_PACKAGE_FILES = ("pyproject.toml", "setup.cfg", "setup.py")
_PACKAGE_NAME = re.compile(r"\bname\s*=\s*[\"']?([A-Za-z0-9._-]+)")
_TREE = re.compile(r"((?:.+?/)?commands)/.+/command\.json\Z")  # in a distribution
_NONE: Mapping[Words, Definition] = {}
_NOTHING: Mapping[str, str] = {}


class PluginContents(Record):
    """A version of a plugin: its entry, and its contents as far as its files show them.

    `commands` maps the words of each command to its definition. `hooks` and `declared` hold the
    hooks and the words of the commands that are visible in the text of the plugin's Python code;
    the code may have more. `problems` holds ignored definitions and misspelt keys. `left_out` lists
    files that look like scripts but are not commands. `names` holds the names of a package's entry
    points. `unbuilt` maps packages to their versions: until they are built, which runs their code,
    the contents are unknown.
    """

    entry: Entry
    commands: Mapping[Words, Definition] = _NONE
    hooks: tuple[str, ...] = ()
    declared: tuple[Words, ...] = ()
    problems: tuple[Problem, ...] = ()
    left_out: tuple[Problem, ...] = ()
    names: tuple[str, ...] = ()
    unbuilt: Mapping[str, str] = _NOTHING

    @property
    def first_words(self) -> tuple[str, ...]:
        """The first words of the commands, sorted."""
        return tuple(sorted({words[0] for words in (*self.commands, *self.declared)}))

    @property
    def has_python(self) -> bool:
        """Return whether the plugin has Python code that the program imports."""
        return bool(self.names or self.entry.hooks)


def read_contents(plugin: DirectoryPlugin) -> PluginContents:
    """Return the contents of a directory plugin.

    Raises PluginError if its plugin.json names a missing file.
    """
    if missing := plugin.missing_path():
        raise PluginError(missing)
    tree = commands_of(plugin)
    catalog = Catalog(Lock([tree]))
    found = contents(catalog, (), deep=True)
    problems = (*misspelt_keys(plugin.root), *found.problems)
    commands = {one.words: one.definition for one in found.commands}
    code = b""
    if plugin.hooks_file:
        code = read_regular(plugin.hooks_file, PluginError, _HOOKS_LIMIT)
    categories = [(), *(one.words for one in found.categories)]
    nodes = [node for words in categories for node in catalog.find(words).nodes]
    ignored: list[Problem] = []
    if tree.scripts is not None:
        top = os.path.realpath(tree.path)  # the nodes have real paths
        for node in nodes:
            for finding in left_out(node) if isinstance(node, FolderNode) else ():
                path = os.path.relpath(finding.problem.path, top)
                ignored.append(Problem(path, finding.problem.text))
    hooks, declared = scan_python(code)
    placed = tuple((*plugin.under, *words) for words in declared)
    return PluginContents(plugin.entry, commands, hooks, placed, problems, tuple(ignored))


def read_commands(*trees: CommandTree) -> tuple[dict[Words, Definition], tuple[Problem, ...]]:
    """Return the commands in `trees` by their words, and the problems in invalid definitions."""
    found = contents(Catalog(Lock(list(trees))), (), deep=True)
    return {one.words: one.definition for one in found.commands}, tuple(found.problems)


def scan_python(code: bytes) -> tuple[tuple[str, ...], tuple[Words, ...]]:
    """Find hooks, and the words of commands written as literals, in Python code; do not run it."""
    text = code.decode("utf-8", "replace")
    marked = _HOOK.findall(text)
    declared = [tuple(_LITERAL.findall(words)) for words in _DECLARATION.findall(text)]
    return tuple(one for one in HOOKS if one in marked), tuple(filter(None, declared))


def misspelt_keys(root: str) -> tuple[Problem, ...]:
    """Return a problem for each unknown key in plugin.json that resembles a known one."""
    path = os.path.join(root, MANIFEST)
    if not os.path.exists(path):
        return ()
    return Fields(path, read_json(path)).misspelt("plugin")


def read_package(entry: Entry, folders: Sequence[str]) -> PluginContents:
    """Return the contents of a package; the last of `folders` has its distributions.

    The other folders are those of a linked project, whose files no distribution lists. Raises
    ValueError or OSError if the files are unreadable or invalid.
    """
    # Imported here: it takes 50 ms, and most users of this module read directories only.
    from builtin_plugins.administration.plugins.package_folder import distributions_in

    *linked, folder = folders
    commands: dict[Words, Definition] = {}
    problems: list[Problem] = []
    code = b""
    names = []
    for distribution in distributions_in([folder]).values():
        points = [*distribution.entry_points.select(group=GROUP)]
        if not points:
            continue
        names += [point.name for point in points]
        modules = [point.module for point in points]
        files = {folder: [str(one) for one in distribution.files or ()]}
        files |= {root: _files_of(root, modules) for root in linked}
        for root, paths in files.items():
            trees = sorted({match[1] for one in paths if (match := _TREE.match(one))})
            found, wrong = read_commands(*(CommandTree(os.path.join(root, one)) for one in trees))
            commands |= found
            problems += [relocated(one, root, entry.name) for one in wrong]
            for path in paths:
                module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
                if module in modules:
                    code += Path(root, path).read_bytes() + b"\n"
    hooks, declared = scan_python(code)
    placed = {(*entry.under, *words): definition for words, definition in commands.items()}
    return PluginContents(
        entry,
        placed,
        hooks,
        tuple((*entry.under, *words) for words in declared),
        tuple(problems),
        names=tuple(names),
    )


def _files_of(root: str, modules: Iterable[str]) -> list[str]:
    """Return the files of the top-level packages or modules `modules` in the directory `root`."""
    found = []
    for top in sorted({module.partition(".")[0] for module in modules}):
        if os.path.isfile(os.path.join(root, f"{top}.py")):
            found.append(f"{top}.py")
        for directory, _, names in os.walk(os.path.join(root, top)):
            inside = os.path.relpath(directory, root)
            found += [f"{inside}/{name}" for name in names]
    return found


def relocated(problem: Problem, root: str, called: str) -> Problem:
    """Return `problem` with the name `called` before its path, which becomes relative to `root`."""
    if root == called:
        return problem
    path = "" if problem.path == root else problem.path.removeprefix(f"{root}/")
    return problem.replaced(path, problem.text.replace(f"{root}/", "")).inside(called)


def is_python_project(root: str) -> bool:
    """Return whether pip could install the directory `root`."""
    return any(os.path.isfile(os.path.join(root, one)) for one in ("pyproject.toml", "setup.py"))


def is_package(root: str, commands: Collection[Words]) -> bool:
    """Return whether the directory `root` is a Python package, not a directory plugin.

    A directory without plugin.json is a package if pip could install it and if it declares an entry
    point for plugins or contains no commands.
    """
    if not is_python_project(root) or os.path.lexists(os.path.join(root, MANIFEST)):
        return False
    return not commands or GROUP in _project_texts(root)


def project_name(root: str) -> str:
    """Return the canonical name of the Python project in `root`, or "" if no file states it."""
    import tomllib  # imported here: only packages need these

    from packaging.utils import canonicalize_name

    name = None
    with suppress(OSError, ValueError, AttributeError):
        project = tomllib.loads(Path(root, "pyproject.toml").read_text("utf-8"))
        poetry = project.get("tool", {}).get("poetry", {})
        name = project.get("project", {}).get("name") or poetry.get("name")
    if not isinstance(name, str) and (found := _PACKAGE_NAME.search(_project_texts(root))):
        name = found[1]
    return canonicalize_name(name) if isinstance(name, str) else ""


def _project_texts(root: str) -> str:
    text = ""
    for name in _PACKAGE_FILES:
        with suppress(OSError):
            text += Path(root, name).read_text("utf-8", "replace")
    return text

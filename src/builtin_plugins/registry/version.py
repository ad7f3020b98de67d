"""One version of a plugin: its entry, where its files are, and what they show."""

from __future__ import annotations

from host import CommandTree, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from builtin_plugins.registry.entry import Entry
    from host import Definition, Problem

Words = tuple[str, ...]

_NO_TREE = CommandTree("")
_NO_COMMANDS: Mapping[Words, Definition] = {}
_NOTHING: Mapping[str, Any] = {}


class PluginVersion(Record):
    """A version of a plugin. None of its code was run to find out what it has.

    `read_plugin` sets what plugin.json decides:

    entry       the entry, completed from plugin.json
    root        its directory, or "" if there is none yet
    manifest    the content of its plugin.json, or {} if it has none
    tree        its commands that are files; without a path if there are none, as in a package
    hooks_file  a Python file with hooks, or "" for none
    problem     the reason why it cannot be used, or None

    `read_contents` and `read_package` set what its files show:

    commands    the definition of each command, by its words
    hooks       the hooks in the text of its Python code; the code may have more
    declared    the words of the commands in that text
    problems    ignored definitions and misspelt keys
    left_out    files that look like scripts but are not commands
    names       the names of a package's entry points
    unbuilt     the versions, by name, of packages that must be built, which runs their code;
                until then, nothing else is known
    """

    entry: Entry
    root: str = ""
    tree: CommandTree = _NO_TREE
    hooks_file: str = ""
    problem: Problem | None = None
    commands: Mapping[Words, Definition] = _NO_COMMANDS
    hooks: tuple[str, ...] = ()
    declared: tuple[Words, ...] = ()
    problems: tuple[Problem, ...] = ()
    left_out: tuple[Problem, ...] = ()
    names: tuple[str, ...] = ()
    unbuilt: Mapping[str, str] = _NOTHING
    manifest: Mapping[str, Any] = _NOTHING

    @property
    def has_python(self) -> bool:
        """Return whether the plugin has Python code that the program imports."""
        return bool(self.names or self.entry.hooks)

    @property
    def manifest_decides(self) -> bool:
        """Return whether plugin.json says which files are commands, or what is on PATH."""
        return any(self.manifest.get(key) is not None for key in ("scripts", "path"))


def relocated(problem: Problem, root: str, called: str) -> Problem:
    """Return `problem` with the name `called` before its path, which becomes relative to `root`."""
    if root == called:
        return problem
    path = ""
    if problem.path != root:
        path = problem.path.removeprefix(f"{root}/")
    text = problem.text.replace(f"{root}/", "")
    return problem.replaced(path, text).inside(called)

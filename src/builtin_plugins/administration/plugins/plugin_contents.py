"""One version of a plugin: its entry, and what its files show without running its code."""

from collections.abc import Mapping

from builtin_plugins.plugins_folder.entry import Entry
from host import Definition, Problem, Record

Words = tuple[str, ...]

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


def relocated(problem: Problem, root: str, called: str) -> Problem:
    """Return `problem` with the name `called` before its path, which becomes relative to `root`."""
    if root == called:
        return problem
    path = "" if problem.path == root else problem.path.removeprefix(f"{root}/")
    return problem.replaced(path, problem.text.replace(f"{root}/", "")).inside(called)

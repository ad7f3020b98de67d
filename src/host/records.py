"""What crosses the hook boundary: plain facts, never objects to change."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal, Self, dataclass_transform
else:

    def dataclass_transform(**_: object) -> object:
        """Say nothing: only a type checker listens."""
        return lambda record: record


CHECK_MARK = "✓"

_RESET = "\033[0m"
_FAINT = "\033[2m"
_STYLES = {
    "heading": "\033[1m",
    "name": "\033[36m",
    "installed": "\033[32m",
    "missing": "\033[31m",
    CHECK_MARK: "\033[32m",
    "[installed]": "\033[32m",
    "[sudo]": "\033[33m",
    "[destroy]": "\033[31m",
    "[missing]": "\033[31m",
}


@dataclass_transform(frozen_default=True)
class Record:
    """Named values, given in order or by name, that nobody changes; equal when their values are.

    `values()` has them by name, `replaced(name=value)` makes another record of them.
    """

    # What `dataclasses` would do: importing that costs a listing more than all the rest of it.

    def __init_subclass__(cls) -> None:
        cls._names = tuple(cls.__annotations__)
        cls._known = frozenset(cls._names)
        cls._needed = frozenset(one for one in cls._names if not hasattr(cls, one))

    _names: tuple[str, ...] = ()
    _known: frozenset[str] = frozenset()
    _needed: frozenset[str] = frozenset()

    def __init__(self, *values: Any, **named: Any) -> None:
        if not values and self._needed.issubset(named) and self._known.issuperset(named):
            self.__dict__.update(named)  # as rows of listings are made, by the thousands
            return
        placed = dict(zip(self._names, values, strict=False))
        fields = {**placed, **named}
        twice = placed.keys() & named
        if twice or len(values) > len(placed) or not self._needed <= fields.keys() <= self._known:
            odd = (self._needed - fields.keys()) | (fields.keys() - self._known) | twice
            wrong = ", ".join(sorted(odd)) or f"{len(values)} values"
            raise TypeError(f"{type(self).__name__}: missing, unknown or given twice: {wrong}")
        self.__dict__.update(fields)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__}: {name} cannot be changed to {value!r}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record) or type(self) is not type(other):
            return NotImplemented
        return self.values() == other.values()

    def __hash__(self) -> int:
        return hash(tuple(self.values().values()))

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.values().items())
        return f"{type(self).__name__}({values})"

    def values(self) -> dict[str, Any]:
        """Return its values by name."""
        return {name: getattr(self, name) for name in self._names}

    def replaced(self, **changes: Any) -> Self:
        """Return a record of the same kind with other values."""
        return type(self)(**{**self.values(), **changes})


class Installation(Record):
    """Where the running installation keeps its files; all paths are absolute.

    program                   the name that it was called by
    root                      its directory
    commands_dir, plugins_dir, config_dir   its `commands`, `plugins` and `config`
    """

    program: str
    root: str
    commands_dir: str
    plugins_dir: str
    config_dir: str


class CommandTree(Record):
    """A directory of categories, laid out like `commands/`.

    path     the directory, absolute
    plugin   the plugin that it belongs to, as listings name it; "" for the installation's own
    dev      whether its author is working on it in place: listings mark it `[dev]`
    scripts  {} if scripts in it are commands too; "prefix" is removed from the names of those
             directly in it, "split" separates words there; None if only folders are commands
    """

    path: str
    plugin: str = ""
    dev: bool = False
    scripts: Mapping[str, str] | None = None


class CommandDeclaration(Record):
    """A command written in Python: its words and what its command.json would hold.

    words        such as ("cloud", "login")
    definition   the keys of a command.json; its `entrypoint` is a reference
                 "package.module:attr" to a `click.Command` or to a callable that takes the
                 list of arguments and returns an exit status
    """

    words: tuple[str, ...]
    definition: Mapping[str, Any]


class CategoryDeclaration(Record):
    """What a category is for whose commands are declared in Python.

    words               such as ("cloud",)
    name, description   as in a category.json
    """

    words: tuple[str, ...]
    name: str
    description: str = ""


class EnvSource(Record):
    """A source of variables for the commands whose words start with `words`.

    Plugin sources are read after settings.conf and before `.env` files. One of `files` and
    `provider` is given.

    name       for people: `self env` says it
    rank       from 2 (as strong as `envs`) to 4 (as weak as `.env` files); only this
               distribution's own plugins leave it out, with a `reader` that has a rank
    files      absolute paths of `.env` files
    provider   "module:attr", called with (words, environment) in a process of its own;
               it returns a dict of strings
    words      the leading words of the commands that it serves, () for all
    reader     leave it out: for this distribution's own plugins
    """

    name: str
    rank: float | None = None
    files: tuple[str, ...] = ()
    provider: str = ""
    words: tuple[str, ...] = ()
    reader: Literal["dotenv", "python", "shell", "env_files", "envs"] = "dotenv"


class Watch(Record):
    """A file or directory that a hook looked at: when it changes, hooks are asked again."""

    path: str


class BrokenPlugin(Record):
    """A plugin that cannot be used, and the reason, which is a line for people."""

    plugin: str
    reason: str


class PluginFile(Record):
    """A Python file with hookimpls that is a plugin: its `name`, where it comes from, `path`."""

    name: str
    origin: str
    path: str


class Disabled(Record):
    """A plugin that is switched off.

    plugin     its name; that of an installed distribution is the canonical one
    commands   the words of each of its commands, where they are known
    """

    plugin: str
    commands: tuple[tuple[str, ...], ...] = ()


class Command(Record):
    """A command as listings show it.

    words        such as ("cloud", "login")
    definition   what its command.json says, checked: a `Definition`
    directory    of its command.json, "" for one declared in Python
    origin       "commands", "plugin" (a directory or a `CommandTree`) or "python" (declared)
    plugin       the plugin that it is from, "" for the installation's own
    dev          whether that is a linked directory
    installed    whether what it installs is there; None outside `setup`
    shadows      places whose commands of the same words it hides
    """

    words: tuple[str, ...]
    definition: Any
    directory: str
    origin: Literal["commands", "plugin", "python"]
    plugin: str = ""
    dev: bool = False
    installed: bool | None = None
    shadows: tuple[str, ...] = ()

    @property
    def missing(self) -> bool:
        """Whether its entrypoint is no file in its folder; the disk is asked each time."""
        return bool(self.directory) and not self.definition.has_entrypoint

    def indicators(self, terminal: Terminal) -> list[str]:
        """Return what stands behind its row, in the fixed order.

        `✓` (`[installed]` where stdout cannot print it), `[plugin]`, `[dev]`, `[sudo]`,
        `[destroy]`, the systems of a command that is not for this one, and `[missing]`
        where a run would find no entrypoint: it is no file, or not in the command's folder.
        """
        marks = []
        if self.installed:
            marks.append(CHECK_MARK if terminal.can_print(CHECK_MARK) else "[installed]")
        if self.plugin:
            marks.append("[plugin]")
        if self.dev:
            marks.append("[dev]")
        if self.definition.sudo:
            marks.append("[sudo]")
        if self.definition.destroys:
            marks.append("[destroy]")
        if not self.definition.compatible:
            marks += [f"[{name}]" for name in self.definition.os]
        if self.missing:
            marks.append("[missing]")
        return marks


class Variable(Record):
    """One variable of a command's run: its value, the source that won, and what that shadows.

    name      such as "DB_HOST"
    value     as the run has it; show it to nobody before `masked`
    source    a file with line or key, a plugin and its source, "system" for the caller's
              environment, "framework"
    rank      1 the caller's environment, 2 `envs`, 3 settings.conf, 4 `.env` files, plugins
              between 2 and 4; 0 for what describes the run itself, such as COMMAND_NAME
              (`self env --format json` has null for it)
    shadows   the weaker ones of the same name, strongest first
    """

    name: str
    value: str
    source: str
    rank: float
    shadows: tuple[Variable, ...] = ()


class Category(Record):
    """A category as listings show it; one that is `runnable` has an entrypoint of its own."""

    words: tuple[str, ...]
    name: str
    description: str
    runnable: bool = False


class Listing(Record):
    """What a renderer shows: the root (no words), a category, or all below (`deep`).

    program       the name that the program was called by
    words         of the category, () for the root
    name, description, version   what heads it; the version is the root's
    categories    directly below, or all below where it is `deep`; sorted by words
    commands      likewise
    deep          for `self list`, `self search` and `--format tree`
    everything    whether hidden commands and those for other systems are among them
    runnable      whether the category has an entrypoint of its own
    arguments     the `Argument`s that this takes
    options       the root's: each global option with what it does
    notes         the root's: lines that say where to read on
    """

    program: str
    words: tuple[str, ...]
    name: str
    description: str
    version: str = ""
    categories: tuple[Category, ...] = ()
    commands: tuple[Command, ...] = ()
    deep: bool = False
    everything: bool = False
    runnable: bool = False
    arguments: tuple[Any, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    def sections(self) -> list[tuple[str, list[Category | Command]]]:
        """Return the rows under their headings, in the order to show them.

        Subcategories, then commands without a group, then each group by name. Headings
        are "Categories", "Commands" and the groups' names. Made for one category: of a
        `deep` listing all rows are sorted together, and groups of the same name in several
        categories are one. There, ask for each category's own::

            inside = {}
            for command in listing.commands:
                inside.setdefault(command.words[:-1], []).append(command)
            for words, commands in sorted(inside.items()):
                own = listing.replaced(categories=(), commands=tuple(commands))
                for heading, rows in own.sections():
                    ...
        """
        groups: dict[str, list[Category | Command]] = {}
        for command in self.commands:
            groups.setdefault(command.definition.group, []).append(command)
        sections: list[tuple[str, list[Category | Command]]] = []
        if self.categories:
            sections.append(("Categories", list(self.categories)))
        if "" in groups:
            sections.append(("Commands", groups.pop("")))
        return [*sections, *sorted(groups.items())]


class Terminal(Record):
    """What stdout can show.

    width            columns
    colour           whether colours are wanted
    encoding         of the characters that it takes: `can_print`
    is_interactive   whether it is a terminal: long lines are cut and wrapped; otherwise a row
                     is one whole line of any length
    """

    width: int = 80
    colour: bool = False
    encoding: str = "utf-8"
    is_interactive: bool = False

    def can_print(self, text: str) -> bool:
        """Tell whether stdout takes these characters."""
        try:
            text.encode(self.encoding)
        except (UnicodeEncodeError, LookupError):
            return False
        return True

    def styled(self, text: str, style: str) -> str:
        """Return a printable text in the colour of what it is, or as it is where there is none.

        `style` is "heading", "name", "installed", "missing", or an indicator such as `[sudo]`.
        """
        return f"{_STYLES.get(style, _FAINT)}{text}{_RESET}" if self.colour and text else text

"""The records that renderers of listings get: commands, categories and the terminal."""

from __future__ import annotations

from host.files.paths import is_file, join, why_outside
from host.record_base import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

CHECK_MARK = "✓"

_RESET = "\033[0m"
_FAINT = "\033[2m"
_STYLES = {
    "heading": "\033[1m",
    "name": "\033[36m",
    "installed": "\033[32m",
    "hint": "\033[35m",
    CHECK_MARK: "\033[32m",
    "[installed]": "\033[32m",
    "[sudo]": "\033[33m",
    "[destroy]": "\033[31m",
    "[missing]": "\033[31m",
    "[deprecated]": "\033[33m",
}


class Command(Record):
    """A command as listings show it.

    words        such as ("cloud", "login")
    definition   the checked content of its command.json: a `Definition`
    origin       "commands", "plugin" (a directory or a `CommandTree`), "python" (declared in
                 Python) or "project"
    plugin       the plugin that provides it, or "" for the installation's own commands
    dev          whether that plugin is a linked directory
    installed    whether the program that it installs is installed; None outside `setup`
    shadows      the commands that it overrides, each as a folder, a script or `plugin NAME`
    project      the name of the project that provides it, or "" for none
    """

    words: tuple[str, ...]
    definition: Any
    origin: Literal["commands", "plugin", "python", "project"]
    plugin: str = ""
    dev: bool = False
    installed: bool | None = None
    shadows: tuple[str, ...] = ()
    project: str = ""

    # A listing makes thousands of commands; `Record.__init__` would take three times as long.
    def __init__(  # noqa: PLR0917 - a record takes all values by position or keyword
        self,
        words: tuple[str, ...],
        definition: Any,
        origin: Literal["commands", "plugin", "python", "project"],
        plugin: str = "",
        dev: bool = False,
        installed: bool | None = None,
        shadows: tuple[str, ...] = (),
        project: str = "",
    ) -> None:
        self.words = words
        self.definition = definition
        self.origin = origin
        self.plugin = plugin
        self.dev = dev
        self.installed = installed
        self.shadows = shadows
        self.project = project

    @property
    def directory(self) -> str:
        """The folder of the command's definition, or "" if the command is declared in Python."""
        directory: str = self.definition.directory
        return directory

    @property
    def missing(self) -> bool:
        """Whether the command's folder lacks the entrypoint's file; each access checks the disk."""
        definition = self.definition
        directory = self.directory
        if not directory or definition.moved_to:
            return False
        if definition.in_python or definition.is_script:
            return False

        # The same rules as of a run: see `entrypoint_path`.
        file = definition.entrypoint
        if not is_file(join(directory, file)):
            return True
        return why_outside(directory, file) != ""

    def indicators(self, terminal: Terminal) -> list[str]:
        """Return the indicators in the command's row.

        The order is `✓` (`[installed]` if stdout cannot print it), `[plugin]`, `[project]`,
        `[sudo]`, `[destroy]`, the systems of a command for other systems, `[missing]` and
        `[deprecated]`. `[missing]` means that the entrypoint is not a file in the command's folder.
        A command that has moved is deprecated, too.
        """
        definition = self.definition
        marks = []
        if self.installed:
            can_print = terminal.can_print(CHECK_MARK)
            marks.append(CHECK_MARK if can_print else "[installed]")
        if self.plugin:
            marks.append("[plugin]")
        if self.project:
            marks.append("[project]")
        if definition.sudo:
            marks.append("[sudo]")
        if definition.own_effects == "destroy":
            marks.append("[destroy]")
        if not definition.compatible:
            marks += [f"[{name}]" for name in definition.os]
        if self.missing:
            marks.append("[missing]")
        if definition.deprecated or definition.moved_to:
            marks.append("[deprecated]")
        return marks


class Category(Record):
    """A category as listings show it; `runnable` is true if it has its own entrypoint.

    `project` is the name of the project that defines the whole category, or "" for none.
    `shadows` lists the commands that the category overrides, each as a folder, a script or
    `plugin NAME`.
    """

    words: tuple[str, ...]
    name: str
    description: str
    runnable: bool = False
    project: str = ""
    shadows: tuple[str, ...] = ()


class Listing(Record):
    """The contents of the root or of a category; with `deep`, also those of its subcategories.

    program       the program's name as the user typed it
    words         the words of the category, or () for the root
    name, description, version   the heading; only the root has a version
    categories    the subcategories, sorted by words; with `deep`, on all levels
    commands      the commands, sorted by words; with `deep`, on all levels
    deep          true for `self list`, `self search` and `--format tree`
    runnable      whether the category has its own entrypoint
    arguments     the `Argument`s of a runnable category
    options       for the root: each global option and its description
    notes         for the root: lines that refer to more documentation
    """

    program: str
    words: tuple[str, ...]
    name: str
    description: str
    version: str = ""
    categories: tuple[Category, ...] = ()
    commands: tuple[Command, ...] = ()
    deep: bool = False
    runnable: bool = False
    arguments: tuple[Any, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    def rows(self) -> list[Category | Command]:
        """Return the commands and the categories, without those that are commands, too."""
        rows: list[Category | Command] = [*self.commands]
        words_of_commands = {command.words for command in self.commands}
        for category in self.categories:
            if category.words not in words_of_commands:
                rows.append(category)
        return rows

    def sections(self) -> list[tuple[str, list[Category | Command]]]:
        """Return the rows under their headings, in display order.

        Subcategories come first, then commands without a group, then the groups, sorted by name.
        Headings are "Categories", "Commands" and the groups' names. Rows of projects come last,
        under the project's name, or `NAME: GROUP`. A command with commands below it is one row.
        In a `deep` listing, groups of the same name in several categories are merged. To avoid
        that, call this method for each category::

            inside = {}
            for command in listing.commands:
                inside.setdefault(command.words[:-1], []).append(command)
            for words, commands in sorted(inside.items()):
                own = listing.replaced(categories=(), commands=tuple(commands))
                for heading, rows in own.sections():
                    ...
        """
        sections: dict[tuple[int, str], list[Category | Command]] = {}
        for row in self.rows():
            section = _section_of(row)
            sections.setdefault(section, []).append(row)

        ordered = []
        for section in sorted(sections):
            _, heading = section
            ordered.append((heading, sections[section]))
        return ordered


def _section_of(row: Category | Command) -> tuple[int, str]:
    """Return the position and the heading of a row's section in `Listing.sections`."""
    group = ""
    if isinstance(row, Command):
        group = row.definition.group
    if row.project:
        heading = row.project
        if group:
            heading = f"{heading}: {group}"
        return 3, heading
    if isinstance(row, Category):
        return 0, "Categories"
    if group:
        return 2, group
    return 1, "Commands"


class Terminal(Record):
    """The properties of stdout.

    width            the number of columns
    colour           whether to write colours
    encoding         its character encoding; see `can_print`
    is_interactive   whether it is a terminal; only then are long lines wrapped or cut
    """

    width: int = 80
    colour: bool = False
    encoding: str = "utf-8"
    is_interactive: bool = False

    def can_print(self, text: str) -> bool:
        """Return whether stdout's encoding has all characters of `text`."""
        printable = text.encode(self.encoding, "ignore")
        return printable.decode(self.encoding) == text

    def styled(self, text: str, style: str) -> str:
        """Return the printable `text` in the colour of `style`, or unchanged without colours.

        `style` is "heading", "name", "installed", "hint", or an indicator such as `[sudo]`.
        """
        if not self.colour or not text:
            return text
        colour = _STYLES.get(style, _FAINT)
        return f"{colour}{text}{_RESET}"

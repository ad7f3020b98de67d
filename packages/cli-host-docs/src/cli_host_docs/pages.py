"""The content of pages, in blocks that every format can render."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from cli_host_docs import facts
from host import Command, HostError, Program

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading below the title of the page; level 2 or 3."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph of text."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """A command line."""

    line: str


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms or command lines, each with an explanation, which may be ""."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Links:
    """A list of links; a row has the words and description of the category that a link leads to."""

    rows: tuple[tuple[Words, str], ...]


Block = Heading | Paragraph | Code | Terms | Links


@dataclass(frozen=True, slots=True)
class Page:
    """The page of the commands directly below the category `words`; () means the first page.

    In man pages, each command has a page of its own, too. `usage`, `version` (of the installation)
    and `date` are for man pages only.
    """

    program: str
    words: Words
    description: str
    blocks: list[Block] = field(default_factory=list)
    usage: str = ""
    version: str = ""
    date: str = ""

    @property
    def title(self) -> str:
        return " ".join([self.program, *self.words])


def make_pages(program: Program, commands: Iterable[Command]) -> list[Page]:
    """Return the first page, then one for each category or command that has commands below it."""
    by_parent = _by_parent(commands)
    descriptions = _descriptions(program, by_parent)
    first = Page(program.name, (), f"Commands of {program.name}")
    parents = sorted(words for words in by_parent if words)
    pages = [
        first,
        *(Page(program.name, words, descriptions.get(words, "")) for words in parents),
    ]

    runs_alone = _commands_of_categories(program)
    for page in pages:
        alone = runs_alone.get(page.words)
        if alone is not None:
            page.blocks.append(_runs_alone(page, alone))
        for command in by_parent.get(page.words, ()):
            page.blocks.extend(_command(program.name, command))

    links = tuple((page.words, page.description) for page in pages[1:])
    if links:
        first.blocks.insert(0, Links(links))
    return pages


def make_man_pages(
    program: Program, commands: Iterable[Command], date: str
) -> list[Page]:
    """Return a page for the program, each category and each command; `date` is the version's."""
    by_parent = _by_parent(commands)
    descriptions = _descriptions(program, by_parent)
    by_words = {
        command.words: command for below in by_parent.values() for command in below
    }
    categories = {words[:end] for words in by_words for end in range(len(words))}
    all_words = sorted(categories | by_words.keys())

    runs_alone = _commands_of_categories(program)
    pages = []
    for words in all_words:
        command = by_words.get(words)
        line = " ".join([program.name, *words])
        description = (
            descriptions.get(words, "") if words else f"Commands of {program.name}"
        )
        usage = (
            facts.usage(program.name, command) if command else f"{line} COMMAND [args…]"
        )
        page = Page(program.name, words, description, [], usage, program.version, date)
        alone = runs_alone.get(words)
        if command is not None:
            page.blocks.extend(_sections(program.name, command))
        elif alone is not None:
            page.blocks.extend([Heading(2, "Description"), _runs_alone(page, alone)])
        below = [other for other in all_words if other and other[:-1] == words]
        if below:
            rows = tuple((other, descriptions.get(other, "")) for other in below)
            page.blocks.extend([Heading(2, "Commands"), Links(rows)])
        pages.append(page)
    return pages


def overview(program: Program, commands: Iterable[Command]) -> list[Block]:
    """Return one block that lists all commands, each with its usage and description."""
    rows = [
        (facts.usage(program.name, command), command.definition.description)
        for command in commands
    ]
    return [Terms(tuple(rows))]


def _by_parent(commands: Iterable[Command]) -> dict[Words, list[Command]]:
    by_parent: dict[Words, list[Command]] = {}
    for command in commands:
        by_parent.setdefault(command.words[:-1], []).append(command)
    return by_parent


def _descriptions(
    program: Program, by_parent: dict[Words, list[Command]]
) -> dict[Words, str]:
    """Return the descriptions of all categories and commands by their words."""
    descriptions = {
        category.words: category.description for category in program.categories()
    }
    for commands in by_parent.values():
        for command in commands:
            descriptions[command.words] = command.definition.description
    return descriptions


def _commands_of_categories(program: Program) -> dict[Words, Command]:
    """Return what runs if a category is called without further words.

    This is the category's `default`, or the category itself if it has an entrypoint.
    """
    commands = {}
    for category in program.categories():
        try:
            commands[category.words] = program.choose(category.words)[0]
        except HostError:
            continue  # most categories only show their listing
    return commands


def _runs_alone(page: Page, command: Command) -> Paragraph:
    """Return a sentence about `command`, which runs if the page's category is called alone."""
    if command.words == page.words:
        usage = facts.usage(page.program, command)
        return Paragraph(f"It runs without a further word, too: {usage}")
    return Paragraph(f"The default command is {command.words[-1]}.")


def _command(program: str, command: Command) -> list[Block]:
    definition = command.definition
    blocks: list[Block] = [
        Heading(2, " ".join([program, *command.words])),
        Paragraph(definition.description),
        Code(facts.usage(program, command)),
        *map(Paragraph, facts.notes(definition)),
    ]
    for heading, rows in _tables(program, command):
        blocks += [Heading(3, heading), Terms(rows)]
    return blocks


def _sections(program: str, command: Command) -> list[Block]:
    """Return the sections of a command's man page below its synopsis."""
    definition = command.definition
    texts = [definition.description, *facts.notes(definition)]
    blocks: list[Block] = [
        Heading(2, "Description"),
        *map(Paragraph, filter(None, texts)),
    ]
    for heading, rows in _tables(program, command):
        name = "Environment" if heading == "Variables" else heading
        blocks += [Heading(2, name), Terms(rows)]
    return blocks


def _tables(
    program: str, command: Command
) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """Yield the headings and rows of the tables about a command that have a row."""
    definition = command.definition
    arguments = [
        (facts.label(argument), facts.explanation(argument))
        for argument in definition.shown_args
    ]
    tables: dict[str, Iterable[tuple[str, str]]] = {
        "Arguments": arguments,
        "Variables": facts.variables(definition).items(),
        "Requirements": [(program, "") for program in facts.requirements(definition)],
        "Examples": facts.examples(program, command),
    }
    for heading, rows in tables.items():
        table = tuple(rows)
        if table:
            yield heading, table

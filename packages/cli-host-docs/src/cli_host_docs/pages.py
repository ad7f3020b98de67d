"""The content of pages, in blocks that every format can render."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from cli_host_docs import facts
from host import Command, Program

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

    In man pages, each command has a page of its own, too.
    """

    program: str
    words: Words
    description: str
    blocks: list[Block] = field(default_factory=list)
    usage: str = ""
    version: str = ""  # of the installation, for man pages
    date: str = ""

    @property
    def title(self) -> str:
        return " ".join([self.program, *self.words])


def make_pages(program: Program, commands: Iterable[Command]) -> list[Page]:
    """Return the first page, then one for each category or command that has commands below it."""
    by_parent = _by_parent(commands)
    described = _descriptions(program, by_parent)
    defaults = {one.words: facts.value_of(one, "default", "") for one in program.categories()}
    first = Page(program.name, (), f"Commands of {program.name}")
    others = [Page(program.name, words, described.get(words, "")) for words in sorted(by_parent)]
    pages = [first, *(one for one in others if one.words)]
    for page in pages:
        if default := defaults.get(page.words):
            page.blocks.append(Paragraph(f"The default command is {default}."))
        for command in by_parent.get(page.words, ()):
            page.blocks.extend(_command(program.name, command))
    links = tuple((page.words, page.description) for page in pages[1:])
    first.blocks[:0] = [Links(links)] if links else []
    return pages


def make_man_pages(program: Program, commands: Iterable[Command], date: str) -> list[Page]:
    """Return a page for the program, each category and each command; `date` is the version's."""
    by_parent = _by_parent(commands)
    described = _descriptions(program, by_parent)
    single = {one.words: one for found in by_parent.values() for one in found}
    parents = {words[:end] for words in single for end in range(len(words))}
    pages = []
    for words in sorted(parents | single.keys()):
        line = " ".join([program.name, *words])
        command = single.get(words)
        description = described.get(words, "") if words else f"Commands of {program.name}"
        usage = facts.usage(program.name, command) if command else f"{line} COMMAND [args…]"
        page = Page(program.name, words, description, [], usage, program.version, date)
        if command is not None:
            page.blocks.extend(_sections(program.name, command))
        below = sorted(other for other in parents | single.keys() if other and other[:-1] == words)
        if below:
            page.blocks.append(Heading(2, "Commands"))
            page.blocks.append(Links(tuple((other, described.get(other, "")) for other in below)))
        pages.append(page)
    return pages


def _by_parent(commands: Iterable[Command]) -> dict[Words, list[Command]]:
    by_parent: dict[Words, list[Command]] = {}
    for command in commands:
        by_parent.setdefault(command.words[:-1], []).append(command)
    return by_parent


def _descriptions(program: Program, by_parent: dict[Words, list[Command]]) -> dict[Words, str]:
    """Return the descriptions of all categories and commands by their words."""
    described = {one.words: one.description for one in program.categories()}
    for commands in by_parent.values():
        described |= {one.words: one.definition.description for one in commands}
    return described


def overview(program: Program, commands: Iterable[Command]) -> list[Block]:
    """Return one block that lists all commands, each with its usage and description."""
    name = program.name
    rows = tuple((facts.usage(name, one), one.definition.description) for one in commands)
    return [Terms(rows)]


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
    blocks: list[Block] = [Heading(2, "Description"), *map(Paragraph, filter(None, texts))]
    for heading, rows in _tables(program, command):
        name = "Environment" if heading == "Variables" else heading
        blocks += [Heading(2, name), Terms(rows)]
    return blocks


def _tables(program: str, command: Command) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """Yield the headings and rows of the tables about a command that have a row."""
    definition = command.definition
    tables: dict[str, Iterable[tuple[str, str]]] = {
        "Arguments": [(facts.label(one), facts.explanation(one)) for one in definition.shown_args],
        "Variables": facts.variables(definition).items(),
        "Requirements": [(one, "") for one in facts.requirements(definition)],
        "Examples": facts.examples(program, command),
    }
    for heading, rows in tables.items():
        if shown := tuple(rows):
            yield heading, shown

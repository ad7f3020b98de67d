"""The content of pages, in blocks that every format can render."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from cli_host_docs import facts
from host import ClickCommand, Command, HostError, Program

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
    pages = [first]
    for words in sorted(by_parent):
        if words:
            description = descriptions.get(words, "")
            pages.append(Page(program.name, words, description))

    runs_alone = _commands_of_categories(program)
    # A category may itself be called, before any of its commands.
    for page in pages:
        command_alone = runs_alone.get(page.words)
        if command_alone is not None:
            page.blocks.append(_runs_alone(page, command_alone))
        for command in by_parent.get(page.words, ()):
            page.blocks.extend(_command(program, command))

    links = [(page.words, page.description) for page in pages[1:]]
    if links:
        first.blocks.insert(0, Links(tuple(links)))
    return pages


def make_man_pages(
    program: Program, commands: Sequence[Command], date: str
) -> list[Page]:
    """Return a page for the program, each category and each command; `date` is the version's."""
    by_parent = _by_parent(commands)
    descriptions = _descriptions(program, by_parent)
    descriptions[()] = f"Commands of {program.name}"

    by_words = _by_words(commands)
    below: dict[Words, list[Words]] = {}
    for words in sorted(by_words):
        if words:
            below.setdefault(words[:-1], []).append(words)

    runs_alone = _commands_of_categories(program)
    pages = []
    for words in sorted(by_words):
        command_here = by_words[words]
        usage = " ".join([program.name, *words, "COMMAND [args…]"])
        if command_here is not None:
            usage = facts.usage(program.name, command_here)
        page = Page(
            program.name,
            words,
            descriptions.get(words, ""),
            usage=usage,
            version=program.version,
            date=date,
        )

        command_alone = runs_alone.get(words)
        if command_here is not None:
            page.blocks.extend(_sections(program, command_here))
        elif command_alone is not None:
            page.blocks.append(Heading(2, "Description"))
            page.blocks.append(_runs_alone(page, command_alone))

        if words in below:
            rows = [(child, descriptions.get(child, "")) for child in below[words]]
            page.blocks.append(Heading(2, "Commands"))
            page.blocks.append(Links(tuple(rows)))
        pages.append(page)
    return pages


def _by_words(commands: Iterable[Command]) -> dict[Words, Command | None]:
    """Map the words of each command to it, and those of each category without one to None."""
    by_words: dict[Words, Command | None] = {}
    for command in commands:
        by_words[command.words] = command
        for end in range(len(command.words)):
            by_words.setdefault(command.words[:end], None)
    return by_words


def overview(program: Program, commands: Iterable[Command]) -> list[Block]:
    """Return one block that lists all commands, each with its usage and description."""
    rows = []
    for command in commands:
        usage = facts.usage(program.name, command)
        rows.append((usage, command.definition.description))
        rows += facts.subcommands(program.name, command)
    return [Terms(tuple(rows))]


def _by_parent(commands: Iterable[Command]) -> dict[Words, list[Command]]:
    by_parent: dict[Words, list[Command]] = {}
    for command in commands:
        parent = command.words[:-1]
        by_parent.setdefault(parent, []).append(command)
    return by_parent


def _descriptions(
    program: Program, by_parent: dict[Words, list[Command]]
) -> dict[Words, str]:
    """Return the descriptions of all categories and commands by their words."""
    descriptions = {}
    for category in program.categories():
        descriptions[category.words] = category.description
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
            command, _ = program.choose(category.words)
        except HostError:
            continue  # most categories only show their listing
        commands[category.words] = command
    return commands


def _runs_alone(page: Page, command: Command) -> Paragraph:
    """Return a sentence about `command`, which runs if the page's category is called alone."""
    if command.words == page.words:
        usage = facts.usage(page.program, command)
        return Paragraph(f"It runs without a further word, too: {usage}")
    return Paragraph(f"The default command is {command.words[-1]}.")


def _command(program: Program, command: Command) -> list[Block]:
    definition = command.definition
    called = " ".join([program.name, *command.words])
    blocks: list[Block] = [Heading(2, called), Paragraph(definition.description)]
    if definition.click is None:
        blocks.append(Code(facts.usage(program.name, command)))
    for note in facts.notes(definition):
        blocks.append(Paragraph(note))

    for part in facts.parts(program, command):
        blocks += _part(called, part)
    for heading, rows in _tables(program.name, command):
        blocks += [Heading(3, heading), Terms(rows)]
    return blocks


def _part(called: str, part: ClickCommand) -> Iterator[Block]:
    """Yield the blocks of a command in click, or of one of its subcommands."""
    if part.words:
        yield Heading(3, " ".join([called, *part.words]))
    for paragraph in part.text.split("\n\n"):
        if paragraph:
            yield Paragraph(" ".join(paragraph.split()))
    yield Code(part.usage)
    rows = facts.rows(part)
    if rows:
        yield Terms(tuple(rows))


def _sections(program: Program, command: Command) -> list[Block]:
    """Return the sections of a command's man page below its synopsis."""
    definition = command.definition
    blocks: list[Block] = [Heading(2, "Description")]
    if definition.description:
        blocks.append(Paragraph(definition.description))
    for note in facts.notes(definition):
        blocks.append(Paragraph(note))

    parts = facts.parts(program, command)
    if parts:
        blocks.append(Heading(2, "Usage"))
    for part in parts:
        blocks += _part(" ".join([program.name, *command.words]), part)

    for heading, rows in _tables(program.name, command):
        name = heading
        if heading == "Variables":
            name = "Environment"  # the usual name of this section in man pages
        blocks += [Heading(2, name), Terms(rows)]
    return blocks


def _tables(
    program: str, command: Command
) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """Yield the headings and rows of the tables about a command that have a row."""
    definition = command.definition
    arguments = []
    for argument in definition.shown_args:
        label = facts.label(argument)
        arguments.append((label, facts.explanation(argument)))
    requirements = [(program, "") for program in facts.requirements(definition)]

    tables: dict[str, Iterable[tuple[str, str]]] = {
        "Arguments": arguments,
        "Variables": facts.variables(definition).items(),
        "Requirements": requirements,
        "Examples": facts.examples(program, command),
    }
    for heading, rows in tables.items():
        table = tuple(rows)
        if table:
            yield heading, table

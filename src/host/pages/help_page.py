"""Make the help page of a command from its definition."""

import re
from collections.abc import Callable, Iterator, Sequence

from host.arguments.spec import usage_of
from host.catalog.catalog import Catalog, Match
from host.catalog.definition import Definition
from host.errors import HostError, UsageError
from host.files.paths import basename
from host.headers.script_comments import ScriptComments
from host.launch.script_help import script_gets_help
from host.pages.page_layout import Page
from host.pages.variable_table import page_variables
from host.projects.trust import is_trusted
from host.session.session import Session
from host.suggestions import closest
from host.text import printable
from host.text_width import width_of
from host.words import SELF


def help_page(
    session: Session, catalog: Catalog, command: Match, definition: Definition
) -> str:
    """Return the page as printable text that ends with a newline.

    `catalog` has the command and the commands below it. Of a click command, it is what follows
    click's own page: see `show_page`.
    """
    page = Page(session.terminal)
    line = " ".join([session.program, *command.words])
    is_own = command.words[0] == SELF
    is_click = definition.click is not None
    notes = list(_notes(definition))
    variables: list[tuple[str, str]] = []
    if is_own:
        page.title(line)
        page.prose(definition.text)
        usage = usage_of(definition.shown_args)
        page.usage(f"{line} {usage}".rstrip())
    else:
        notes += _limits(session, definition)
        variables, reasons = _variables(session, command, definition)
        notes += reasons
        if not is_click:
            _add_description(page, line, definition)
    page.arguments(definition.shown_args)
    page.table("Subcommands", _subcommands(catalog, command))

    _add_variables(page, variables)
    _add_surroundings(page, definition)

    word = command.words[-1]
    aliases = [alias for alias in definition.aliases if alias != word]
    page.section("Aliases", aliases)
    _add_examples(page, session.program, command.words, definition)

    if variables:
        words = " ".join(command.words)
        notes.append(f"To see the values of a run: {session.program} self env {words}")
    page.section("Notes", notes)
    _add_end(page, line, command, definition)
    return page.text()


def show_page(
    session: Session, command: Match, definition: Definition, words: Sequence[str]
) -> None:
    """Show the page of a command, or of the subcommand `words` of a click command.

    Raises UsageError if there is no such subcommand, and PluginError if click does not answer.
    """
    if definition.click is not None:
        _show_click_page(session, command, definition, words)
        if words:
            return
    session.show(help_page(session, session.catalog, command, definition))


def _show_click_page(
    session: Session, command: Match, definition: Definition, path: Sequence[str]
) -> None:
    """Show click's help page of the subcommand `path`, which is () for the command itself."""
    environ = {"COLUMNS": str(session.terminal.width)}
    if not session.terminal.colour:
        environ["NO_COLOR"] = "1"
    elif not session.terminal.is_interactive:
        environ["FORCE_COLOR"] = "1"
    from host.click.click_child import child_of  # imported here: it takes 5 ms

    child = child_of(session.catalog, command, session.installation)
    if child.prints_page(path, environ):
        return

    *above, word = path
    names: list[str] = []
    if definition.click is not None:
        names = [name for name, _ in definition.click.below(above)]
    beginning = " ".join([session.program, "help", *command.words, *above])
    suggestions = [f"{beginning} {name}" for name in closest(word, names)]
    called = " ".join([*command.words, *above])
    raise UsageError(f"{called} has no subcommand {word}", suggestions=suggestions)


def _variables(
    session: Session, command: Match, definition: Definition
) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the rows of a command's variables, or none and notes with the reason."""
    if definition.moved_to:
        return [], []  # the variables of the other command count
    try:
        return page_variables(session, command, definition), []
    except HostError as error:  # the command's project is not trusted
        reasons = [error.what]
        if error.remedy:
            reasons.append(error.remedy)
        return [], reasons


def _add_description(page: Page, line: str, definition: Definition) -> None:
    """Add the name of a command, what it does, and how it is called."""
    page.title(definition.name)
    page.paragraph(definition.description)

    arguments = usage_of(definition.shown_args)
    if not arguments:
        arguments = definition.words or "[args…]"
    page.usage(f"{line} {arguments}")
    page.section("Usage of the script", definition.usage.splitlines())

    if definition.is_script:
        own = _own_words(line, definition.file)
        header = _header(definition.file)
        page.paragraphs([list(map(own, lines)) for lines in header])
    if definition.text:
        paragraphs = map(str.splitlines, definition.text.split("\n\n"))
        page.paragraphs(list(paragraphs))


def _add_variables(page: Page, variables: Sequence[tuple[str, str]]) -> None:
    """Add the variables; a value stays on one line, because somebody may copy it."""
    widest = 0
    for name, _ in variables:
        widest = max(widest, width_of(name))

    lines = []
    for name, text in variables:
        lines += page.row(name, [printable(text)], widest + 2)
    page.lines("Variables", lines)


def _add_surroundings(page: Page, definition: Definition) -> None:
    """Add the files, programs and secrets that a run uses."""
    env_files: list[str] = []
    for level in definition.chain:
        env_files += level.env_files
    page.section("Environment files", env_files)

    programs = []
    for requirement in definition.requires:
        programs.append((str(requirement), requirement.hint))
    page.table("Requires", programs)

    page.table("Secrets", list(definition.secrets.items()))


def _subcommands(catalog: Catalog, command: Match) -> list[tuple[str, str]]:
    """Return the rows of the categories and listed commands below a command."""
    rows = []
    children, _ = catalog.children(command)
    for child in children:
        definition = child.definition
        is_listed = definition is not None and definition.is_listed
        if is_listed or child.kind == "category":
            rows.append((child.words[-1], child.description))
    return sorted(rows)


def _header(file: str) -> list[list[str]]:
    """Return the paragraphs of a script's header, without its description."""
    try:
        return ScriptComments(file).paragraphs
    except FileNotFoundError:
        return []


def _add_end(page: Page, line: str, command: Match, definition: Definition) -> None:
    """Add the last line: where the command comes from, and how the script gets `--help`."""
    parts = []
    if definition.file:
        parts.append(f"Defined in {definition.file}")
    elif command.plugin:
        parts.append(f"Declared by the plugin {command.plugin}")
    project = definition.project
    if project:
        parts[-1] += f" (project {project.name})"
    elif definition.file and command.plugin:
        parts[-1] += f" (plugin {command.plugin})"

    way = _way_to_help(line, definition)
    if way:
        parts.append(way)
    if parts:
        page.add("", printable("; ".join(parts)))


def _way_to_help(words: str, definition: Definition) -> str:
    """Return how to pass `--help` to the script (SPEC 2.8), or "" if nobody can."""
    if not definition.is_script or definition.moved_to:
        return ""
    if definition.project and not is_trusted(definition):
        return ""

    if script_gets_help(definition, definition.file):
        return f"the script's own help: {words} --help"
    if script_gets_help(definition, definition.file, "-h"):
        return f"the script's own help: {words} -h"
    if definition.args:
        return 'to let the script answer --help, set "help": "script"'
    # Beside another argument, --help always goes to the script.
    return f"to pass --help to the script: {words} --help --help"


def _add_examples(
    page: Page, program: str, words: Sequence[str], definition: Definition
) -> None:
    rows = []
    for example in definition.examples:
        command = _example(program, words, definition, example["command"])
        rows.append((command, example["description"]))
    page.table("Examples", rows)


def _example(
    program: str, words: Sequence[str], definition: Definition, command: str
) -> str:
    """Return the command line of an example, which begins with the words that work here.

    The definition's author may have written the last of `words`, the name of the script's file, or
    the words with another program's name.
    """
    called = " ".join([program, *words])
    first, _, rest = command.partition(" ")
    if first == words[-1]:
        return f"{called} {rest}".rstrip()
    if definition.is_script and basename(first) == basename(definition.file):
        return f"{called} {rest}".rstrip()
    inner = " ".join(words)
    if rest == inner or rest.startswith(f"{inner} "):
        return f"{program} {rest}"
    return command


def _own_words(called: str, file: str) -> Callable[[str], str]:
    """Return a function that replaces a script's own name at the start of a line that calls it.

    Such a line is indented, begins with a prompt such as `$ `, or with a path to the file.
    """
    name = re.escape(basename(file))
    pattern = re.compile(
        rf"(?P<before>\s+[$%>] |\s*[$%>] |\s+)(?:\S*/)?{name}(?=\s|$)|(?:\S*/){name}(?=\s|$)"
    )

    def replaced(line: str) -> str:
        found = pattern.match(line)
        if found is None:
            return line
        return f"{found['before'] or ''}{called}{line[found.end() :]}"

    return replaced


def _notes(definition: Definition) -> Iterator[str]:
    if definition.unchecked_args:
        yield "The arguments are not checked before the script runs."
    yield from _replacement(definition)
    if definition.os:
        systems = " and ".join(definition.os)
        yield f"Runs on {systems}."
    if definition.effects == "read":
        yield "Changes nothing."
    if definition.own_effects == "destroy":
        yield "Destroys something that cannot be restored."
    if definition.confirm:
        yield f"Asks for confirmation: {definition.confirm}"
    if definition.shell:
        yield "Changes the calling shell, for example its current directory."
    if definition.sudo:
        yield "Needs administrator rights (sudo)."


def _replacement(definition: Definition) -> Iterator[str]:
    """Yield what to use instead of a command."""
    if definition.moved_to:
        yield f"Has moved. This command runs in its place: {definition.moved_to}"
    if definition.deprecated:
        yield f"Deprecated: {definition.deprecated}"


def _limits(session: Session, definition: Definition) -> Iterator[str]:
    """Yield how the nearest files record and limit the runs of a command."""
    from host.catalog.run_keys import WAIT

    supervision = session.installation.config.supervision_of(definition)
    if supervision.record:
        yield "Each run is recorded."

    if supervision.seconds:
        yield f"Each run is ended after {supervision.timeout}."

    if supervision.exclusive is True:
        yield "Only one run at a time; others fail."
    elif supervision.exclusive == WAIT:
        yield "Only one run at a time; others wait."
    elif supervision.exclusive:
        yield f"Only one run at a time of all commands with the lock {supervision.exclusive}."

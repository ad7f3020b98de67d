"""Make the help page of a command from its definition."""

from __future__ import annotations

import os

from host.cli.page_layout import Page
from host.cli.variables import UNKNOWN, page_variables, shown_value
from host.errors import HostError
from host.run.argument_spec import usage_of
from host.run.command import Definition
from host.run.required_variables import RequiredVariable, where_to_set
from host.run.text import printable
from host.text_width import width_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from host.cli.session import Session
    from host.records import Variable
    from host.run.catalog import Match

_EFFECTS = {
    "read": "Changes nothing.",
    "destroy": "Destroys something that does not come back by itself.",
}


def help_page(session: Session, found: Match, definition: Definition) -> str:
    """Return the page as printable text that ends with a newline."""
    page = Page(session.terminal)
    words = " ".join(found.words)
    page.title(definition.name)
    page.paragraph(definition.description)
    page.usage(f"{session.program} {words} {usage_of(definition.args) or '[args…]'}")
    page.section("Usage of the script", [definition.usage] if definition.usage else [])
    page.arguments(definition.args)
    below = [
        (one.words[-1], one.description)
        for one in session.catalog.children(found)[0]
        if one.kind == "category" or (one.definition and one.definition.is_listed)
    ]
    page.table("Commands below", sorted(below))
    distrust = _distrust(session, found, definition)
    variables = [] if distrust else page_variables(session, found, definition)
    page.lines("Variables", _variable_lines(page, variables, definition.required_envs))
    files = [file for one in (*definition.above, definition) for file in one.env_files]
    page.section("Environment files", [] if distrust else files)
    page.table("Requires", [(str(one), one.hint) for one in definition.requires])
    page.table("Secrets", list(definition.secrets.items()))
    page.section("Aliases", definition.aliases)
    examples = [_example(session.program, found.words, one) for one in definition.examples]
    page.table("Examples", examples)
    notes = [*_notes(definition, found.plugin), *_remarks(session, words, definition, variables)]
    page.notes(
        "Notes", notes + distrust, [f"Defined in {definition.file}."] if definition.file else []
    )
    return page.text()


def _variable_lines(
    page: Page, variables: Sequence[Variable], required: Sequence[RequiredVariable]
) -> list[str]:
    """Return one line per variable: name, value and source."""
    terminal = page.terminal
    column = max((width_of(printable(one.name)) for one in variables), default=0) + 2
    types = {str(one): one.type for one in required}
    lines = []
    for one in variables:
        behind = f"  ← {printable(one.source)}" if one.source else ""
        if one.name in types:
            required_as = f"required ({types[one.name]})" if types[one.name] else "required"
            behind += f"{', ' if behind else '  '}{required_as}"
        if not one.value and one.name in types:
            text = f"{terminal.styled('missing', 'missing')}{behind}"
        else:
            value = "…" if one.value == UNKNOWN else one.value
            text = shown_value(value, behind, column + 2, terminal)
        lines += page.row(printable(one.name), [text], column)
    return lines


def _example(program: str, words: Sequence[str], example: dict[str, str]) -> tuple[str, str]:
    """Return an example's command line and description; add program and category if missing."""
    command = example["command"]
    if command.split(" ", maxsplit=1)[0] == words[-1]:
        command = " ".join([program, *words[:-1], command])
    return command, example["description"]


def _notes(definition: Definition, plugin: str) -> Iterator[str]:
    if definition.os:
        yield f"Runs on {' and '.join(definition.os)}."
    if definition.destroys or definition.effects == "read":
        yield _EFFECTS[definition.effects]
    if definition.confirm:
        yield f"Asks before it runs: {definition.confirm}"
    if definition.sudo:
        yield "Needs administrator rights (sudo)."
    if plugin:
        yield f"Comes from the plugin {plugin}."
    if definition.project:
        yield f"Comes from the project {definition.project.name} in {definition.project.root}."


def _distrust(session: Session, found: Match, definition: Definition) -> list[str]:
    """Return how to trust the command's project, [] if it is trusted or there is none."""
    if definition.project is None:
        return []
    from host.run.trust import check_trust

    try:
        check_trust(definition, session.program, found.words)
    except HostError as error:
        return [error.what, *filter(None, [error.remedy])]
    return []


def _remarks(
    session: Session, words: str, definition: Definition, variables: Sequence[Variable]
) -> Iterator[str]:
    """Yield notes about variables that are missing or can be overridden."""
    unset = {one.name for one in variables if not one.value} - definition.secrets.keys()
    missing = [name for name in definition.required_envs if name in unset]
    if missing:
        yield f"Without {', '.join(missing)} it does not run: {where_to_set(missing)}."
    is_open = missing or any(one.value == UNKNOWN for one in variables)
    if is_open and os.path.isfile(session.layout.settings_file):
        yield "config/settings.conf is not run for a help page."
        yield f"What it sets shows: {session.program} self env {words}"
    elif variables and not missing:
        yield f"Export a variable to override it; see: {session.program} help precedence"

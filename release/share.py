"""What packagers install below `share`: the man page, and completion for bash, zsh and fish.

`release/share.py` writes `release/share` anew, from what the program itself says of its words.
"""

from __future__ import annotations

import datetime as dt
import inspect
import re
import textwrap
import tomllib
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

from builtin_plugins.self_commands.templates import fill_template
from host import CommandDeclaration
from host.arguments.spec import explanation, term, usage_of
from host.catalog.declared_commands import parse_declared
from host.global_options import OPTIONS
from host.pages.listings import root_notes
from host.pages.topics import DOCS, topic
from host.processes.importing import load_reference
from host.words import TOPICS

_PROJECT = Path(__file__).parents[1]
SHARE = _PROJECT / "release" / "share"
PAGE = "man/man1/cli.1"
_NAME = "cli"
_OWN_NAME = re.compile(rf"(?<![\w./-]){_NAME}(?![\w./-])")
_DATE = re.compile(r'(?<=^\.TH CLI 1 ")[\d-]+', re.MULTILINE)
_ROW = re.compile(r"^\| (.+?) \| (.+) \|$", re.MULTILINE)
_SYNOPSES = (
    "<category> <command> [args…]",
    "help <words…>",
    "self <word> [args…]",
    "--version",
)


def files(date: str) -> dict[str, str]:
    """Return each file's text by its path below `share`; `date` is the man page's."""
    stubs = fill_template("completion", NAME=_NAME)
    return {
        PAGE: "".join(f"{line}\n" for line in man_page(date)),
        f"bash-completion/completions/{_NAME}": stubs["bash"],
        f"zsh/site-functions/_{_NAME}": stubs["zsh"],
        f"fish/vendor_completions.d/{_NAME}.fish": stubs["fish"],
    }


def man_page(date: str) -> Iterator[str]:
    """Yield the lines of the man page, as man(7) has them; the program's name is in bold."""
    project = tomllib.loads((_PROJECT / "pyproject.toml").read_text())["project"]
    yield r".\" Made by release/share.py from the program's help pages."
    yield f'.TH CLI 1 "{date}" "cli-host {project["version"]}" "User commands"'
    yield ".SH NAME"
    yield rf"\fB{_NAME}\fR \- commands from scripts in folders"

    yield ".SH SYNOPSIS"
    for index, words in enumerate(_SYNOPSES):
        if index:
            yield ".br"
        yield rf"\fB{_NAME}\fR {_escaped(words)}"

    yield ".SH DESCRIPTION"
    yield _prose(project["description"])
    yield ".PP"
    yield _prose(root_notes(_NAME)[0])

    yield ".SH OPTIONS"
    for name, text in OPTIONS.items():
        yield from _term(name, text)

    yield ".SH COMMANDS"
    for command in _declared():
        if not command.definition.get("hidden"):
            yield from _command(command)

    for name in TOPICS[1:]:  # the options are above
        yield f".SH {name.replace('-', ' ').upper()}"
        yield from _paragraphs(topic(name, _NAME))

    yield from _tables_of_glance()
    yield ".SH SEE ALSO"
    yield _escaped(DOCS)


def _tables_of_glance() -> Iterator[str]:
    """Yield the sections that are tables of docs/at-a-glance.md."""
    glance = (_PROJECT / "docs" / "at-a-glance.md").read_text()
    for heading, title in (("Variables", "ENVIRONMENT"), ("Files", "FILES")):
        yield f".SH {title}"
        section = glance.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        _, *rows = _ROW.findall(section)  # without the heads of the columns
        for name, text in rows:
            yield from _term(name.replace("`", ""), text)


def _declared() -> list[CommandDeclaration]:
    declarations = []
    for plugin in entry_points(group="cli_host"):
        discover_commands = getattr(plugin.load(), "discover_commands", None)
        # The other built-in plugins take the installation, whose own commands they declare.
        if not discover_commands or inspect.signature(discover_commands).parameters:
            continue
        for declaration in discover_commands():
            if isinstance(declaration, CommandDeclaration):
                declarations.append(declaration)
    return sorted(declarations, key=lambda declaration: declaration.words)


def _command(command: CommandDeclaration) -> Iterator[str]:
    definition = parse_declared("self", command.definition, ours=True)
    usage = " ".join([_NAME, *command.words, usage_of(definition.args)]).rstrip()
    yield f".SS {_marked(_escaped(usage))}"

    function = load_reference(definition.entrypoint)
    yield from _paragraphs(inspect.getdoc(function) or "")
    for argument in sorted(definition.args, key=lambda argument: argument.option):
        text = explanation(argument)
        if text:
            yield from _term(term(argument), text)


def _paragraphs(text: str) -> Iterator[str]:
    """Yield paragraphs; one with indented lines keeps its lines."""
    for index, part in enumerate(text.strip("\n").split("\n\n")):
        if index:
            yield ".PP"
        lines = part.splitlines()
        if any(line.startswith("  ") for line in lines):
            yield ".nf"
            for line in lines:
                yield _marked(_escaped(line))
            yield ".fi"
        else:
            yield _prose(" ".join(lines))


def _term(name: str, text: str) -> Iterator[str]:
    yield ".TP"
    yield _marked(rf"\fB{_escaped(name)}\fR")
    yield _prose(text)


def _prose(text: str) -> str:
    words = text.replace("`", "").split()
    marked = _marked(_escaped(" ".join(words)))
    lines = textwrap.wrap(marked, 79, break_on_hyphens=False, break_long_words=False)
    return "\n".join(rf"\&{line}" if line.startswith(".") else line for line in lines)


def _escaped(text: str) -> str:
    """Return text in which roff finds nothing to do: no escapes, no request, ASCII only."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = text.replace("…", "...").replace("'", "\\(aq")
    letters = []
    for letter in text:
        letters.append(letter if letter.isascii() else f"\\[u{ord(letter):04X}]")
    escaped = "".join(letters)
    return f"\\&{escaped}" if escaped.startswith(".") else escaped


def _marked(text: str) -> str:
    """Put the program's name in bold: so `self launcher` finds it for a renamed program's page."""
    if text.startswith("\\fB"):
        return text
    return _OWN_NAME.sub(rf"\\fB{_NAME}\\fR", text)


def main() -> None:
    """Write the files; the man page keeps its date where nothing else of it changes."""
    today = dt.datetime.now(dt.UTC).date().isoformat()
    page = SHARE / PAGE
    former = page.read_text() if page.exists() else ""
    date = _DATE.search(former)

    for name, text in files(today).items():
        is_unchanged = date and name == PAGE and _DATE.sub(date[0], text) == former
        if is_unchanged:
            continue
        path = SHARE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main()

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
from pathlib import Path

from builtin_plugins.administration import self_commands
from builtin_plugins.administration.templates import fill_template
from host import CommandDeclaration
from host.cli.global_options import OPTIONS
from host.cli.listings import root_notes
from host.cli.topics import DOCS, TOPICS, topic
from host.run.argument_spec import explanation, term, usage_of
from host.run.declared_commands import parse_declared
from host.run.importing import load_reference

_PROJECT = Path(__file__).parents[1]
SHARE = _PROJECT / "release" / "share"
PAGE = "man/man1/cli.1"
_NAME = "cli"
_OWN_NAME = re.compile(rf"(?<![\w./-]){_NAME}(?![\w./-])")
_DATE = re.compile(r'(?<=^\.TH CLI 1 ")[\d-]+', re.MULTILINE)
_ROW = re.compile(r"^\| (.+?) \| (.+) \|$", re.MULTILINE)


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
    yield from (
        ".SH NAME",
        rf"\fB{_NAME}\fR \- commands from scripts in folders",
        ".SH SYNOPSIS",
    )
    for index, words in enumerate(
        (
            "<category> <command> [args…]",
            "help <words…>",
            "self <word> [args…]",
            "--version",
        )
    ):
        yield from [".br"][: bool(index)]
        yield rf"\fB{_NAME}\fR {_escaped(words)}"
    yield from (".SH DESCRIPTION", _prose(project["description"]), ".PP")
    yield _prose(root_notes(_NAME)[0])
    yield ".SH OPTIONS"
    for name, text in OPTIONS.items():
        yield from _term(name, text)
    yield ".SH COMMANDS"
    for one in sorted(_declared(), key=lambda one: one.words):
        if not one.definition.get("hidden"):
            yield from _word(one)
    for name in TOPICS:
        yield f".SH {name.replace('-', ' ').upper()}"
        yield from _paragraphs(topic(name, _NAME))
    glance = (_PROJECT / "docs" / "at-a-glance.md").read_text()
    for heading, title in (("Variables", "ENVIRONMENT"), ("Files", "FILES")):
        yield f".SH {title}"
        section = glance.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        for name, text in _ROW.findall(section)[1:]:
            yield from _term(name.replace("`", ""), text)
    yield from (".SH SEE ALSO", _escaped(DOCS))


def _declared() -> list[CommandDeclaration]:
    found = self_commands.discover_commands()
    return [one for one in found if isinstance(one, CommandDeclaration)]


def _word(command: CommandDeclaration) -> Iterator[str]:
    definition = parse_declared("self", command.definition, ours=True)
    usage = " ".join([_NAME, *command.words, usage_of(definition.args)]).rstrip()
    yield f".SS {_marked(_escaped(usage))}"
    yield from _paragraphs(inspect.getdoc(load_reference(definition.entrypoint)) or "")
    for one in sorted(definition.args, key=lambda one: one.option):
        if text := explanation(one):
            yield from _term(term(one), text)


def _paragraphs(text: str) -> Iterator[str]:
    """Yield paragraphs; one with indented lines keeps its lines."""
    for index, part in enumerate(text.strip("\n").split("\n\n")):
        lines = part.splitlines()
        yield from [".PP"][: bool(index)]
        if any(line.startswith("  ") for line in lines):
            yield from (".nf", *(_marked(_escaped(line)) for line in lines), ".fi")
        else:
            yield _prose(" ".join(lines))


def _term(name: str, text: str) -> Iterator[str]:
    yield from (".TP", _marked(rf"\fB{_escaped(name)}\fR"), _prose(text))


def _prose(text: str) -> str:
    marked = _marked(_escaped(" ".join(text.replace("`", "").split())))
    lines = textwrap.wrap(marked, 79, break_on_hyphens=False, break_long_words=False)
    return "\n".join(rf"\&{line}" if line.startswith(".") else line for line in lines)


def _escaped(text: str) -> str:
    """Return text in which roff finds nothing to do: no escapes, no request, ASCII only."""
    text = (
        text.replace("\\", "\\e")
        .replace("-", "\\-")
        .replace("…", "...")
        .replace("'", "\\(aq")
    )
    text = "".join(one if one.isascii() else f"\\[u{ord(one):04X}]" for one in text)
    return f"\\&{text}" if text.startswith(".") else text


def _marked(text: str) -> str:
    """Put the program's name in bold: so `self launcher` finds it for a renamed program's page."""
    if text.startswith("\\fB"):
        return text
    return _OWN_NAME.sub(rf"\\fB{_NAME}\\fR", text)


def main() -> None:
    """Write the files; the man page keeps its date where nothing else of it changes."""
    today = dt.datetime.now(dt.UTC).date().isoformat()
    page = SHARE / PAGE
    old = page.read_text() if page.exists() else ""
    found = _DATE.search(old)
    for name, text in files(today).items():
        if found and name == PAGE and _DATE.sub(found[0], text) == old:
            continue
        (SHARE / name).parent.mkdir(parents=True, exist_ok=True)
        (SHARE / name).write_text(text)


if __name__ == "__main__":
    main()

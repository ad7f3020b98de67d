"""`self lint`: what is wrong with definitions and scripts, each with its place."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from builtin_plugins.administration.words.lint.finding import as_github, as_json, as_text
from builtin_plugins.administration.words.lint.linter import Lint
from builtin_plugins.administration.words.lint.scripts import shellcheck_findings
from host import DefinitionError, UsageError, find_program
from host.cli.session import Session
from host.cli.unknown_words import find_whole


def command(session: Session, words: tuple[str, ...], format: str) -> int:
    """Look for what is wrong in definitions and scripts; nothing of them is run.

    DIRECTORY is an installation, a plugin or a folder of commands, WORDS are those of a
    command or a category; without them, it is this installation. Each finding is a line
    FILE:LINE:COLUMN: MESSAGE, and with one the exit status is 1; a file that looks like a script
    and is no command, or a script without a shebang, leaves it at 0. The last lines report who
    answers `--help`. Scripts are checked with shellcheck if it is on PATH.
    """
    below: tuple[str, ...] = ("",)
    if len(words) == 1 and os.path.isdir(words[0]):
        lint = Lint(os.path.realpath(words[0]), session.environ)
    elif "/" in "".join(words):
        raise UsageError(f"{' '.join(words)}: there is no such directory")
    else:
        session.installation  # noqa: B018 - raises where there is no installation
        below = _folders(session, words)
        lint = Lint(session.layout.root, session.environ, session.layout.config_file)
    findings = [one for one in lint.findings if one.file.startswith(below)]
    scripts = [one for one in lint.shell_scripts if one.startswith(below)]
    shellcheck = find_program("shellcheck", session.environ)
    if shellcheck:
        found = shellcheck_findings(shellcheck, scripts, session.environ)
        findings = sorted({*findings, *found})
    words_below = words if below != ("",) else ()
    answers = [one for one in lint.help if one[0][: len(words_below)] == words_below]
    if format == "json":
        session.show(as_json(findings, answers))
    else:
        session.show(as_text(findings) if format == "text" else as_github(findings))
    if format == "text" and not findings:
        definitions = "definition" if lint.count == 1 else "definitions"
        where = " ".join(words) if below != ("",) else f"{lint.count} {definitions}"
        session.show_lines(f"nothing is wrong in {where}")
    if format == "text":
        session.show_lines(*_help_lines(answers))
    if scripts and not shellcheck and session.output.terminal.is_interactive:
        session.messages.line("shellcheck is not on PATH, so scripts were not checked with it")
    return 1 if any(not one.hint for one in findings) else 0


def _help_lines(answers: Sequence[tuple[Sequence[str], str]]) -> Iterator[str]:
    """Yield who answers `--help`, for each command."""
    for who, text in (("script", "the script answers --help"), ("page", "--help shows the page")):
        if named := [" ".join(words) for words, one in answers if one == who]:
            yield f"{text}: {', '.join(sorted(named))}"


def _folders(session: Session, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return how paths begin of what words name; raises UsageError where they name nothing."""
    if not words:
        return ("",)
    folders = [os.path.join(tree.path, *words, "") for tree in session.lock.trees]
    try:
        found = find_whole(session, words)
        inside, _ = session.contents(found.words, deep=True)
    except DefinitionError as error:  # which is what lint is asked about
        return (*folders, error.problem.path)
    definitions = [found.definition, *(one.definition for one in inside.commands)]
    return (*folders, *(one.file for one in definitions if one and one.is_script))

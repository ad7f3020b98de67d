"""`self lint`: what is wrong with definitions and scripts, each with its place."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from builtin_plugins.administration.pages import (
    Finding,
    counted,
    grouped,
    plural,
    relative_path,
)
from builtin_plugins.administration.project_findings import commands_in, lint_projects
from builtin_plugins.administration.words.lint.linter import Lint
from builtin_plugins.administration.words.lint.places import placed
from builtin_plugins.administration.words.lint.scripts import shellcheck_findings
from host import DefinitionError, Problem, UsageError, find_program
from host.cli.session import Session
from host.cli.unknown_words import find_whole

_GITHUB = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_GITHUB_PROPERTY = _GITHUB | str.maketrans({":": "%3A", ",": "%2C"})


def command(session: Session, words: tuple[str, ...], format: str) -> int:
    """Check definitions and scripts; none of them is run.

    DIRECTORY is an installation, a plugin, a project or a folder of commands, WORDS are those of
    a command or a category. Without either, this installation and the projects here are checked.
    Each finding is a line
    FILE:LINE:COLUMN: MESSAGE; on a terminal they are grouped by file. With an error the exit
    status is 1. A hint (a file that looks like a script and is no command, or a script without a
    shebang) leaves it at 0. The last lines show who answers `--help`. If shellcheck is on PATH, it
    checks scripts too.
    """
    below: tuple[str, ...] = ("",)
    if len(words) == 1 and os.path.isdir(words[0]):
        lint = Lint(commands_in(words[0], session.program), session.environ)
    elif "/" in "".join(words):
        raise UsageError(f"{' '.join(words)}: there is no such directory")
    else:
        session.installation  # noqa: B018 - raises where there is no installation
        below = _folders(session, words)
        lint = Lint(session.layout.root, session.environ, session.layout.config_file)
    scripts = [one for one in lint.shell_scripts if one.startswith(below)]
    shellcheck = find_program("shellcheck", session.environ)
    found = shellcheck_findings(shellcheck, scripts, session.environ) if shellcheck else ()
    findings = [one for one in lint.findings(found) if one.problem.path.startswith(below)]
    if not words:
        findings += placed(lint_projects(session))
    words_below = words if below != ("",) else ()
    answers = [one for one in lint.help if one[0][: len(words_below)] == words_below]
    if format == "json":
        help_rows = [{"path": path, "answers": who} for path, who in answers]
        session.show_json({"findings": [*map(_row, findings)], "help": help_rows})
    elif format == "github":
        session.show_lines(*map(_github_line, findings))
    else:
        where = " ".join(words) if below != ("",) else plural(lint.count, "definition")
        _show_text(session, findings, where)
        session.show_lines(*_help_lines(answers))
    if scripts and not shellcheck and session.terminal.is_interactive:
        session.messages.line("shellcheck is not on PATH, so scripts were not checked with it")
    return 1 if any(one.counts for one in findings) else 0


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
        inside = session.contents(found.words, deep=True)
    except DefinitionError as error:  # which is what lint is asked about
        return (*folders, error.problem.path)
    definitions = [found.definition, *(one.definition for one in inside.commands)]
    return (*folders, *(one.file for one in definitions if one and one.is_script))


def _show_text(session: Session, findings: Sequence[Finding], where: str) -> None:
    """Show a line for each finding, for `grep` and editors; on a terminal a page for people."""
    terminal = session.terminal
    rows = [(relative_path(one.problem.path), one.problem, one) for one in findings]
    if not findings:
        session.show_lines(f"nothing is wrong in {where}")
    elif not terminal.is_interactive:
        session.show_lines(
            *(f"{path}:{at.line}:{at.column}: {_text(at)}" for path, at, _ in rows),
        )
    else:
        page = [(path, f"{at.line}:{at.column}: {at.message}", one) for path, at, one in rows]
        session.show("\n".join([*grouped(page, terminal), "", counted(findings), ""]))


def _text(problem: Problem) -> str:
    return f"{problem.message}; {problem.remedy}" if problem.remedy else problem.message


def _row(one: Finding) -> dict[str, object]:
    at = one.problem
    return {
        "file": relative_path(at.path),
        "line": at.line,
        "column": at.column,
        "rule": one.rule,
        "message": _text(at),
    }


def _github_line(one: Finding) -> str:
    """Return a workflow command, which GitHub shows beside the line."""
    at = one.problem
    path = relative_path(at.path).translate(_GITHUB_PROPERTY)
    place = f"file={path},line={at.line},col={at.column},title=lint {one.rule}"
    return f"::{'notice' if one.hint else 'error'} {place}::{_text(at).translate(_GITHUB)}"

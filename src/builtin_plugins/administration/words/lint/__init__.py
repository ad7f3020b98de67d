"""`self lint`: the problems of definitions and scripts, each with its position."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress

from builtin_plugins.administration.pages import Finding, counted, grouped, plural
from builtin_plugins.administration.project import nearest_project
from builtin_plugins.administration.words.lint.linter import Lint
from builtin_plugins.administration.words.lint.places import placed
from builtin_plugins.administration.words.lint.rules import shellcheck_findings
from host import DefinitionError, HostError, Problem, UsageError, find_program
from host.cli.session import Session
from host.cli.trust import project_contents
from host.cli.unknown_words import find_whole
from host.run.catalog import Catalog
from host.run.folders import FolderNode

_GITHUB = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_GITHUB_PROPERTY = _GITHUB | str.maketrans({":": "%3A", ",": "%2C"})


def command(session: Session, words: tuple[str, ...], format: str) -> int:
    """Check definitions and scripts; none of them is run.

    DIRECTORY is an installation, a plugin, a project or a folder of commands, WORDS are those of
    a command or a category. Without either, this installation and the projects here are checked.
    Each finding is a line FILE:LINE:COLUMN: MESSAGE; on a terminal they are grouped by file. With
    an error the exit status is 1. A hint (a file that looks like a script and is no command, or a
    script without a shebang) leaves it at 0. The last lines show who answers `--help`. If
    shellcheck is on PATH, it checks scripts too.
    """
    lint = Lint(session.layout.root, session.environ)
    found = [*_findings(session, lint, words)]
    shellcheck = find_program("shellcheck", session.environ)
    if shellcheck:
        found += shellcheck_findings(shellcheck, lint.shell_scripts, session.environ)
    findings = placed(found)
    if format == "json":
        help_rows = [{"path": path, "answers": who} for path, who in lint.help]
        session.show_json({"findings": [*map(_row, findings)], "help": help_rows})
    elif format == "github":
        session.show_lines(*map(_github_line, findings))
    else:
        _show_text(session, findings, lint.count)
        session.show_lines(*_help_lines(lint.help))
    if lint.shell_scripts and not shellcheck and session.terminal.is_interactive:
        session.messages.line("shellcheck is not on PATH, so scripts were not checked with it")
    return 1 if any(one.kind == "error" for one in findings) else 0


def _findings(session: Session, lint: Lint, words: tuple[str, ...]) -> Iterator[Finding]:
    """Yield the problems in what `words` name."""
    if not words:
        session.installation  # noqa: B018 - raises if there is no installation
        yield from lint.installation(session.layout.root, session.layout.config_file)
        yield from _project_findings(session, lint)
    elif len(words) == 1 and os.path.isdir(words[0]):
        project = nearest_project(session, words[0])
        if os.path.isdir(project.commands_dir):
            yield from lint.tree(FolderNode(project.tree, project=project))
        else:
            yield from lint.directory(project.root)
    elif "/" in "".join(words):
        raise UsageError(f"{' '.join(words)}: there is no such directory")
    else:
        try:
            nodes = find_whole(session, words).nodes
        except DefinitionError as error:
            yield Finding("definition", error.problem)
            return
        for node in nodes:
            if isinstance(node, FolderNode):
                yield from lint.tree(node)


def _project_findings(session: Session, lint: Lint) -> Iterator[Finding]:
    """Yield what is wrong in projects, and hints about commands that other ones hide."""
    projects, wrong = session.installation.around()
    files = [one.file for one in projects]
    yield from (Finding("definition" if one.path in files else "project", one) for one in wrong)
    if not projects:
        return
    catalog = Catalog(session.plugins_known, around=lambda: (projects, []))
    for project in projects:
        yield from lint.tree(FolderNode(project.tree, project=project))
        inside = project_contents(project)
        yield from (Finding("definition", one) for one in inside.problems)
        for command in inside.commands:
            with suppress(HostError):  # reported separately
                own, found = command.definition.file, catalog.find(command.words, whole=True)
                winner = found.definition.file if found.definition else ""
                if winner != own:
                    text = f"{' '.join(command.words)} is hidden by {winner or 'something else'}"
                    yield Finding("shadowed", Problem(own, text, "rename it"), hint=True)


def _show_text(session: Session, findings: Sequence[Finding], count: int) -> None:
    """Print a line for each finding, for `grep` and editors; on a terminal, a grouped page."""
    if not findings:
        session.show_lines(f"nothing is wrong in {plural(count, 'definition')}")
    elif not session.terminal.is_interactive:
        session.show_lines(*(str(one.problem) for one in findings))
    else:
        places = [(one, one.problem) for one in findings]
        rows = [(at.path, f"{at.line}:{at.column}: {at.message}", one) for one, at in places]
        lines = grouped(rows, session.terminal)
        session.show("\n".join([*lines, "", counted(findings), ""]))


def _help_lines(answers: Sequence[tuple[Sequence[str], str]]) -> Iterator[str]:
    """Yield, for each kind of help, the commands whose `--help` it answers."""
    for who, text in (("script", "the script answers --help"), ("page", "--help shows the page")):
        if named := {" ".join(words) for words, one in answers if one == who}:
            yield f"{text}: {', '.join(sorted(named))}"


def _text(problem: Problem) -> str:
    return f"{problem.message}; {problem.remedy}" if problem.remedy else problem.message


def _row(one: Finding) -> dict[str, object]:
    at = one.problem
    return {
        "file": at.path,
        "line": at.line,
        "column": at.column,
        "rule": one.rule,
        "message": _text(at),
    }


def _github_line(one: Finding) -> str:
    """Return a workflow command, which GitHub shows beside the line."""
    at = one.problem
    path = at.path.translate(_GITHUB_PROPERTY)
    place = f"file={path},line={at.line},col={at.column},title=lint {one.rule}"
    return f"::{'notice' if one.hint else 'error'} {place}::{_text(at).translate(_GITHUB)}"

"""`self lint`: the problems of definitions and scripts, each with its position."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from builtin_plugins.administration.pages import Finding, counted, grouped, plural
from builtin_plugins.administration.words.lint.linter import Lint
from builtin_plugins.administration.words.lint.places import placed
from builtin_plugins.administration.words.lint.rules import shellcheck_findings
from host import Problem
from host.cli.session import Session

_GITHUB = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_GITHUB_PROPERTY = _GITHUB | str.maketrans({":": "%3A", ",": "%2C"})


def command(session: Session, directory: str | None, format: str) -> int:
    """Check definitions and scripts; none of them is run.

    DIRECTORY is an installation, a plugin, a project or a folder of commands. Without it, this
    installation and the projects around the current directory are checked. Each finding is a line
    FILE:LINE:COLUMN: MESSAGE; on a terminal they are grouped by file. With an error the exit
    status is 1. A hint (a file that looks like a script but is not a command, or a script without
    a shebang) leaves it at 0. The last lines show what answers `--help`. If shellcheck is on
    PATH, it checks scripts too.
    """
    lint = Lint(session)
    found = [*(lint.here() if directory is None else lint.directory(directory))]
    found += shellcheck_findings(lint.shell_scripts, session.environ)
    findings = placed(found)
    if format == "json":
        help_rows = [{"path": path, "answers": who} for path, who in lint.help]
        session.show_json({"findings": [*map(_row, findings)], "help": help_rows})
    elif format == "github":
        session.show_lines(*map(_github_line, findings))
    else:
        _show_text(session, findings, lint.count)
        session.show_lines(*_help_lines(lint.help))
    return 1 if any(one.kind == "error" for one in findings) else 0


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

"""`self lint`: the problems in definitions and scripts, each with its position."""

from collections.abc import Iterator, Sequence

from builtin_plugins.diagnosis.lint.linter import Lint
from builtin_plugins.diagnosis.lint.positions import with_positions
from builtin_plugins.diagnosis.lint.rules import shellcheck_findings
from builtin_plugins.self_commands.decorator import FORMAT, argument, self_command
from builtin_plugins.self_commands.findings import (
    Finding,
    counted,
    grouped,
    has_errors,
)
from host import Problem
from host.session.session import Session
from host.text import plural

_HELP = {"script": "the script handles --help", "page": "--help shows the help page"}
_MOST_NAMES = 10  # in a line without --verbose


@self_command(
    "lint",
    "Check definitions and scripts",
    argument("directory", type="directory"),
    {**FORMAT, "choices": ["text", "json", "github"]},
    argument("--verbose", "List all names, and the tags that have no meaning here."),
)
def lint(session: Session, directory: str | None, format: str, verbose: bool) -> int:
    """Check definitions and scripts without running them.

    DIRECTORY is an installation, a plugin, a project or a folder of commands. By default, this
    installation and the projects that contain the current directory are checked. Each finding
    is a line FILE:LINE:COLUMN: MESSAGE; on a terminal, findings are grouped by file. The exit
    status is 1 if there are errors. Hints, such as a script without a shebang, leave it at 0.
    The last lines list the commands without a description, those whose description does not
    seem to be one, those whose script handles `--help`, and those for which `--help` shows the
    help page. --verbose lists all of them, and the tags in scripts' headers that have no meaning
    here. If shellcheck is on PATH, it also checks the scripts.
    """
    lint = Lint(session)
    if directory is None:
        unplaced = list(lint.here())
    else:
        unplaced = list(lint.directory(directory))
    # The pass before has collected the scripts.
    unplaced += shellcheck_findings(lint.shell_scripts, session.environ)
    findings = with_positions(unplaced)

    if format == "json":
        result = {
            "findings": [_row(finding) for finding in findings],
            "help": lint.help,
            "descriptions": lint.descriptions,
            "ignored_tags": dict(lint.ignored_tags),
        }
        session.show_json(result)
    elif format == "github":
        session.show_lines(*map(_github_line, findings))
    else:
        _show_text(session, findings, lint.count)
        session.show_lines(*_summaries(lint, verbose=verbose))

    return int(has_errors(findings))


def _summaries(lint: Lint, *, verbose: bool) -> Iterator[str]:
    """Yield the lines about all commands together."""
    lists = {}
    for kind, names in lint.descriptions.items():
        lists[f"{kind} description"] = names
    for who, names in lint.help.items():
        lists[_HELP[who]] = names

    for title, names in lists.items():
        commands = sorted({*names})
        count = len(commands)
        if not commands:
            continue

        if verbose or count <= _MOST_NAMES:
            yield f"{title}: {', '.join(commands)}"
        else:
            first = ", ".join(commands[:_MOST_NAMES])
            rest = count - _MOST_NAMES
            yield f"{title}: {count} commands: {first} and {rest} more"

    if verbose:
        for tag, count in sorted(lint.ignored_tags.items()):
            yield f"ignored tag: {tag} ({plural(count, 'script')})"


def _show_text(session: Session, findings: Sequence[Finding], count: int) -> None:
    """Print a line for each finding, for `grep` and editors; on a terminal, a grouped page."""
    if not findings:
        session.show_lines(f"no problems in {plural(count, 'definition')}")
    elif not session.terminal.is_interactive:
        session.show_lines(*(str(finding.problem) for finding in findings))
    else:
        # The paths are headings.
        rows = []
        for finding in findings:
            problem = finding.problem
            text = f"{problem.line}:{problem.column}: {problem.message}"
            rows.append((problem.path, text, finding))

        lines = grouped(rows, session.terminal)
        session.show("\n".join([*lines, "", counted(findings), ""]))


def _text(problem: Problem) -> str:
    if not problem.remedy:
        return problem.message
    return f"{problem.message}; {problem.remedy}"


def _row(finding: Finding) -> dict[str, object]:
    problem = finding.problem
    return {
        "file": problem.path,
        "line": problem.line,
        "column": problem.column,
        "rule": finding.rule,
        "message": _text(problem),
    }


def _github_line(finding: Finding) -> str:
    """Return a workflow command, which GitHub shows as an annotation of the line."""
    problem = finding.problem
    level = "notice" if finding.hint else "error"
    place = f"file={problem.path},line={problem.line},col={problem.column}"
    text = _text(problem).replace("%", "%25")
    return f"::{level} {place},title=lint {finding.rule}::{text}"

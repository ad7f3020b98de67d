"""`self doctor`: the problems with an installation, each with its remedy.

A check is a function that yields findings about a `Subject`.
"""

from collections.abc import Callable, Iterator

from builtin_plugins.diagnosis.doctor import (
    installation,
    plugins,
    program,
)
from builtin_plugins.diagnosis.doctor.subject import Subject, finding
from builtin_plugins.self_commands.decorator import FORMAT, argument, self_command
from builtin_plugins.self_commands.findings import (
    Finding,
    counted,
    grouped,
    has_errors,
)
from host import HostError
from host.session.session import Session


@self_command(
    "doctor",
    "Check this installation",
    argument("--fix", "Apply safe fixes."),
    FORMAT,
    synonyms=("check", "diagnose", "status", "health", "fix"),
)
def doctor(session: Session, fix: bool, format: str) -> int:
    """Check this installation and print a remedy for each problem.

    The exit status is 1 if an error remains. Hints, such as missing completion, leave it at 0.
    Without --safe, the checks source settings.conf and may run plugins' Python code.
    """
    subject = Subject(session)
    findings = list(_examine(subject, fix=fix))

    if format == "json":
        rows = [_row(finding) for finding in findings]
        session.show_json({"checks": list(_CHECKS), "findings": rows})
    else:
        session.show(_page(subject, findings))
    return int(has_errors(findings))


def _examine(subject: Subject, *, fix: bool) -> Iterator[Finding]:
    """Yield the findings of all checks, after their fixes; one broken check hides no other."""
    for name, check in _CHECKS.items():
        # The other checks need the configuration and the lock.
        if subject.wrong and name != "installation":
            continue

        try:
            findings = list(check(subject))
        except (HostError, OSError) as error:
            findings = [finding(f"cannot be checked: {error}", "fix this first")]

        for entry in findings:
            fixed = fix and _is_fixed(subject, entry)
            yield entry._replace(rule=name, fixed=fixed)


def _is_fixed(subject: Subject, entry: Finding) -> bool:
    """Apply the fix of a finding, and return whether there is one that succeeded."""
    if entry.fix is None:
        return False

    try:
        entry.fix()
    except (HostError, OSError) as failure:
        what = entry.problem.what
        subject.session.messages.warn(f"{what}: not fixed: {failure}")
        return False
    return True


def _row(entry: Finding) -> dict[str, object]:
    return {
        "check": entry.rule,
        "message": entry.problem.what,
        "remedy": entry.problem.remedy,
        "hint": entry.hint,
        "fixable": entry.fix is not None,
        "fixed": entry.fixed,
    }


def _page(subject: Subject, findings: list[Finding]) -> str:
    """Return the findings below the names of their checks, and a line with the result."""
    rows = []
    for entry in findings:
        rows.append((entry.rule, entry.problem.what, entry))
    lines = list(grouped(rows, subject.session.terminal))
    if lines:
        lines.append("")
    lines.append(_result(subject, findings))
    return "\n".join([*lines, ""])


def _result(subject: Subject, findings: list[Finding]) -> str:
    if not findings:
        return f"no problems in: {', '.join(_CHECKS)}"

    result = counted(findings)
    fixable = [entry for entry in findings if entry.fix]
    if has_errors(fixable):
        result += f"; to apply the safe fixes: {subject.call} self doctor --fix"
    return result


_CHECKS: dict[str, Callable[[Subject], Iterator[Finding]]] = {
    "installation": installation.files,
    "launcher": program.launcher,
    "PATH": program.on_path,
    "completion": program.completion,
    "programs": program.programs,
    "permissions": installation.permissions,
    "settings": installation.settings,
    "definitions": installation.definitions,
    "requirements": program.requirements,
    "plugins": plugins.plugins,
    "records": plugins.records,
    "lock": installation.lock,
    "history": installation.history,
    "projects": installation.projects,
    "leftovers": plugins.leftovers,
}

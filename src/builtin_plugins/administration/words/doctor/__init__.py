"""`self doctor`: the problems of an installation, each with its remedy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

from builtin_plugins.administration.pages import Finding, counted, grouped
from builtin_plugins.administration.words.doctor import installation, program
from builtin_plugins.administration.words.doctor.installation import Subject, finding
from host import HostError
from host.cli.session import Session

_CHECKS: dict[str, Callable[[Subject], Iterator[Finding]]] = {
    "installation": installation.files,
    "launcher": program.launcher,
    "PATH": program.on_path,
    "completion": program.completion,
    "programs": program.programs,
    "settings": installation.settings,
    "permissions": installation.permissions,
    "definitions": installation.definitions,
    "requirements": program.requirements,
    "clashes": installation.clashes,
    "plugins": installation.plugins,
    "lock": installation.lock,
    "projects": installation.projects,
    "leftovers": installation.leftovers,
}


def command(session: Session, fix: bool, format: str) -> int:
    """Check this installation; each finding has its remedy.

    The exit status is 1 if an error is left. Hints (PATH, completion, scripts that run all the
    same) leave it at 0. settings.conf is read as a run reads it, and plugins are asked what they
    offer; with --safe neither happens.
    """
    subject = Subject(session)
    found = [*_examine(subject, fix=fix)]
    if format == "json":
        session.show_json({"checks": [*_CHECKS], "findings": [*map(_row, found)]})
    else:
        rows = [(one.rule, one.problem.what, one) for one in found]
        lines = [*grouped(rows, session.terminal), *([""] if found else [])]
        session.show("\n".join([*lines, _result(subject, found), ""]))
    return 1 if any(one.kind == "error" for one in found) else 0


def _examine(subject: Subject, *, fix: bool) -> Iterator[Finding]:
    for name, check in _CHECKS.items():
        if subject.wrong and name != "installation":
            continue
        try:
            found = [*check(subject)]
        except (HostError, OSError) as error:
            found = [finding(f"cannot be checked: {error}", "fix this first")]
        fixes = [one.fix for one in found if fix and one.fix]
        for apply in fixes:
            with suppress(HostError, OSError):
                apply()
        left = {one.problem for one in (check(subject) if fixes else found)}
        for one in found:
            yield one._replace(rule=name, fixed=one.problem not in left)


def _row(one: Finding) -> dict[str, object]:
    return {
        "check": one.rule,
        "message": one.problem.what,
        "remedy": one.problem.remedy,
        "hint": one.hint,
        "fixable": one.fix is not None,
        "fixed": one.fixed,
    }


def _result(subject: Subject, found: list[Finding]) -> str:
    if not found:
        return f"nothing is wrong: {', '.join(_CHECKS)}"
    safe = any(one.kind == "error" and one.fix for one in found)
    more = f"; to fix what is safe: {subject.call} self doctor --fix" if safe else ""
    return counted(found) + more

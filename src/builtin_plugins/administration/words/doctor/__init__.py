"""`self doctor`: what is wrong with an installation, each with its remedy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from builtin_plugins.administration.words.doctor import installation, leftovers, program
from builtin_plugins.administration.words.doctor.diagnosis import Check, Diagnosis, Patient
from host import HostError
from host.cli.session import Session

_CHECKS: dict[str, Check] = {
    "installation": installation.files,
    "launcher": program.launcher,
    "PATH": program.on_path,
    "completion": program.completion,
    "dependencies": program.dependencies,
    "settings": installation.settings,
    "permissions": installation.permissions,
    "definitions": installation.definitions,
    "clashes": installation.clashes,
    "plugins": installation.plugins,
    "lock": installation.lock,
    "leftovers": leftovers.leftovers,
}
_ANYWAY = ("installation", "dependencies")  # what is looked at without an installation, too


def command(session: Session, fix: bool, format: str) -> int:
    """Look for what is wrong with this installation; each finding has its remedy.

    The exit status is 1 with a finding that is not mended, hints (PATH, completion, scripts
    that run all the same) aside. settings.conf is read as a run reads it, and plugins are
    asked what they offer; with --safe neither happens.
    """
    patient = Patient(session)
    found = [*_examine(patient, fix=fix)]
    if format == "json":
        session.show_json({"checks": [*_CHECKS], "findings": [*map(_row, found)]})
    else:
        session.show_lines(*_lines(patient.call, found))
    return 1 if any(one.counts for one in found) else 0


def _examine(patient: Patient, *, fix: bool) -> Iterator[Diagnosis]:
    for name, check in _CHECKS.items():
        if patient.wrong and name not in _ANYWAY:
            continue
        try:
            found = [*check(patient)]
        except (HostError, OSError) as error:
            found = [Diagnosis(f"cannot be looked at: {error}", "mend this first")]
        left = {one.message for one in found}
        fixes = [one.fix for one in found if fix and one.fix]
        for apply in fixes:
            with suppress(HostError, OSError):
                apply()
        if fixes:
            left = {one.message for one in check(patient)}  # what is said was seen
        for one in found:
            yield one._replace(check=name, fixed=one.message not in left)


def _row(one: Diagnosis) -> dict[str, object]:
    return {
        "check": one.check,
        "message": one.message,
        "remedy": one.remedy,
        "hint": one.hint,
        "fixable": one.fix is not None,
        "fixed": one.fixed,
    }


def _lines(call: str, found: list[Diagnosis]) -> list[str]:
    lines = []
    for one in found:
        kind = "mended" if one.fixed else "hint" if one.hint else "remedy"
        lines += [f"{one.check}: {one.message}", f"    {kind}: {one.remedy}"]
    left = [one for one in found if one.counts]
    safe = sum(one.fix is not None for one in left)
    if not left:
        again = " any more" if any(one.fixed for one in found) else ""
        return [*lines, f"nothing is wrong{again}: {', '.join(_CHECKS)}"]
    findings = "1 finding" if len(left) == 1 else f"{len(left)} findings"
    more = f"; {safe} can be mended with: {call} self doctor --fix" if safe else ""
    return [*lines, findings + more]

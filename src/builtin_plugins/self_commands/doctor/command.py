"""`self doctor`: the command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import click

from builtin_plugins.self_commands.doctor import commands, files, leftovers, program
from builtin_plugins.self_commands.doctor.diagnosis import Check, Diagnosis, Patient
from host import HostError
from host.cli.session import Session

_CHECKS: dict[str, Check] = {
    "installation": program.installation,
    "launcher": program.launcher,
    "PATH": program.on_path,
    "completion": program.completion,
    "dependencies": program.dependencies,
    "settings": files.settings,
    "permissions": files.permissions,
    "definitions": commands.definitions,
    "clashes": commands.clashes,
    "plugins": commands.plugins,
    "lock": files.lock,
    "leftovers": leftovers.leftovers,
}
_ANYWAY = ("installation", "dependencies")  # what is looked at without an installation, too


class Result(NamedTuple):
    """A diagnosis of a check, and whether it was mended just now."""

    check: str
    diagnosis: Diagnosis
    fixed: bool

    @property
    def counts(self) -> bool:
        return not self.fixed and not self.diagnosis.hint


@click.command
@click.option("--fix", is_flag=True, help="Apply the remedies that are safe.")
@click.option("--format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(session: Session, fix: bool, format: str) -> int:
    """Look for what is wrong with this installation; each finding has its remedy.

    The exit status is 1 with a finding that is not mended, hints (PATH, completion, scripts
    that run all the same) aside. settings.conf is read as a run reads it, and plugins are
    asked what they offer; with --safe neither happens.
    """
    patient = Patient(session)
    results = [*_examine(patient, fix=fix)]
    if format == "json":
        session.show_json({"checks": [*_CHECKS], "findings": [*map(_row, results)]})
    else:
        session.show_lines(*_lines(patient.call, results))
    return 1 if any(one.counts for one in results) else 0


def _examine(patient: Patient, *, fix: bool) -> Iterator[Result]:
    for name, check in _CHECKS.items():
        if patient.wrong and name not in _ANYWAY:
            continue
        try:
            found = [*check(patient)]
        except (HostError, OSError) as error:
            found = [Diagnosis(f"cannot be looked at: {error}", "mend this first")]
        left = {one.message for one in found}
        applied = [_apply(one) for one in found] if fix else []
        if any(applied):
            left = {one.message for one in check(patient)}  # what is said was seen
        for one in found:
            yield Result(name, one, one.message not in left)


def _apply(diagnosis: Diagnosis) -> bool:
    """Apply the remedy where that is safe; tell whether anything was done."""
    if diagnosis.fix is None:
        return False
    with suppress(HostError, OSError):
        diagnosis.fix()
    return True


def _row(result: Result) -> dict[str, object]:
    diagnosis = result.diagnosis
    return {
        "check": result.check,
        "message": diagnosis.message,
        "remedy": diagnosis.remedy,
        "hint": diagnosis.hint,
        "fixable": diagnosis.fix is not None,
        "fixed": result.fixed,
    }


def _lines(call: str, results: list[Result]) -> list[str]:
    lines = []
    for check, diagnosis, fixed in results:
        lines.append(f"{check}: {diagnosis.message}")
        kind = "mended" if fixed else "hint" if diagnosis.hint else "remedy"
        lines.append(f"    {kind}: {diagnosis.remedy}")
    left = [one for one in results if one.counts]
    safe = [one for one in left if one.diagnosis.fix is not None]
    if not left:
        again = " any more" if any(one.fixed for one in results) else ""
        lines.append(f"nothing is wrong{again}: {', '.join(_CHECKS)}")
    else:
        findings = "1 finding" if len(left) == 1 else f"{len(left)} findings"
        more = f"; {len(safe)} can be mended with: {call} self doctor --fix" if safe else ""
        lines.append(findings + more)
    return lines

"""`self doctor`: the command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import click

from builtin_plugins.self_commands.doctor import commands, files, leftovers, program
from builtin_plugins.self_commands.doctor.finding import Check, Finding, Patient
from host import HostError, printable
from host.cli.session import Session

_ANYWAY = ("installation", "dependencies")  # what is looked at without an installation, too


class Told(NamedTuple):
    """A finding of a check, and whether it was mended just now."""

    check: str
    finding: Finding
    fixed: bool


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
    told = [*_examine(patient, fix=fix)]
    left = [one for one in told if not one.fixed and not one.finding.hint]
    session.show(_as_json(told) if format == "json" else _as_text(patient.call, told))
    return 1 if left else 0


def _checks() -> dict[str, Check]:
    return {
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


def _examine(patient: Patient, *, fix: bool) -> Iterator[Told]:
    for name, check in _checks().items():
        if patient.wrong and name not in _ANYWAY:
            continue
        try:
            found = [*check(patient)]
        except (HostError, OSError) as error:
            found = [Finding(f"cannot be looked at: {error}", "mend this first")]
        left = {one.message for one in found}
        applied = [_apply(one) for one in found] if fix else []
        if any(applied):
            left = {one.message for one in check(patient)}  # what is said was seen
        for one in found:
            yield Told(name, one, one.message not in left)


def _apply(finding: Finding) -> bool:
    """Apply the remedy where that is safe; tell whether anything was done."""
    if finding.fix is None:
        return False
    with suppress(HostError, OSError):
        finding.fix()
    return True


def _as_json(told: list[Told]) -> str:
    rows = [
        {
            "check": check,
            "message": finding.message,
            "remedy": finding.remedy,
            "hint": finding.hint,
            "fixable": finding.fix is not None,
            "fixed": fixed,
        }
        for check, finding, fixed in told
    ]
    return json.dumps({"checks": [*_checks()], "findings": rows}, indent=2) + "\n"


def _as_text(call: str, told: list[Told]) -> str:
    lines = []
    for check, finding, fixed in told:
        lines.append(f"{check}: {finding.message}")
        kind = "mended" if fixed else "hint" if finding.hint else "remedy"
        lines.append(f"    {kind}: {finding.remedy}")
    left = [one for one in told if not one.fixed and not one.finding.hint]
    safe = [one for one in left if one.finding.fix is not None]
    if not left:
        again = " any more" if any(one.fixed for one in told) else ""
        lines.append(f"nothing is wrong{again}: {', '.join(_checks())}")
    else:
        findings = "1 finding" if len(left) == 1 else f"{len(left)} findings"
        more = f"; {len(safe)} can be mended with: {call} self doctor --fix" if safe else ""
        lines.append(findings + more)
    return "".join(f"{printable(line)}\n" for line in lines)

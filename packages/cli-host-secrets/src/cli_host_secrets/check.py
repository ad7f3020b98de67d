"""`secrets check`: resolve the references of commands, and report those that fail."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from host import Command, HostError, Program, UsageError, printable

_REFERENCE = re.compile(r"[a-z][a-z0-9+-]*:")
_SECRETS = 4.5  # the rank of a variable that only `secrets` sets
_NOT_REACHED = "not checked, because another reference failed first"


class Finding(NamedTuple):
    """The state of one reference: "ok", "failed" or "skipped", with the reason."""

    words: tuple[str, ...]
    name: str  # of the variable, or "env_files"
    reference: str
    state: str
    reason: str = ""

    def __str__(self) -> str:
        place = f"{' '.join(self.words)}: {self.name}: {self.reference}"
        text = "ok" if self.state == "ok" else f"{self.state}: {self.reason}"
        return f"{place}: {text}"


def main(arguments: Sequence[str]) -> int:
    """Print one line for each reference, never a value; return 1 if a reference failed."""
    program = Program.current()
    given = program.arguments(program.find(program.words), arguments)
    count = int(given["ARG_WORDS_COUNT"])
    words = tuple(given[f"ARG_WORDS_{number}"] for number in range(1, count + 1))
    findings = [
        finding
        for command in _chosen(program, words)
        for finding in checked(program, command)
    ]
    if given["ARG_FORMAT"] == "json":
        rows = [finding._asdict() for finding in findings]
        sys.stdout.write(json.dumps({"references": rows}, indent=2) + "\n")
    else:
        sys.stdout.writelines(f"{printable(str(finding))}\n" for finding in findings)
        if not findings:
            program.messages.line("no command has references to secrets")
    return 1 if any(finding.state == "failed" for finding in findings) else 0


def _chosen(program: Program, words: tuple[str, ...]) -> list[Command]:
    """Return the commands at or below `words`; raises UsageError if there are none."""
    commands = program.commands(everything=True)
    chosen = [command for command in commands if command.words[: len(words)] == words]
    if not chosen:
        raise UsageError(f"{' '.join(words)} is neither a command nor a category")
    return chosen


def checked(program: Program, command: Command) -> Iterator[Finding]:
    """Yield the state of each reference of a command, as a run would resolve them."""
    definition = command.definition
    files = [
        file
        for level in definition.chain
        for file in level.env_files
        if _REFERENCE.match(file)
    ]
    if not files and not definition.secrets:
        return

    failures: dict[tuple[str, str], str] = {}
    ranks: dict[str, float] = {}
    general = ""  # a failure that is about no reference
    try:
        variables = program.environment(command.words, secrets=True)
        ranks = {name: variable.rank for name, variable in variables.items()}
    except HostError as failure:
        failures = _failures(failure)
        is_about_references = any(
            key.startswith(("secrets.", "env_files")) for key, _ in failures
        )
        if not is_about_references:
            general = str(failure)

    for file in files:
        yield _finding(command, "env_files", file, "env_files", failures, general)
    for name, reference in definition.secrets.items():
        key = f"secrets.{name}"
        is_missing = bool(ranks) and name not in ranks and reference.optional
        if is_missing:
            yield _finding(
                command, name, reference, key, failures, general, is_missing=True
            )
        elif ranks and ranks.get(name) != _SECRETS:
            reason = (
                "another source sets the variable, so the reference is not resolved"
            )
            yield Finding(command.words, name, reference, "skipped", reason)
        else:
            yield _finding(command, name, reference, key, failures, general)


def _failures(failure: HostError) -> dict[tuple[str, str], str]:
    """Return the reason for each failed reference, by the key in the definition and reference."""
    reasons = {}
    for problem in (failure.problem, *failure.others):
        reference, _, reason = problem.text.partition(": ")
        reasons[problem.key, reference] = reason
    return reasons


def _finding(
    command: Command,
    name: str,
    reference: str,
    key: str,
    failures: dict[tuple[str, str], str],
    general: str,
    *,
    is_missing: bool = False,
) -> Finding:
    reason = general or failures.get((key, reference), "")
    if not reason and is_missing:
        reason = "the optional reference cannot be resolved"
        return Finding(command.words, name, reference, "skipped", reason)
    if reason:
        return Finding(command.words, name, reference, "failed", reason)
    # A failing file ends the run before `secrets`; with other failing secrets, this one is good.
    is_after_failure = key != "env_files" and any(
        kind == "env_files" for kind, _ in failures
    )
    if is_after_failure:
        return Finding(command.words, name, reference, "skipped", _NOT_REACHED)
    return Finding(command.words, name, reference, "ok")

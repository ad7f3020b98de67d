"""`secrets check`: resolve the references of commands, and report those that fail."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import click
from click.shell_completion import CompletionItem

from host import (
    Command,
    Definition,
    HostError,
    OneLineCommand,
    Program,
    UsageError,
    Variable,
    printable,
)

_REFERENCE = re.compile(r"[a-z][a-z0-9+-]*:")
_SECRETS = 4.5  # the rank of a variable that only `secrets` sets
_FILES = "env_files"
_SET_ELSEWHERE = "another source sets the variable, so the reference is not resolved"
_NOT_REACHED = "not checked, because another reference failed first"


class Finding(NamedTuple):
    """The state of one reference: "ok", "failed" or "skipped", with the reason."""

    words: tuple[str, ...]
    name: str  # of the variable, or "env_files"
    reference: str
    state: str
    reason: str = ""

    def __str__(self) -> str:
        command = " ".join(self.words)
        text = f"{command}: {self.name}: {self.reference}: {self.state}"
        if self.reason:
            text += f": {self.reason}"
        return text


class _Reference(NamedTuple):
    """A reference in a definition: its key there, and its name in a finding."""

    key: str
    name: str
    text: str
    is_optional: bool


def complete_words(
    ctx: click.Context, _param: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Return the words that can follow in the name of a category or command."""
    before = tuple(ctx.params.get("words") or ())
    try:
        commands = Program.current().commands(everything=True)
    except HostError:
        return []

    offered: dict[str, str] = {}
    for command in commands:
        *begun, word = command.words[: len(before) + 1]
        if tuple(begun) == before and word.startswith(typed):
            is_whole = len(command.words) == len(before) + 1
            offered.setdefault(word, command.definition.description if is_whole else "")
    return [CompletionItem(word, help=about) for word, about in offered.items()]


@click.command(cls=OneLineCommand)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the report, which never contains a value.",
)
@click.argument("words", nargs=-1, metavar="[WORDS]...", shell_complete=complete_words)
def check(form: str, words: tuple[str, ...]) -> int:
    """Resolve the references of commands, and report those that fail.

    WORDS are a command or a category; by default, all commands are checked. The exit status is 1 if
    a reference failed.
    """
    program = Program.current()
    findings: list[Finding] = []
    for command in _chosen(program, words):
        findings += checked(program, command)

    if form == "json":
        rows = [finding._asdict() for finding in findings]
        text = json.dumps({"references": rows}, indent=2)
        sys.stdout.write(f"{text}\n")
    else:
        for finding in findings:
            sys.stdout.write(f"{printable(str(finding))}\n")
        if not findings:
            program.messages.line("no command has references to secrets")

    for finding in findings:
        if finding.state == "failed":
            return 1
    return 0


def _chosen(program: Program, words: tuple[str, ...]) -> list[Command]:
    """Return the commands at or below `words`; raises UsageError if there are none."""
    commands = program.commands(everything=True)  # hidden ones, too
    chosen = []
    for command in commands:
        if command.words[: len(words)] == words:
            chosen.append(command)
    if not chosen:
        raise UsageError(f"{' '.join(words)} is neither a command nor a category")
    return chosen


def checked(program: Program, command: Command) -> Iterator[Finding]:
    """Yield the state of each reference of a command, as a run would resolve them."""
    references = _references(command.definition)
    if not references:
        return

    try:
        variables = program.environment(command.words, secrets=True)
    except HostError as failure:
        yield from _after_failure(command, references, failure)
        return

    for reference in references:
        variable = variables.get(reference.name)
        state, reason = _state(reference, variable)
        yield Finding(command.words, reference.name, reference.text, state, reason)


def _references(definition: Definition) -> list[_Reference]:
    """Return the references in `env_files`, and then those in `secrets`, as a run reads them."""
    references = []
    for level in definition.chain:
        for file in level.env_files:
            if _REFERENCE.match(file):
                references.append(_Reference(_FILES, _FILES, file, False))

    for name, text in definition.secrets.items():
        key = f"secrets.{name}"
        references.append(_Reference(key, name, text, text.optional))
    return references


def _state(reference: _Reference, variable: Variable | None) -> tuple[str, str]:
    """Return the state of a reference and the reason, after a run's variables were resolved."""
    if reference.key == _FILES:
        return "ok", ""
    if variable is None and reference.is_optional:
        return "skipped", "the optional reference cannot be resolved"
    if variable is None or variable.rank != _SECRETS:
        return "skipped", _SET_ELSEWHERE
    return "ok", ""


def _after_failure(
    command: Command, references: Sequence[_Reference], failure: HostError
) -> Iterator[Finding]:
    """Yield the state of each reference, after a failure that may be about some of them."""
    failures = _failures(failure)
    keys = {key for key, _ in failures}
    is_about_references = False
    for key in keys:
        if key.startswith(("secrets.", _FILES)):
            is_about_references = True

    for reference in references:
        reason = failures.get((reference.key, reference.text), "")
        if not is_about_references:
            reason = str(failure)  # of settings.conf, for example: nothing was resolved

        state = "ok"
        if reason:
            state = "failed"
        elif _FILES in keys and reference.key != _FILES:
            # A failing file ends the run before `secrets`.
            state = "skipped"
            reason = _NOT_REACHED
        yield Finding(command.words, reference.name, reference.text, state, reason)


def _failures(failure: HostError) -> dict[tuple[str, str], str]:
    """Return the reason for each failed reference, by the key in the definition and reference."""
    reasons = {}
    for problem in (failure.problem, *failure.others):
        reference, _, reason = problem.text.partition(": ")
        reasons[problem.key, reference] = reason
    return reasons

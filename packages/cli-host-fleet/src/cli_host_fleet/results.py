"""The result of each host, and the exit status of the whole run."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from cli_host_fleet.shortened import beginning

State = Literal[
    "ok",
    "failed",
    "unreachable",
    "timeout",
    "lost",
    "refused",
    "interrupted",
    "skipped",
]
STATES: tuple[State, ...] = get_args(State)
Stop = Literal["", "no answer", "timeout", "interrupted"]
_OUT_OF_REACH = {"unreachable", "timeout", "lost"}
# signals that end no process by default
_HARMLESS = {
    signal.SIGCHLD,
    signal.SIGCONT,
    signal.SIGSTOP,
    signal.SIGTSTP,
    signal.SIGTTIN,
    signal.SIGTTOU,
    signal.SIGURG,
    signal.SIGWINCH,
}
# added to the number of the signal that ended a command, this is a shell's exit status
_SIGNALLED = 128


@dataclass(frozen=True, slots=True)
class Result:
    """One host's result; `status` is the command's exit status, or None if unknown."""

    host: str
    state: State
    status: int | None = None
    reason: str = ""
    attempts: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Ending:
    """The facts about a connection that has ended.

    `greeted`: a shell on the host answered; `elevated`: the shell runs as the requested user;
    `refusal`: why the host did not run the command; `status`: the exit status that the host
    reported; `stopped`: why the controller ended the connection; `exit_status`: that of ssh or
    another program that connects;
    `words`: the line from the host, other than the command's output, that best explains the end.
    """

    greeted: bool = False
    elevated: bool = False
    refusal: str = ""
    status: int | None = None
    stopped: Stop = ""
    exit_status: int = 0
    words: str = ""


def judge(  # noqa: PLR0911 - a table
    ending: Ending, explain: Callable[[int, str], tuple[State, str]]
) -> tuple[State, int | None, str]:
    """Return a host's state, the command's exit status and a reason, from the facts in `ending`.

    `explain` returns the state and the reason if no shell has answered.
    """
    words = beginning(ending.words)
    if ending.refusal:
        return "refused", None, beginning(ending.refusal)

    # What the controller did comes before the status: a command that was stopped can exit with 0.
    if ending.stopped == "interrupted":
        return "interrupted", None, f"stopped by the user{_doubt(ending)}"
    if ending.stopped == "timeout":
        return "timeout", None, f"took longer than --timeout{_doubt(ending)}"

    status = ending.status
    if status == 0:
        return "ok", status, ""
    if status is not None:
        return "failed", status, _reason(status)

    if ending.stopped == "no answer":
        reason = "no answer in time"
        if words:
            reason += f": {words}"
        return "unreachable", None, reason
    if not ending.greeted:
        state, reason = explain(ending.exit_status, words)
        return state, None, reason
    if not ending.elevated:
        return "refused", None, words or "sudo ended without a message"
    return "lost", None, "the connection was cut"


def _doubt(ending: Ending) -> str:
    """Return a note if the command may have started but its end was not reported, else ""."""
    if ending.elevated and ending.status is None:
        return "; the host did not confirm that the command ended"
    return ""


def _reason(status: int) -> str:
    """Return the signal that an exit status stands for, or ""."""
    if status <= _SIGNALLED:
        return ""
    try:
        number = signal.Signals(status - _SIGNALLED)
    except ValueError:
        return ""
    if number in _HARMLESS:
        return ""
    return f"killed by {number.name}"


def exit_status(results: Iterable[Result]) -> int:
    """Return 4 if a host is `unreachable`, `timeout` or `lost`; 1 if one is not `ok`; else 0."""
    states = {result.state for result in results}
    if states & _OUT_OF_REACH:
        return 4
    if states - {"ok"}:
        return 1
    return 0


def counts(results: Iterable[Result]) -> str:
    """Return how many hosts ended in each state: "18 ok, 1 failed, 1 unreachable"."""
    number = Counter(result.state for result in results)
    parts = []
    for state in STATES:
        if number[state]:
            parts.append(f"{number[state]} {state}")
    return ", ".join(parts) or "no hosts"

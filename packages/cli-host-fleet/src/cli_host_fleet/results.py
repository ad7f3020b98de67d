"""The result of each host, and the exit status of the whole run."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

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
STATES: tuple[State, ...] = (
    *(
        "ok",
        "failed",
        "unreachable",
        "timeout",
        "lost",
        "refused",
        "interrupted",
        "skipped",
    ),
)
Stop = Literal["", "no answer", "timeout", "interrupted"]
_OUT_OF_REACH = {"unreachable", "timeout", "lost"}
_SIGNALLED = 128


@dataclass(frozen=True, slots=True)
class Result:
    """One host's result; `status` is the command's exit status, or None if unknown.

    `files` has the SHA-256 of each file that was copied or gathered, by its path on the host.
    """

    host: str
    state: State
    status: int | None = None
    reason: str = ""
    attempts: int = 0
    seconds: float = 0.0
    files: Mapping[str, str] | None = None


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
    words = ending.words
    if ending.refusal:
        return "refused", None, ending.refusal
    if ending.stopped == "interrupted":
        return "interrupted", None, f"stopped by the user{_doubt(ending)}"
    if ending.stopped == "timeout":
        return "timeout", None, f"took longer than --timeout{_doubt(ending)}"
    if ending.status is not None:
        return (
            ("failed" if ending.status else "ok"),
            ending.status,
            _reason(ending.status),
        )
    if ending.stopped == "no answer":
        return "unreachable", None, f"no answer in time{_after(words)}"
    if not ending.greeted:
        state, reason = explain(ending.exit_status, words)
        return state, None, reason
    if not ending.elevated:
        return "refused", None, words or "sudo ended without a message"
    return "lost", None, "the connection was cut"


def _doubt(ending: Ending) -> str:
    """Return a note if the command may have started but its end was not reported, else ""."""
    unknown = ending.elevated and ending.status is None
    return "; the host did not confirm that the command ended" if unknown else ""


def _after(words: str) -> str:
    return f": {words}" if words else ""


def _reason(status: int) -> str:
    if status <= _SIGNALLED:
        return ""
    try:
        return f"killed by {signal.Signals(status - _SIGNALLED).name}"
    except ValueError:
        return ""


def exit_status(results: Iterable[Result]) -> int:
    """Return 4 if a host is `unreachable`, `timeout` or `lost`; 1 if one is not `ok`; else 0."""
    states = {result.state for result in results}
    if states & _OUT_OF_REACH:
        return 4
    return int(bool(states - {"ok"}))


def counts(results: Iterable[Result]) -> str:
    """Return how many hosts ended in each state: "18 ok, 1 failed, 1 unreachable"."""
    number = Counter(result.state for result in results)
    return (
        ", ".join(f"{number[state]} {state}" for state in STATES if number[state])
        or "no hosts"
    )

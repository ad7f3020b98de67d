"""The state of a connection that has ended, and the exit status of a run."""

from __future__ import annotations

import pytest

from cli_host_fleet.results import Ending, Result, State, counts, exit_status, judge
from cli_host_fleet.ssh import Calling
from cli_host_fleet.ssh_transport import Ssh

_SSH = Ssh(Calling(), {})


@pytest.mark.parametrize(
    ("ending", "state", "status"),
    [
        (Ending(True, True, status=0), "ok", 0),
        (Ending(True, True, status=3), "failed", 3),
        (Ending(True, True, status=255, exit_status=255), "failed", 255),
        (Ending(True, True, exit_status=255), "lost", None),
        (Ending(True, True, exit_status=0), "lost", None),
        (Ending(True, True, status=143, stopped="timeout"), "timeout", None),
        (Ending(True, True, stopped="timeout", exit_status=-9), "timeout", None),
        (Ending(True, True, status=0, stopped="interrupted"), "interrupted", None),
        (Ending(stopped="interrupted"), "interrupted", None),
        (Ending(exit_status=255, words="no route"), "unreachable", None),
        (Ending(stopped="no answer", exit_status=-9), "unreachable", None),
        (Ending(exit_status=1, words="no account"), "refused", None),
        (Ending(exit_status=127, words="bash: not found"), "refused", None),
        (Ending(True, exit_status=1, words="sudo: no"), "refused", None),
        (Ending(True, True, refusal="no room", exit_status=1), "refused", None),
    ],
)
def test_judge(ending: Ending, state: State, status: int | None) -> None:
    assert judge(ending, _SSH.explain)[:2] == (state, status)


@pytest.mark.parametrize("fact", ["words", "refusal"])
def test_a_host_does_not_choose_how_long_a_reason_is(fact: str) -> None:
    ending = Ending(True, exit_status=1, **{fact: "\0" * 9000})  # type: ignore[arg-type]
    assert judge(ending, _SSH.explain)[2] == "\0" * 500 + "…"


@pytest.mark.parametrize(
    ("states", "status"),
    [
        ("", 0),
        ("ok ok", 0),
        ("ok failed", 1),
        ("refused", 1),
        ("failed skipped", 1),
        ("failed unreachable", 4),
        ("ok timeout", 4),
        ("lost", 4),
    ],
)
def test_exit_status(states: str, status: int) -> None:
    assert exit_status(Result("h", state) for state in states.split()) == status  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ending", "doubt"),
    [
        (Ending(True, True, status=143, stopped="timeout"), False),
        (Ending(True, True, stopped="timeout", exit_status=-9), True),
        (Ending(True, True, stopped="interrupted", exit_status=-9), True),
        (Ending(True, False, stopped="interrupted", exit_status=-9), False),
    ],
)
def test_an_end_that_nobody_confirmed_is_reported(ending: Ending, doubt: bool) -> None:
    assert (
        judge(ending, _SSH.explain)[2].endswith(
            "did not confirm that the command ended"
        )
        == doubt
    )


def test_counts() -> None:
    assert counts([]) == "no hosts"
    results = [Result("a", "failed"), Result("b", "ok"), Result("c", "ok")]
    assert counts(results) == "2 ok, 1 failed"

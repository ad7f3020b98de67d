"""One call of another program: what it gets, what comes back, and that it ends in bounds."""

from __future__ import annotations

import os
import re
import uuid

import pytest

from builtin_plugins.library.bounded_call import bounded_call
from host import OperationError
from testing.processes import processes_left_with

SHELL = ("/bin/sh", "-c")
ENVIRON = {"PATH": "/usr/bin:/bin"}


def test_it_gets_its_input_and_what_it_says_comes_back() -> None:
    script = "read word; echo got $word; echo oh >&2; exit 3"
    ended = bounded_call([*SHELL, script], ENVIRON, 60, "sh", given=b"this\n")
    assert (ended.status, ended.stdout, ended.stderr) == (3, b"got this\n", b"oh\n")


def test_it_has_a_session_and_a_place_of_its_own() -> None:
    script = "pwd; cut -d' ' -f6 /proc/$$/stat"
    place, session = bounded_call(
        [*SHELL, script], ENVIRON, 60, "sh", directory="/"
    ).stdout.split()
    assert place == b"/"
    assert int(session) != os.getsid(0)


@pytest.mark.parametrize(
    ("script", "seconds", "failure"),
    [
        ("sleep 50 & wait", 0.2, "sh: not finished within 0.2 seconds"),
        (
            "sleep 50 >/dev/null & exec >&-; wait",
            0.2,
            "sh: not finished within 0.2 seconds",
        ),
        ("sleep 50 & yes", 50, "sh: printed more than 1048576 bytes"),
    ],
    ids=["silent", "closes its output", "prints without end"],
)
def test_what_goes_beyond_is_ended_with_all_it_started(
    script: str, seconds: float, failure: str
) -> None:
    mark = uuid.uuid4().hex
    with pytest.raises(OperationError, match=failure):
        bounded_call(
            [*SHELL, script], {**ENVIRON, "MARK": mark}, seconds, "sh", most=1 << 20
        )
    assert processes_left_with(mark) == []


def test_who_keeps_its_stderr_holds_nobody_up() -> None:
    ended = bounded_call(
        [*SHELL, "echo $$; sleep 50 >/dev/null & echo $!"], ENVIRON, 60, "sh"
    )
    pids = re.findall(rb"\d+", ended.stdout)
    assert len(pids) == 2
    os.kill(int(pids[1]), 9)

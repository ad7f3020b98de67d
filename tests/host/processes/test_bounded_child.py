"""`supervise`: what a program gets, what comes back, and that it ends whole and in time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from typing import Any

import pytest

from host import supervise
from testing.processes import processes_left_with

ENVIRON = {"PATH": "/usr/bin:/bin"}


def shell(script: str, seconds: float = 60, **options: Any) -> Any:
    environ = options.pop("environ", ENVIRON)
    return supervise(["sh", "-c", script], environ, seconds, **options)


@pytest.mark.parametrize(
    ("script", "options", "status", "printed", "complaint", "why"),
    [
        ("echo a; echo b >&2", {}, 0, b"a\n", b"b\n", ""),
        ("echo a; echo b >&2", {"stderr": "stdout"}, 0, b"a\nb\n", b"", ""),
        ("echo a; echo b >&2", {"stderr": "drop"}, 0, b"a\n", b"", ""),
        ("cat; exit 3", {"given": b"in"}, 3, b"in", b"", "exit status 3"),
        ("cat", {}, 0, b"", b"", ""),
        ("pwd", {"directory": "/"}, 0, b"/\n", b"", ""),
        ("kill -9 $$", {}, -9, b"", b"", "killed by signal 9"),
        (
            "sleep 60",
            {"seconds": 0.2},
            -15,
            b"",
            b"",
            "not finished within 0.2 seconds",
        ),
        ("trap '' TERM; echo a; sleep 60", {"seconds": 3}, -9, b"a\n", b"", None),
        ("exec >&-; sleep 60", {"seconds": 0.2}, -15, b"", b"", None),
        ("yes", {"most": 1000}, -15, None, b"", "printed more than 1000 bytes"),
    ],
)
def test_what_comes_back(
    script: str,
    options: dict[str, Any],
    status: int,
    printed: bytes | None,
    complaint: bytes,
    why: str | None,
) -> None:
    ended = shell(script, **options)
    assert (ended.status, ended.stderr) == (status, complaint)
    assert printed is None or ended.stdout == printed
    assert why is None or ended.why == why
    assert bool(ended.limit) == ("seconds" in options or "most" in options)


@pytest.mark.parametrize("argv", [["nowhere"], ["/nowhere/x"], ["/etc/passwd"]])
@pytest.mark.parametrize("directory", [None, "/"])
def test_what_cannot_start(argv: list[str], directory: str | None) -> None:
    with pytest.raises((FileNotFoundError, PermissionError)):
        supervise(argv, ENVIRON, 5, directory=directory)


def test_a_background_process_that_keeps_stdout_open_delays_nobody() -> None:
    mark = uuid.uuid4().hex
    marked = {**ENVIRON, "MARK": mark}
    begun = time.monotonic()
    assert shell("sleep 60 & echo a", environ=marked).stdout == b"a\n"
    assert processes_left_with(mark) == []
    kept = shell("sleep 60 & echo $!", environ=marked, keeps_background=True)
    assert time.monotonic() - begun < 50
    os.kill(int(kept.stdout), signal.SIGKILL)


def test_it_works_in_a_thread_and_with_sigchld_ignored() -> None:
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append(shell("echo a"))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [ended.stdout for ended in found] == [b"a\n"] * 4
    former = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert shell("echo a").stdout == b"a\n"
    finally:
        signal.signal(signal.SIGCHLD, former)


def test_without_pidfd_as_on_macos(monkeypatch: pytest.MonkeyPatch) -> None:
    import posix

    monkeypatch.delattr(posix, "pidfd_open", raising=False)
    assert shell("sleep 0.1; exit 4").why == "exit status 4"
    assert shell("sleep 60", 0.2).limit == "time"
    assert shell("sleep 0.1 & exec >&-; wait; exit 5").status == 5


_CHILD = "trap 'echo ended >&2; exit' TERM; sleep 60 & echo started >&2; wait"
_PARENT = f"""
import signal
from host import supervise
signal.signal(signal.SIGINT, signal.SIG_DFL)
supervise(["sh", "-c", {_CHILD!r}], None, 60, stderr="show")
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_the_program_first(number: signal.Signals) -> None:
    mark = uuid.uuid4().hex
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT],
        env={**os.environ, "MARK": mark},
        stderr=subprocess.PIPE,
    )
    assert parent.stderr
    assert parent.stderr.readline() == b"started\n"
    parent.send_signal(number)
    # A second SIGTERM, for the whole group, may reach the shell before its trap ends.
    assert set(parent.stderr.read().splitlines()) == {b"ended"}
    assert parent.wait(120) == -number
    assert processes_left_with(mark) == []

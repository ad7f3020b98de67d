"""The processes that tests start have default signals, however the suite was started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from conftest import rare


@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGHUP], ids=lambda one: one.name
)
def test_a_process_starts_with_the_default_signals(number: int) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f"kill -{int(number)} $$; echo survived"], check=False
    )
    assert done.returncode == -number


@rare
def test_the_suite_may_start_with_signals_ignored() -> None:
    one = f"{__file__}::test_a_process_starts_with_the_default_signals"
    pytest_words = ("-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", one)
    done = subprocess.run(
        [
            "/bin/sh",
            "-c",
            "trap '' INT HUP; exec \"$@\"",
            "sh",
            sys.executable,
            *pytest_words,
        ],
        env={
            key: value
            for key, value in os.environ.items()
            if not key.startswith("PYTEST_")
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, "2 passed" in done.stdout) == (0, True), done.stdout

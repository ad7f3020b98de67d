"""The signals of the processes that tests start do not depend on how the suite was started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

SIGNALS = [signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGPIPE, signal.SIGUSR1]


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_process_starts_with_the_default_signals(number: int) -> None:
    done = subprocess.run(["/bin/sh", "-c", f"kill -{int(number)} $$; echo survived"], check=False)
    assert done.returncode == -number


@pytest.mark.parametrize("workers", ["0", "1"])
def test_the_suite_may_start_with_signals_ignored_and_blocked(workers: str) -> None:
    def ignore_and_block() -> None:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)

    one = f"{__file__}::test_a_process_starts_with_the_default_signals"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", workers, "-p", "no:cacheprovider", one],
        env={key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")},
        preexec_fn=ignore_and_block,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, f"{len(SIGNALS)} passed" in done.stdout) == (0, True), done.stdout

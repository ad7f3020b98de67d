"""What tests start does not depend on the signals and the PATH of who starts the suite."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SIGNALS = [signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGPIPE, signal.SIGUSR1]


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_process_starts_with_the_default_signals(number: int) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f"kill -{int(number)} $$; echo survived"], check=False
    )
    assert done.returncode == -number


def test_no_program_has_a_name_that_tests_give_to_theirs() -> None:
    assert [shutil.which(name) for name in ("acme", "acme2", "cli", "two", "zed")] == [
        None
    ] * 5


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["0", "1"])
@pytest.mark.night
def test_the_suite_may_start_with_signals_ignored_and_programs_on_path(
    tmp_path: Path, workers: str
) -> None:
    def ignore_and_block() -> None:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)

    (tmp_path / "acme").symlink_to("/bin/sh")
    (tmp_path / "cli").symlink_to("/nonexistent")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        workers,
        "-p",
        "no:cacheprovider",
    ]
    environ = {
        key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")
    }
    done = subprocess.run(
        [*command, __file__, "-k", "not suite"],
        env={**environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        preexec_fn=ignore_and_block,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    said = (done.returncode, f"{len(SIGNALS) + 1} passed" in done.stdout)
    assert said == (0, True), done.stdout

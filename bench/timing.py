"""Timing commands against one another: in turn, in the same run, medians as ratios."""

from __future__ import annotations

import os
import select
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import truediv
from pathlib import Path

import host

_LONGEST = 4.0  # seconds that one command may take in all its runs, once it had _FEWEST
_FEWEST = 5
_PATIENCE = 10.0  # seconds for a single run


@dataclass
class Timed:
    """A command to time, and the seconds that its runs took."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] | None = None
    cwd: str | None = None
    seconds: list[float] = field(default_factory=list)

    def run(self) -> float:
        """Return the seconds that it takes; raises TimeoutExpired, CalledProcessError.

        subprocess would look whether it has ended at growing intervals, of up to 50 ms: the
        kernel is asked to say so.
        """
        start = time.perf_counter()
        process = subprocess.Popen(
            self.argv,
            env=self.env,
            cwd=self.cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        ending = os.pidfd_open(process.pid)
        ended, _, _ = select.select([ending], [], [], _PATIENCE)
        seconds = time.perf_counter() - start
        os.close(ending)

        if not ended:
            process.kill()
            process.wait()
            raise subprocess.TimeoutExpired(self.argv, _PATIENCE)
        if process.wait():
            raise subprocess.CalledProcessError(process.returncode, self.argv)
        return seconds

    @property
    def median(self) -> float:
        """Return the median of its runs; infinite where one was not waited for."""
        if not self.seconds:
            return float("inf")
        return statistics.median(self.seconds)

    def over(self, baseline: Timed) -> float:
        """Return the median of the ratios to the baseline, turn by turn, as machines drift."""
        return statistics.median(map(truediv, self.seconds, baseline.seconds))


def measure(
    candidates: Sequence[Timed], runs: int, warm_up: int = 2, longest: float = _LONGEST
) -> None:
    """Run all candidates in turn, `runs` times each after `warm_up` unmeasured ones.

    One that has taken more than `longest` seconds is left out of further turns, and one
    that does not end has no time at all.
    """
    left = list(candidates)
    for turn in range(runs + warm_up):
        for candidate in list(left):
            try:
                seconds = candidate.run()
            except subprocess.TimeoutExpired:
                left.remove(candidate)
                continue

            # A slow command has too few turns to leave some of them out.
            is_slow = seconds > longest / _FEWEST
            if turn >= warm_up or is_slow:
                candidate.seconds.append(seconds)
            has_enough = len(candidate.seconds) >= _FEWEST
            if has_enough and sum(candidate.seconds) > longest:
                left.remove(candidate)


_PLANNED = """
import sys
sys.path.append({packages!r})
sys.argv = {argv!r}
import host.__main__
import host.processes.process
def execute(plan):
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM"):
            print(line.split()[1])
    raise SystemExit
host.processes.process.execute = execute
host.__main__.main()
"""


def peak_memory(argv: Sequence[str], env: Mapping[str, str]) -> float:
    """Return the largest resident size in MiB of a run up to its exec; Linux only."""
    packages = str(Path(host.__file__).parent.parent)
    program = _PLANNED.format(packages=packages, argv=list(argv))
    finished = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program],
        env=env,
        capture_output=True,
        check=True,
    )
    return int(finished.stdout) / 1024


def table(title: str, candidates: Sequence[Timed], baseline: Timed) -> str:
    """Return the medians and their ratio to `baseline` as lines."""
    lines = [title]
    for candidate in candidates:
        ratio = candidate.median / baseline.median
        milliseconds = candidate.median * 1000
        lines.append(f"  {candidate.name:<44} {milliseconds:9.2f} ms {ratio:7.2f} x")
    lines.append(f"  (x {baseline.name}; median of {len(baseline.seconds)})")
    return "\n".join(lines)

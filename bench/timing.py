"""Timing commands against one another: in turn, in the same run, medians as ratios."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass
class Timed:
    """A command to time, and the seconds that its runs took."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] | None = None
    cwd: str | None = None
    seconds: list[float] = field(default_factory=list)

    def run(self) -> float:
        start = time.perf_counter()
        subprocess.run(
            self.argv,
            env=self.env,
            cwd=self.cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        return time.perf_counter() - start

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def measure(candidates: Sequence[Timed], runs: int, warm_up: int = 2) -> None:
    """Run all candidates in turn, `runs` times each after `warm_up` unmeasured ones."""
    for turn in range(runs + warm_up):
        for candidate in candidates:
            seconds = candidate.run()
            if turn >= warm_up:
                candidate.seconds.append(seconds)


def table(title: str, candidates: Sequence[Timed], baseline: Timed) -> str:
    """Return the medians and their ratio to `baseline` as lines."""
    lines = [title]
    for candidate in candidates:
        ratio = candidate.median / baseline.median
        lines.append(f"  {candidate.name:<44} {candidate.median * 1000:9.2f} ms {ratio:7.2f} x")
    lines.append(f"  (x {baseline.name}; median of {len(baseline.seconds)})")
    return "\n".join(lines)


def peak_memory(argv: Sequence[str], env: Mapping[str, str]) -> float:
    """Return the largest resident size in MiB of a process and what it became by exec."""
    pid = os.posix_spawn(argv[0], list(argv), dict(env))
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"{argv}: status {status}")
    return usage.ru_maxrss / 1024

"""Run a change again and again, each time broken at its 1st, 2nd, … step on disk.

Started with `faults.c` preloaded; prints one JSON object: the numbers of steps and of
runs, what they ended in, and every broken promise. Each run is a fork of this process,
so it costs milliseconds.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from itertools import count, pairwise
from typing import Any

from testing.sweep.ground import Ground, Outcome, in_fork

_MOST_TOLD = 20  # broken promises


def sweep(ground: Ground, error: int) -> dict[str, Any]:
    """Break the change at steps from the `first`, and at those where old turns to new.

    Returns figures and broken promises.
    """
    ground.restore()
    old = ground.state()
    ground.restore()
    done = _unbroken(ground)
    new = ground.state()
    broken = [f"unbroken: {problem}" for problem in ground.broken(old, new, new, done)]
    outcomes: dict[int, str] = {}

    def break_at(at: int) -> int:
        ground.restore()
        outcome, steps = _run(ground, at, error)
        state = ground.state()
        outcomes[at] = "between"
        for name, known in (("old", old), ("new", new)):
            if ground.like(state, known):
                outcomes[at] = name
        wrong = [*_impolite(ground, outcome), *ground.broken(old, new, state, outcome)]
        again = in_fork(ground.change)
        wrong += [
            f"second run: {problem}" for problem in ground.unsettled(new, state, again)
        ]
        broken.extend(f"step {at}: {problem}" for problem in wrong)
        return steps

    steps = next(steps for at in count(1) if (steps := break_at(at)) >= 0)
    turns = [
        pair for pair in pairwise(outcomes) if outcomes[pair[0]] != outcomes[pair[1]]
    ]
    low, high = turns[-1] if turns else (0, 0)
    while high - low > 1:  # where the new state comes a slip is likeliest: look closer
        middle = (low + high) // 2
        break_at(middle)
        low, high = (
            (low, middle) if outcomes[middle] == outcomes[high] else (middle, high)
        )
    figures = {
        "steps": steps,
        "runs": len(outcomes),
        "outcomes": Counter(outcomes.values()),
    }
    return figures | {"broken": broken[:_MOST_TOLD]}


def _unbroken(ground: Ground) -> Outcome:
    """Make the change; import here what it needed, so that no later fork has to."""
    with tempfile.TemporaryFile("w+") as names:

        def tell() -> None:
            names.write("\n".join(sys.modules))
            names.flush()

        outcome = in_fork(ground.change, tell)
        assert outcome.status == 0, outcome
        names.seek(0)
        for name in names.read().split("\n"):
            with suppress(ImportError):
                importlib.import_module(name)
    return outcome


def _run(ground: Ground, at: int, error: int) -> tuple[Outcome, int]:
    """Break the change at a step; return how it ended, and its steps when it has fewer, or -1."""
    faults = ctypes.CDLL(None)
    faults.faults_seen.restype = ctypes.c_long
    reader, writer = os.pipe()

    def armed() -> int:
        place = os.fsencode(ground.place)
        faults.faults_arm(place, ctypes.c_long(at), error)
        return ground.change()

    def tell() -> None:
        if (seen := faults.faults_seen()) < at:
            os.write(writer, b"%d" % seen)

    outcome = in_fork(armed, tell)
    os.close(writer)
    with open(reader, "rb") as told:
        return outcome, int(told.read() or -1)


def _impolite(ground: Ground, outcome: Outcome) -> list[str]:
    """Return what is wrong with how a run ended: it is killed, or done, or fails with a line."""
    if "Traceback" in outcome.err:
        return [outcome.err]
    if os.WIFEXITED(outcome.status) and os.WEXITSTATUS(outcome.status) not in (0, 1):
        return [f"status {outcome.status}: {outcome.err}"]
    told = outcome.err.splitlines(keepends=True)
    lines = [line for line in told if not line.startswith(ground.progress)]
    is_whole = bool(lines) and lines[-1].endswith("\n")
    if outcome.failed and (not is_whole or (len(lines) != 1 and ground.one_line)):
        return [f"not one line: {outcome.err!r}"]
    return []


def main() -> None:
    given = json.loads(sys.argv[1])
    ground = importlib.import_module(f"testing.sweep.{given['kind']}").make(
        **given["asked"]
    )
    result = sweep(ground, given["error"])
    sys.stdout.write(json.dumps(result) + "\n")

"""Break a change at each of its steps on disk: ended there, or with that one call failing.

A test asks for it; the program that does it runs by itself, with `faults.c` preloaded.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from testing.installation import PROJECT

INTERRUPT = (
    10_000  # in place of an error: the user presses Ctrl-C; faults.c has it, too
)
_PROGRAM = "import sys; sys.path.append(sys.argv.pop(1)); from testing.sweep.program import main"


def run_sweep(
    kind: str,
    asked: dict[str, Any],
    shim: Path,
    *,
    error: int,
    python: str | Path = sys.executable,
    home: str | Path = "/nonexistent",
    environ: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Break a change at each of its steps; nothing may be broken.

    `kind` is a module beside this one, `asked` what its ground is made with; `error` is the
    number of a failure, 0 to kill, or INTERRUPT; if it is below 0, each further call that needs
    space fails, too.
    Returns {"steps", "runs", "outcomes", "broken"}.
    """
    given = json.dumps({"kind": kind, "asked": asked, "error": error})
    given_environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LD_PRELOAD": str(shim),
    }
    given_environ.update(environ or {})
    done = subprocess.run(
        [python, "-I", "-c", f"{_PROGRAM}; main()", PROJECT / "tests", given],
        env=given_environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=3000,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    what = {0: "SIGKILL", INTERRUPT: "SIGINT"}.get(error, os.strerror(abs(error)))
    said = ", ".join(
        f"{number} {outcome}" for outcome, number in result["outcomes"].items()
    )
    print(f"{what}: {result['steps']} steps, {result['runs']} runs: {said}")
    assert result["broken"] == []
    return result

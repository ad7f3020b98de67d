"""The program on a terminal."""

from __future__ import annotations

import os
import pty
import subprocess

from testing.installation import Made


def on_terminal(made: Made, *words: str, columns: int = 80, **env: str) -> tuple[int, str]:
    """Return the status of a run whose three streams are a terminal, and what it shows."""
    primary, secondary = pty.openpty()
    environ = {"PATH": os.environ["PATH"], "HOME": str(made.home), "COLUMNS": str(columns)}
    process = subprocess.Popen(
        [made.launcher, *words],
        stdin=secondary,
        stdout=secondary,
        stderr=secondary,
        env={**environ, "TERM": "xterm", **env},
    )
    os.close(secondary)
    shown = b""
    while True:
        try:
            chunk = os.read(primary, 65536)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
    os.close(primary)
    return process.wait(60), shown.decode().replace("\r\n", "\n")

"""The hosts that failed in the last run, for `--on @failed`."""

from __future__ import annotations

import os
import pwd
import tempfile
from collections.abc import Mapping

from cli_host_fleet.problem import FleetError

FAILED = "failed"  # the name of the group


def place(environ: Mapping[str, str], root: str) -> str:
    """Return the file that records the last run of the installation at `root`."""
    # A relative path would be below the current directory, so it counts as unset.
    state = environ.get("XDG_STATE_HOME", "")
    if not state.startswith("/"):
        home = environ.get("HOME", "")
        if not home.startswith("/"):
            home = pwd.getpwuid(os.getuid()).pw_dir
        state = f"{home}/.local/state"
    return f"{state}/cli-host-fleet{root}/failed"


def remember(file: str, names: list[str]) -> None:
    """Write the names of the failed hosts atomically; raises OSError."""
    directory = os.path.dirname(file)
    os.makedirs(directory, mode=0o700, exist_ok=True)

    # Beside the file, because a file moves atomically only within a file system.
    with tempfile.NamedTemporaryFile(
        "w", dir=directory, prefix=".failed-", delete=False
    ) as written:
        for name in names:
            written.write(f"{name}\n")
    os.replace(written.name, file)


def recall(file: str) -> list[str]:
    """Return the failed hosts; raises FleetError if no run is recorded or no host failed."""
    try:
        with open(file) as opened:
            names = opened.read().split()
    except FileNotFoundError:
        raise FleetError("@failed: no run has been recorded yet") from None
    except OSError as failure:
        raise FleetError(f"{file}: {failure.strerror}") from None

    if not names:
        raise FleetError("@failed: no host failed in the last run")
    return names

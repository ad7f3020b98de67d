"""The date of an installation's version, for man pages."""

from __future__ import annotations

import datetime as dt
import os
import subprocess

from host import find_program

_SECONDS = 20.0


def date_of_version(root: str) -> str:
    """Return the day on which `version` in cli.json last changed, or "" if nobody knows it.

    This is the day of the commit that changed it, so a page is the same on every machine.
    SOURCE_DATE_EPOCH, which build systems set, wins.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if epoch.isdecimal():
        return dt.datetime.fromtimestamp(int(epoch), dt.UTC).date().isoformat()
    git = find_program("git", os.environ)
    if git is None:
        return ""
    words = [git, "-C", root, "log", "-1", "--format=%cs", '-G"version"', "--", "core/cli.json"]
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()

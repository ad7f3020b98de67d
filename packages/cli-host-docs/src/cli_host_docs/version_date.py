"""The date of an installation's version, for man pages."""

from __future__ import annotations

import datetime as dt
import os

from host import supervise

_SECONDS = 20.0


def date_of_version(root: str) -> str:
    """Return the day on which `version` in cli.json last changed, or "" if nobody knows it.

    This is the day of the commit that changed it, so a page is the same on every machine.
    SOURCE_DATE_EPOCH, which build systems set, wins.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if epoch.isdecimal():
        moment = dt.datetime.fromtimestamp(int(epoch), dt.UTC)
        return moment.date().isoformat()

    # A hook of git has variables that name its own repository.
    environ = {**os.environ}
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        environ.pop(name, None)
    argv = ["git", "-C", root, "log", "-1", "--format=%cs"]
    # -G finds the last commit that changed a line with "version".
    argv += ['-G"version"', "--", "core/cli.json"]
    try:
        ended = supervise(argv, environ, _SECONDS, stderr="drop")
    except OSError:
        return ""  # git is not installed
    if ended.why:
        return ""  # not a repository
    return ended.stdout.decode().strip()

"""`self news`: report whether the git repository of this installation has newer commits.

If cli.json has "follow": "notice", listings and `self` commands on a terminal print
this report last.
"""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from builtin_plugins.administration.declared import self_command
from builtin_plugins.io.files.atomic import make_directory, write_file
from builtin_plugins.io.git import Git, has_commit, newer_commit
from host import HostError, OperationError
from host.cli.session import Session
from host.run.caller import RUN, is_on
from host.run.files import read_regular

_DAY = 86_400
_SERVER_SECONDS = 10.0  # time limit for git commands that contact the server
_OFFLINE_SECONDS = 1.0


@self_command(
    "news",
    "Report new commits in the team's repository (checked once a day)",
    hidden=True,  # listings run it last
)
def news(session: Session) -> None:
    """Report what the last check for new commits found. At most once a day, start another one.

    The check runs in the background, and the next call reports its result.
    """
    environ, root = session.environ, session.layout.root
    silent = is_on(environ.get("CLI_NO_NOTICE")) or environ.get("CI") or RUN in environ
    if silent or not os.path.exists(os.path.join(root, ".git")):
        return
    stamp = session.installation.cache_path("news")
    with suppress(OSError, HostError):
        _mention(session, stamp)
    with suppress(OSError):
        if (
            not os.path.exists(stamp)
            or not 0 <= time.time() - os.stat(stamp).st_mtime < _DAY
        ):
            # The file is touched before the check, so that a failed check is not repeated today.
            make_directory(os.path.dirname(stamp), 0o700)
            Path(stamp).touch()
            _detach(lambda: _check(root, environ, stamp))


def _mention(session: Session, stamp: str) -> None:
    git = Git(session.layout.root, session.environ, _OFFLINE_SECONDS)
    content = read_regular(stamp, OperationError, 64).decode("ascii", "replace")
    if content and not has_commit(git, content):
        news = "your team's commands have changed; to update"
        session.messages.line(f"{session.program}: {news}: {session.program} self sync")


def _detach(work: Callable[[], None]) -> None:
    """Call `work` in a new process, without a terminal and without this process's open files."""
    if os.fork():
        return
    try:
        os.setsid()
        os.closerange(0, os.sysconf("SC_OPEN_MAX"))
        for _ in range(3):
            os.open(os.devnull, os.O_RDWR)
        work()
    finally:
        os._exit(0)


def _check(root: str, environ: Mapping[str, str], stamp: str) -> None:
    """Write the upstream branch's newest commit, or "" if HEAD contains it, to the file `stamp`."""
    git = Git(root, environ, _SERVER_SECONDS)
    if "GIT_SSH" not in environ:
        usual = (
            git("config", "--default=ssh", "--get", "core.sshCommand").decode().strip()
        )
        ssh = environ.get("GIT_SSH_COMMAND") or usual
        git.environ = {**environ, "GIT_SSH_COMMAND": f"{ssh} -o BatchMode=yes"}
    write_file(stamp, newer_commit(git))

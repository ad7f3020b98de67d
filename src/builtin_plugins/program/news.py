"""`self news`: report whether the git repository of this installation has newer commits.

If cli.json has "follow": "notice", listings and `self` commands on a terminal print
this report last.
"""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from builtin_plugins.library.files.atomic import make_directory, write_file
from builtin_plugins.library.git import Git, has_commit, newer_commit
from builtin_plugins.self_commands.decorator import self_command
from host import HostError, OperationError
from host.caller import RUN, is_on
from host.files.paths import read_regular
from host.session.session import Session

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
    environ = session.environ
    root = session.layout.root
    # Nobody reads the notice of a command that another command or a pipeline runs.
    if environ.get("CI") or RUN in environ:
        return
    if is_on(environ.get("CLI_NO_NOTICE")):
        return
    if not os.path.exists(os.path.join(root, ".git")):
        return

    stamp = session.installation.cache_path("news")
    with suppress(OSError, HostError):
        _mention(session, stamp)

    with suppress(OSError):
        if _is_due(stamp):
            # The file is touched before the check, so that a failed check is not repeated today.
            make_directory(os.path.dirname(stamp), 0o700)
            Path(stamp).touch()
            _detach(lambda: _check(root, environ, stamp))


def _is_due(stamp: str) -> bool:
    """Return whether the last check was not today; `stamp` is the file with its result."""
    if not os.path.exists(stamp):
        return True
    age = time.time() - os.stat(stamp).st_mtime
    return not 0 <= age < _DAY  # a time in the future comes from a wrong clock


def _mention(session: Session, stamp: str) -> None:
    """Report the commit that the last check found, unless the repository has it now."""
    git = Git(session.layout.root, session.environ, _OFFLINE_SECONDS)
    content = read_regular(stamp, OperationError, 64).decode("ascii", "replace")
    if content and not has_commit(git, content):
        program = session.program
        news = "your team's commands have changed; to update"
        session.messages.line(f"{program}: {news}: {program} self sync")


def _detach(work: Callable[[], None]) -> None:
    """Call `work` in a new process, without a terminal and without this process's open files."""
    if os.fork():
        return

    try:
        os.setsid()
        # A program that reads the caller's output must not wait for this process.
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
        ssh = environ.get("GIT_SSH_COMMAND", "")
        if not ssh:
            configured = git("config", "--default=ssh", "--get", "core.sshCommand")
            ssh = configured.decode().strip()
        # ssh must not ask for a password: the user has gone on to other work.
        git.environ = {**environ, "GIT_SSH_COMMAND": f"{ssh} -o BatchMode=yes"}
    write_file(stamp, newer_commit(git))

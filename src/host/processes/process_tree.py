"""Find all processes that a process started, directly or through others, and end them.

A process can leave its process group and its session, but not its parents: on Linux, an orphan goes
to the nearest ancestor that called `become_subreaper`. So all of them are found through /proc. On
other systems, only the processes whose parents still run are found, through `ps`.
"""

import _signal  # not `signal`, which would import `enum`
import posix
import time

from host.processes.process import send_signal
from host.processes.process_stat import process_stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

GRACE_SECONDS = 10.0  # between SIGTERM and SIGKILL
_LAST_SECONDS = 2.0  # after SIGKILL; a process of another user cannot be ended
_PR_SET_CHILD_SUBREAPER = 36  # from linux/prctl.h
_STEP_SECONDS = 0.02  # between two looks at the processes


def become_subreaper() -> bool:
    """Make orphans below this process its own children; return whether the system can do so."""
    try:
        import ctypes

        libc = ctypes.CDLL(None)
        status: int = libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        return False  # not Linux, or a Python without ctypes
    return status == 0


def descendants(root: int) -> "list[int]":
    """Return the ids of all living processes below the process `root`, parents before children."""
    children: dict[int, list[int]] = {}
    for process, parent in _parents():
        children.setdefault(parent, []).append(process)

    below: list[int] = []
    pending = [root]
    while pending:
        started = children.get(pending.pop(), [])
        below += started
        pending += started
    return below


def end_all(find: "Callable[[], Iterable[int]]", grace: float = GRACE_SECONDS) -> None:
    """End the processes that `find` returns: SIGTERM, then SIGKILL after `grace` seconds.

    `find` is called again until it returns nothing, because a process may start others until it
    has ended. A stopped process gets SIGCONT, so that it can handle SIGTERM. Processes that cannot
    be ended, such as those of another user, are left after two more seconds.
    """
    deadline = time.monotonic() + grace
    asked: set[int] = set()
    processes = list(find())
    while processes:
        now = time.monotonic()
        if now >= deadline + _LAST_SECONDS:
            return

        is_late = now >= deadline
        for process in processes:
            if is_late:
                send_signal(process, _signal.SIGKILL)
            elif process not in asked:
                asked.add(process)
                send_signal(process, _signal.SIGTERM)
                send_signal(process, _signal.SIGCONT)

        time.sleep(_STEP_SECONDS)
        processes = list(find())


def freeze(root: int) -> "list[int]":
    """Stop a process and everything below it; return their ids.

    A process that is stopped starts no other, so none can be missed while they are looked for.
    """
    stopped: list[int] = []
    pending = [root]
    while pending:
        for process in pending:
            send_signal(process, _signal.SIGSTOP)
        stopped += pending

        # What they had started before they were stopped.
        pending = [process for process in descendants(root) if process not in stopped]
    return stopped


def _parents() -> "Iterable[tuple[int, int]]":
    """Yield the id and the parent's id of each living process; zombies are left out."""
    try:
        names = posix.listdir("/proc")
    except OSError:
        yield from _parents_by_ps()
        return

    for name in names:
        if not name.isdigit():
            continue
        stat = process_stat(int(name))
        if stat is not None and stat.is_alive:
            yield int(name), stat.parent


def _parents_by_ps() -> "Iterable[tuple[int, int]]":
    """Yield the same where there is no /proc, as on macOS."""
    import subprocess

    listing = subprocess.run(
        ["/bin/ps", "-A", "-o", "pid=,ppid=,state="],
        capture_output=True,
        text=True,
        check=False,
    )

    for line in listing.stdout.splitlines():
        process, parent, state = line.split()[:3]
        if not state.startswith("Z"):
            yield int(process), int(parent)

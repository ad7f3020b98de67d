"""End a process and everything that it started, as far as the chain of parents shows it.

A process whose parent has ended has left that chain, and survives.
"""

import _signal  # not `signal`, which would import `enum`
import posix
import time

from host.processes.process import send_signal
from host.processes.process_stat import process_stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_STEP_SECONDS = 0.02  # between two looks at the processes
# after SIGKILL; a process of another user, such as one that sudo has started, cannot be ended
_LAST_SECONDS = 2.0


def end_tree(root: int, grace: float) -> None:
    """End the process `root` and its descendants: SIGTERM, then SIGKILL after `grace` seconds.

    Returns as soon as all of them have ended. A stopped process gets SIGCONT, so that it can handle
    SIGTERM. A zombie has ended; its parent reaps it.
    """
    # `root` is a child that nobody has waited for, so it gets the signal even without /proc.
    asked = {root: "", **_tree([root], _processes())}
    for process in asked:
        send_signal(process, _signal.SIGTERM)
        send_signal(process, _signal.SIGCONT)
    if _have_ended(asked, grace):
        return

    # What an asked process has started since belongs to it, too.
    now = _processes()
    left = [process for process in asked if _is_same(process, asked, now)]
    killed = _tree(left, now)
    for process in killed:
        send_signal(process, _signal.SIGKILL)
    _have_ended(killed, _LAST_SECONDS)


def _tree(
    roots: "list[int]", processes: "Mapping[int, tuple[int, str]]"
) -> "dict[int, str]":
    """Return `roots` and all processes below them, each with its start, parents first.

    A shell whose child ends before it could go on to its next command.
    """
    children: dict[int, list[int]] = {}
    for process, (parent, _) in processes.items():
        children.setdefault(parent, []).append(process)

    found: dict[int, str] = {}
    pending = list(roots)
    for process in pending:
        if process in found or process not in processes:
            continue
        _, start = processes[process]
        found[process] = start
        pending += children.get(process, [])
    return found


def _have_ended(asked: "Mapping[int, str]", seconds: float) -> bool:
    """Wait until all processes have ended, at most `seconds`; return whether they have."""
    deadline = time.monotonic() + seconds
    while True:
        now = _processes()
        if not any(_is_same(process, asked, now) for process in asked):
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(_STEP_SECONDS)


def _is_same(
    process: int,
    asked: "Mapping[int, str]",
    processes: "Mapping[int, tuple[int, str]]",
) -> bool:
    """Return whether a process still lives; another one may have its id by now."""
    if process not in processes:
        return False
    _, start = processes[process]
    return start == asked[process]


def _processes() -> "dict[int, tuple[int, str]]":
    """Return the parent's id and the start of each living process, by its id."""
    return dict(_living())


def _living() -> "Iterator[tuple[int, tuple[int, str]]]":
    try:
        names = posix.listdir("/proc")
    except OSError:
        yield from _living_by_ps()
        return

    for name in names:
        if not name.isdigit():
            continue
        stat = process_stat(int(name))
        if stat is not None and stat.is_alive:
            yield int(name), (stat.parent, stat.start)


def _living_by_ps() -> "Iterator[tuple[int, tuple[int, str]]]":
    """Yield the same where there is no /proc, as on macOS."""
    import subprocess

    try:
        listing = subprocess.run(
            ["/bin/ps", "-A", "-o", "pid=,ppid=,state=,lstart="],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return  # a bare chroot

    for line in listing.stdout.splitlines():
        process, parent, state, start = line.split(maxsplit=3)
        if not state.startswith("Z"):
            yield int(process), (int(parent), start)

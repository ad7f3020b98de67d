"""Read what Linux says of a process in /proc/PID/stat."""

from host.record import Record
from host.text import decode

# A zombie has ended, but its parent has not asked for its status.
_ENDED_STATES = ("Z", "X")


class ProcessStat(Record):
    """One process: the name of its program, its state, and the id of its parent."""

    name: str
    state: str
    parent: int

    @property
    def is_alive(self) -> bool:
        return self.state not in _ENDED_STATES


def process_stat(process: int) -> "ProcessStat | None":
    """Return what /proc says of a process, or None if it has ended or there is no /proc."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            line = decode(file.read())

        # The name, in parentheses, may contain blanks and parentheses.
        _, _, behind_id = line.partition("(")
        name, _, rest = behind_id.rpartition(")")
        state, parent = rest.split()[:2]
        return ProcessStat(name, state, int(parent))
    except (OSError, ValueError):
        return None

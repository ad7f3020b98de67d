"""Read what Linux says of a process in /proc/PID/stat."""

from host.record_base import Record
from host.text import decode

# A zombie has ended, but its parent has not asked for its status.
_ENDED_STATES = ("Z", "X")
_START = 19  # position of the start time among the fields behind the name


class ProcessStat(Record):
    """One process: the name of its program, its state, the id of its parent, and its start.

    The start is a number of clock ticks as text. It tells a process from a later one with its id.
    """

    name: str
    state: str
    parent: int
    start: str

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
        fields = rest.split()
        return ProcessStat(name, fields[0], int(fields[1]), fields[_START])
    except (OSError, ValueError, IndexError):
        return None

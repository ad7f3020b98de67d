"""The keys that record and limit a run: `record`, `timeout` and `exclusive`.

command.json, the category.json files above it, project.json and cli.json can have them; for each
key, the nearest file wins. A run without them becomes its command and loads nothing of this.
"""

from host.record_base import Record
from host.words import is_digits, is_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from host.files.json_file import Fields

WAIT = "wait"

_UNITS = {"s": 1, "m": 60, "h": 3600}
_MOST_DIGITS = 6


class Supervision(Record):
    """How runs are recorded and limited; None means that a file does not set the key.

    record      whether the run is written to the history
    timeout     the time limit as declared, such as "90s"
    exclusive   True for one run of the command at a time, a name for one run of all with this name,
                "wait" for True and waiting, False for neither
    """

    record: bool | None = None
    timeout: str | None = None
    exclusive: "bool | str | None" = None

    @property
    def seconds(self) -> int | None:
        """The time limit in seconds, or None for none; "0s" overrides a limit from farther away."""
        if self.timeout is None:
            return None
        number = self.timeout[:-1]
        unit = self.timeout[-1]
        seconds = int(number) * _UNITS[unit]
        return seconds or None


def read_supervision(fields: "Fields") -> Supervision:
    """Return the three keys of one file. Raises DefinitionError."""
    record = fields.value("record")
    if record not in (None, True, False):
        raise fields.refused("record", "expected true or false")

    timeout = fields.filled("timeout") or None
    if timeout is not None and not _is_duration(timeout):
        expected = "expected a whole number with s, m or h, such as 90s"
        raise fields.refused("timeout", f"{expected}; found {timeout[:40]}")

    exclusive = fields.value("exclusive")
    if not _is_exclusive(exclusive):
        expected = f'expected true, false, "{WAIT}" or a name for the lock'
        raise fields.refused("exclusive", expected)

    return Supervision(record, timeout, exclusive)


def nearest(supervisions: "Iterable[Supervision]") -> Supervision:
    """Return the value of each key from the last of `supervisions` that sets it."""
    nearest_values: dict[str, Any] = {}
    for supervision in supervisions:
        values = supervision.values().items()
        nearest_values |= {name: value for name, value in values if value is not None}
    return Supervision(**nearest_values)


def _is_exclusive(value: object) -> bool:
    """Return whether a value of `exclusive` is a switch or can be the name of a lock."""
    if value in (None, True, False):
        return True
    return isinstance(value, str) and is_word(value)


def _is_duration(text: str) -> bool:
    number = text[:-1]
    unit = text[-1]
    if unit not in _UNITS:
        return False
    return is_digits(number) and len(number) <= _MOST_DIGITS

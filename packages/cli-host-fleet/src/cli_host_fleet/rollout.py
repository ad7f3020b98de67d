"""Pure functions: which hosts form a batch, and after how many failures a run stops."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_NUMBER = re.compile(r"[0-9]+")
_LONGEST_PAUSE = 10.0


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of hosts, or a percentage of all of them."""

    number: int
    percent: bool = False

    @classmethod
    def parse(cls, text: str) -> Amount:
        """Parse "3" or "25%". Raises ValueError for any other text."""
        digits = text.removesuffix("%")
        if not _NUMBER.fullmatch(digits):
            raise ValueError(
                f"{text!r}: expected a number of hosts or a percentage such as 25%"
            )

        # A number may be larger than that of the hosts; a percentage may not.
        amount = cls(int(digits), percent=digits != text)
        if amount.percent and amount.number > 100:
            raise ValueError(f"{text!r}: more than 100%")
        return amount

    def of(self, hosts: int) -> int:
        """Return the number of hosts, out of `hosts` in total; a percentage is rounded down."""
        if self.percent:
            return hosts * self.number // 100
        return self.number


def batches(hosts: Sequence[str], serial: Amount | None) -> Iterator[Sequence[str]]:
    """Yield the hosts of each batch: all of them, or `serial` (at least one) at a time."""
    size = len(hosts)
    if serial is not None:
        size = serial.of(len(hosts))
    size = max(1, size)  # a small percentage of a few hosts is none of them

    for start in range(0, len(hosts), size):
        yield hosts[start : start + size]


def failures_allowed(most: Amount | None, serial: Amount | None, hosts: int) -> int:
    """Return how many hosts may fail; after more failures, the run connects to no further host.

    Without --max-fail, a run with --serial allows no failure, and any other run allows all.
    """
    if most is not None:
        return most.of(hosts)
    if serial is not None:
        return 0
    return hosts


def pause(attempt: int) -> float:
    """Return the seconds to wait between attempt number `attempt` (from 1) and the next one."""
    doubled = 2.0 ** (attempt - 1)
    return min(doubled, _LONGEST_PAUSE)

"""When the lock may be written: a file on a coarse clock must rest first."""

import pytest

from host.lock.write_lock import is_settled

SECOND = 1_000_000_000
NOW = 1_800_000_000 * SECOND


def of(modified: int, changed: int) -> str:
    return f"{modified} {changed} 10 99"


STAMPS = {
    "no file": ("", True),
    "a fine clock, just now": (of(NOW - 5, NOW - 5), True),
    "whole seconds, this second": (of(NOW, NOW), False),
    "whole seconds, two seconds ago": (of(NOW - 2 * SECOND, NOW - 2 * SECOND), False),
    "whole seconds, three seconds ago": (of(NOW - 3 * SECOND, NOW - 3 * SECOND), True),
    "the server's clock is ahead": (of(NOW + 9 * SECOND, NOW + 9 * SECOND), False),
    "touched to whole seconds, a fine clock": (of(NOW, NOW - 5), True),
}


@pytest.mark.parametrize(("stamp", "settled"), STAMPS.values(), ids=STAMPS)
def test_is_settled(stamp: str, settled: bool) -> None:
    assert is_settled({"/old": of(SECOND, SECOND), "/file": stamp}, NOW) is settled

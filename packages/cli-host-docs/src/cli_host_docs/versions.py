"""Compare version constraints such as `>=1.6,<2`."""

from __future__ import annotations

from itertools import takewhile

_ABOVE_ALL = 1 << 60  # larger than any part of a version


def accepts_all(new: str, old: str) -> bool:
    """Return whether the constraints `new` accept every version that `old` accepts.

    Between two versions that the constraints name, all versions are alike. So it is enough to try
    each of these versions, and one directly below and above it.
    """
    constraints = _constraints(new) + _constraints(old)
    versions = [[0], [_ABOVE_ALL]]
    for _, version in constraints:
        below = [-1]
        if version:
            below = [*version[:-1], version[-1] - 1, _ABOVE_ALL]
        above = [*version, 0, 1]
        versions += [below, version, above]

    for version in versions:
        if _accepts(old, version) and not _accepts(new, version):
            return False
    return True


def _accepts(constraints: str, version: list[int]) -> bool:
    for operator, other in _constraints(constraints):
        if version == other:
            sign = "="
        elif version > other:
            sign = ">"
        else:
            sign = "<"

        if sign not in operator:
            return False
    return True


def _constraints(text: str) -> list[tuple[str, list[int]]]:
    """Return each constraint as its operator and the numbers of its version."""
    constraints = []
    for constraint in filter(None, text.split(",")):
        operator = "".join(takewhile("<>=".__contains__, constraint))
        version = constraint.removeprefix(operator)
        numbers = [int(part) for part in version.split(".")]
        while numbers and not numbers[-1]:  # 1.6 and 1.6.0 are the same version
            numbers.pop()
        constraints.append((operator, numbers))
    return constraints

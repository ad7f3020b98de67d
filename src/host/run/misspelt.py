"""Names that look like misspelt ones of a known few."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_LONG = 8  # characters: in such a name two slips are likely, in a shorter one a single one
_LONGEST = 40  # no name of ours comes near it
_SYSTEMS = {"macos": "mac", "macosx": "mac", "osx": "mac", "darwin": "mac", "gnulinux": "linux"}


def meant(name: str, known: "Iterable[str]") -> str:
    """Return the one of `known` that `name` is likely to mean, or "".

    Letter case, `-` and `_` make no difference, and neither does a plural. A slip is a
    letter too many, missing, wrong or changed with its neighbour.
    """
    folded = _folded(name)
    if len(folded) > _LONGEST:
        return ""
    slips = {ours: _slips(folded, _folded(ours)) for ours in known}
    near = [ours for ours, count in slips.items() if count <= _allowed(_folded(ours))]
    return min(near, key=slips.__getitem__, default="")


def meant_system(name: str) -> str:
    """Return the name of a system (SPEC 2.3) that `name` is likely to mean, or ""."""
    folded = _folded(name).replace(" ", "").replace("/", "")
    return _SYSTEMS.get(folded) or meant(folded, ("linux", "mac"))


def _folded(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _allowed(name: str) -> int:
    return 0 if len(name) < 4 else 2 if len(name) >= _LONG else 1


def _slips(one: str, other: str) -> int:
    """Return the distance of two names (Damerau and Levenshtein's, restricted)."""
    if f"{one}es" == other:
        return 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for index, letter in enumerate(one):
        earlier, before = before, row
        row = [index + 1]
        for at, expected in enumerate(other):
            cost = min(before[at] + (letter != expected), before[at + 1] + 1, row[at] + 1)
            changed = index and at and letter == other[at - 1] and one[index - 1] == expected
            row.append(min(cost, earlier[at - 1] + 1) if changed else cost)
    return row[-1]

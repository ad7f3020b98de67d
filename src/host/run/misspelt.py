"""Names that look like misspelt ones: of a known few, or of any number."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_LONG = 8  # characters: in such a name two slips are likely, in a shorter one a single one
_LONGEST = 64  # no name of ours is longer
_SYSTEMS = {"macos": "mac", "macosx": "mac", "osx": "mac", "darwin": "mac", "gnulinux": "linux"}
_ALIKE = 0.6  # the part of the letters of both that a suggested name has in common with a word
_WRONG = 1.9  # letters that a wrong one makes a difference of: nearly one missing, one too many
_MOST = 3  # names in a suggestion
_MOST_COMPARED = 300  # letter by letter; a comparison takes some 30 µs
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789."


def meant(name: str, known: "Iterable[str]") -> str:
    """Return the one of `known` that `name` is likely to mean, or "".

    Letter case, `-` and `_` make no difference, and neither does a plural. A slip is a
    letter too many, missing, wrong or changed with its neighbour.
    """
    folded = _folded(name)
    if len(folded) > _LONGEST:
        return ""
    slips = {ours: _apart(folded, _folded(ours)) for ours in known}
    near = [ours for ours, count in slips.items() if count <= _allowed(_folded(ours))]
    return min(near, key=slips.__getitem__, default="")


def meant_system(name: str) -> str:
    """Return the name of a system (SPEC 2.3) that `name` is likely to mean, or ""."""
    folded = _folded(name).replace(" ", "").replace("/", "")
    return _SYSTEMS.get(folded) or meant(folded, ("linux", "mac"))


def nearest(word: str, names: "Iterable[str]", *, alike: float = _ALIKE) -> list[str]:
    """Return the names most like `word`, the nearest first, at most three.

    Letter case, `-` and `_` make no difference: one that is the same but for these is the only one.
    """
    wanted = _folded(word)
    names = list(names)
    folded = _folded("\0".join(names)).split("\0")  # at once: there may be a hundred thousand
    if wanted and wanted in folded:
        return [names[folded.index(wanted)]]
    if not 1 < len(wanted) <= _LONGEST:
        return []
    short = len(wanted) == 2  # one slip is half of it
    near = []
    for name in _comparable(wanted, folded, 0.5 if short else alike):
        letters = len(wanted) + len(name)
        apart = _apart(wanted, name, wrong=1 if short else _WRONG)
        if apart <= 1 if short else letters - apart >= alike * letters:
            near.append((apart / letters, sorted(name) != sorted(wanted), name))
    return [names[folded.index(name)] for *_, name in sorted(near)[:_MOST]]


def _comparable(wanted: str, names: list[str], alike: float) -> "Collection[str]":
    """Return the names that a look at their length and letters leaves, bounded in number.

    Of more than are to be compared, those that one slip makes of `wanted` and those beside it.
    """
    size = len(wanted)
    foreign = "\0".join(names).translate(dict.fromkeys(map(ord, wanted))).split("\0")
    likely = {
        name
        for name, letters in zip(names, foreign, strict=False)
        if 2 * (len(name) - len(letters)) >= alike * (len(name) + size)
        and abs(len(name) - size) < size
    }
    if len(likely) <= _MOST_COMPARED:
        return likely
    from bisect import bisect

    in_order = sorted(likely)
    middle = max(bisect(in_order, wanted), _MOST_COMPARED // 2)
    beside = in_order[middle - _MOST_COMPARED // 2 : middle + _MOST_COMPARED // 2]
    return {*beside, *likely.intersection(_slips(wanted))}


def _slips(word: str) -> "Iterator[str]":
    """Yield what `word` may be with a letter too many, changed, missing or wrong."""
    for at in range(len(word) + 1):
        head, tail = word[:at], word[at:]
        yield head + tail[1:]
        yield head + tail[1:2] + tail[:1] + tail[2:]
        for letter in _LETTERS:
            yield head + letter + tail
            yield head + letter + tail[1:]


def _folded(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _allowed(name: str) -> int:
    return 0 if len(name) < 4 else 2 if len(name) >= _LONG else 1


def _apart(one: str, other: str, wrong: float = 1) -> float:
    """Return the distance of two names (Damerau and Levenshtein's, restricted).

    `wrong` is what a wrong letter counts; one too many, missing or changed counts 1.
    """
    if f"{one}es" == other:
        return 1
    before: list[float] = []
    row: list[float] = [*range(len(other) + 1)]
    for index, letter in enumerate(one):
        earlier, before = before, row
        row = [index + 1]
        for at, expected in enumerate(other):
            cost = min(before[at] + wrong * (letter != expected), before[at + 1] + 1, row[at] + 1)
            changed = index and at and letter == other[at - 1] and one[index - 1] == expected
            row.append(min(cost, earlier[at - 1] + 1) if changed else cost)
    return row[-1]

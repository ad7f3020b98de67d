"""Suggestions: known names that resemble a misspelt one."""

from host.errors import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SURELY = 0.8  # required similarity (0 to 1) of a suggestion for a key of a file

_LONGEST = 64  # letters in the longest word that gets suggestions
_MOST = 3
_MANY = 1000  # if there are more names, a suggestion must be very similar
_IGNORED = str.maketrans("", "", "-_ /")


def closest(word: str, names: "Iterable[str]", alike: float = 0) -> list[str]:
    """Return at most three of `names` that resemble `word`, the nearest first.

    Letter case, `-`, `_`, `/` and blanks are ignored; a name that differs only in these is the only
    result. `alike` is the required similarity (0 to 1), by default that of a typical typo.
    """
    folded: dict[str, str] = {}
    for name in names:
        folded.setdefault(_folded(name), name)
    bare = _folded(word)
    if bare and bare in folded:
        return [folded[bare]]
    size = len(bare)
    if not 1 < size <= _LONGEST:
        return []

    if not alike:
        alike = _usual_similarity(size, len(folded))
    likely = _likely(bare, folded, alike)
    if not likely:
        return []
    from difflib import get_close_matches  # imports `re` (10 ms)

    matches = get_close_matches(bare, likely, _MOST, alike)
    return [folded[name] for name in matches]


def _likely(word: str, names: "Iterable[str]", alike: float) -> list[str]:
    """Return the names that may resemble `word`, judged by their lengths and letters.

    The others, which are most, need not be compared, which is slow.
    """
    size = len(word)
    most_beside = size  # allowed difference in length
    if alike >= SURELY:
        most_beside = 3

    letters = set(word)
    likely = []
    for name in names:
        if abs(size - len(name)) > most_beside:
            continue
        common = min(size, sum(map(name.count, letters)))
        if 2 * common >= alike * (size + len(name)):
            likely.append(name)
    return likely


def _usual_similarity(size: int, count: int) -> float:
    """Return the similarity of a typo in a word of `size` letters, among `count` names."""
    if size == 2:
        return 0.5
    if count > _MANY:
        return SURELY
    return 0.6


def did_you_mean(word: str, names: "Iterable[str]") -> str:
    """Return a remedy with the name that resembles `word` most, or "" if none resembles it."""
    matches = closest(word, names)
    if not matches:
        return ""
    return f"did you mean {matches[0]}?"


def unknown_names(
    path: str, key: str, names: "Iterable[str]", known: "Sequence[str]"
) -> list[Problem]:
    """Return a problem for each of `names` that is not in `known`, with the nearest name."""
    problems = []
    for name in names:
        if name not in known:
            what = f"{name} is not one of {', '.join(known)}"
            remedy = did_you_mean(name, known)
            problems.append(Problem(path, what, remedy, key))
    return problems


def _folded(name: str) -> str:
    return name.lower().translate(_IGNORED)

"""Recognize words of commands, names of variables, numbers and requests for help; without `re`."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


_WORD_START = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_WORD = _WORD_START | frozenset("._-")
NAME_START = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_")
NAME_CHARACTERS = NAME_START | frozenset("0123456789")
WORD_RULE = "use at most 64 letters, digits and ._- for a word, and begin with a letter or digit"


def is_word(text: str) -> bool:
    """Return whether `text` can be a word: `[A-Za-z0-9][A-Za-z0-9._-]*`, at most 64 characters."""
    return text[:1] in _WORD_START and _WORD.issuperset(text) and len(text) <= 64


def is_name(text: str) -> bool:
    """Return whether `text` is a variable's name: `[A-Za-z_][A-Za-z0-9_]*`."""
    return text[:1] in NAME_START and NAME_CHARACTERS.issuperset(text)


def is_digits(text: str) -> bool:
    """Return whether `text` consists of ASCII digits, and has at least one."""
    return text.isascii() and text.isdigit()


def asks_help(args: "Sequence[str]") -> bool:
    """Return whether a command's only argument is `--help` or `-h`."""
    return len(args) == 1 and args[0] in ("--help", "-h")

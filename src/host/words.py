"""Recognize words of commands, names of variables, numbers and requests for help; without `re`."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SELF = "self"  # the first word of the commands that manage the program itself
RESERVED_WORDS = (SELF, "help")  # first words that no folder can define
TOPICS = (  # the words after `help`; `host.pages.topics` has their pages
    "options",
    "definitions",
    "arguments",
    "precedence",
    "env-files",
    "plugins",
    "exit-status",
    "colour",
)
_LONGEST = 64  # characters of a word
WORD_RULE = "use at most 64 letters, digits and ._- for a word, and begin with a letter or digit"


def is_word(text: str) -> bool:
    """Return whether `text` can be a word: `[A-Za-z0-9][A-Za-z0-9._-]*`, at most 64 characters."""
    if not text.isascii() or len(text) > _LONGEST:
        return False
    letters = text.replace(".", "").replace("_", "").replace("-", "")
    return text[:1].isalnum() and letters.isalnum()


def is_name(text: str) -> bool:
    """Return whether `text` is a variable's name: `[A-Za-z_][A-Za-z0-9_]*`."""
    return text.isascii() and text.isidentifier()


def is_digits(text: str) -> bool:
    """Return whether `text` consists of ASCII digits, and has at least one."""
    return text.isascii() and text.isdigit()


def asks_help(args: "Sequence[str]") -> bool:
    """Return whether a command's only argument is `--help` or `-h`."""
    return len(args) == 1 and args[0] in ("--help", "-h")


def ends_in_help(args: "Sequence[str]") -> bool:
    """Return whether a command's last argument is `--help` or `-h`."""
    return len(args) > 0 and args[-1] in ("--help", "-h")


def takes_option(arguments: "Sequence[str]") -> bool:
    """Return whether the first word after a category is an option, but no request for help."""
    if not arguments or asks_help(arguments[:1]):
        return False
    return arguments[0].startswith("-")

"""The global options: what they are called, what they take, and what a command line asks for."""

from host.errors import UsageError
from host.run import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.run.text import Messages

HELP_WORDS = ("help", "--help", "-h")
COLOURS = ("auto", "always", "never")
FORMATS = ("text", "json", "tree")  # the program's own; plugins add others
VALUES = {"--color": COLOURS, "--format": FORMATS}  # what stands behind those that take one
OPTIONS = {
    "-h, --help": "show this, or with words before it their help",
    "-V, --version": "show the version",
    "--all": "list hidden commands and those for other systems too",
    "--format FORMAT": "list as text, json, tree, or a plugin's format",
    "--color WHEN": "auto, always or never",
    "--safe": "first: import no plugin's Python code",
    "--yes": "first: run what asks before it runs without asking",
    "--no-input": "first: never ask on the terminal",
}
# What those that take nothing make true of `GlobalOptions`, also behind the words of a category.
_FLAGS = {
    **dict.fromkeys(("-h", "--help"), "help"),
    **dict.fromkeys(("-V", "--version"), "version"),
    "--all": "everything",
}
_SWITCHES = ("--safe", "--yes", "--no-input")  # before the first word only


class GlobalOptions(Record):
    """What the global options ask for, and the words that they stand before."""

    words: tuple[str, ...] = ()
    help: bool = False
    version: bool = False
    everything: bool = False
    format: str | None = None
    switches: frozenset[str] = frozenset()

    @property
    def wants_answer(self) -> bool:
        """Whether they ask for an answer of this program: then no command is run."""
        return self.help or self.version or self.everything or self.format is not None


def take_option(words: list[str]) -> "tuple[str, str | None]":
    """Take the option that `words` begin with off them; return its name and its value.

    The value is None where the option takes none, or has none.
    """
    word = words.pop(0)
    name, sign, value = word.partition("=")
    if name not in VALUES:
        return word, None
    if not sign and not words:
        return name, None
    return name, value if sign else words.pop(0)


def parse_options(
    words: "Sequence[str]", messages: "Messages", category: "Sequence[str] | None" = None
) -> GlobalOptions:
    """Return what the options before the first word ask for; raises UsageError.

    After the words of a `category`, be it the root, only options of listings are allowed. --color
    is for `messages`.
    """
    asked, left = GlobalOptions(), list(words)
    label = " ".join([messages.program, *(category or ())])
    switches = _SWITCHES if category is None else ()
    while left and left[0].startswith("-") and left[0] != "--":
        option, value = take_option(left)
        if option == "--color":
            messages.color_mode = _color_mode(value)
        elif option == "--format":
            if value is None:
                raise UsageError(f"option '{option}' requires an argument", f"see: {label} --help")
            asked.format = value
        elif option in _FLAGS:
            setattr(asked, _FLAGS[option], True)
        elif option in switches:
            asked.switches |= {option}
        else:
            from host.run.suggestions import closest

            near = closest(option, (*_FLAGS, *VALUES, *switches))
            raise UsageError(f"no such option '{option}'", f"see: {label} --help", suggestions=near)
    refuse_separator(left, label)
    asked.words = tuple(left)
    return asked


def _color_mode(value: str | None) -> str:
    if value not in COLOURS:
        raise UsageError(f"--color: expected auto, always or never, found {value or 'nothing'}")
    return value


def refuse_separator(words: "Sequence[str]", label: str) -> None:
    """Raise UsageError for `--` before words that are no arguments."""
    if [*words[:1]] == ["--"]:
        raise UsageError("--: there are no arguments to keep apart here", f"see: {label} --help")


def without_color(words: "Sequence[str]", messages: "Messages") -> tuple[str, ...]:
    """Return the words of `self` or `help` without --color, which is for `messages`.

    Words after `--` stay. Raises UsageError.
    """
    kept, left = list[str](), list(words)
    while left and left[0] != "--":
        if left[0].partition("=")[0] == "--color":
            messages.color_mode = _color_mode(take_option(left)[1])
        else:
            kept.append(left.pop(0))
    return (*kept, *left)

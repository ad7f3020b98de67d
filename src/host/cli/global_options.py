"""The global options: their names, values and parser."""

from host.errors import UsageError
from host.run import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.run.text import Messages

HELP_WORDS = ("help", "--help", "-h")
FORMATS = ("text", "json", "tree")  # built in; plugins add others
VALUES = {"--color": ("auto", "always", "never"), "--format": FORMATS}  # of options with a value
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
# The attribute of `GlobalOptions` that each option without a value sets.
_FLAGS = {"-h": "help", "--help": "help", "--all": "everything"}
_VERSION = {"-V": "version", "--version": "version"}
_SWITCHES = ("--safe", "--yes", "--no-input")


class GlobalOptions(Record):
    """The parsed global options, and the words after them."""

    words: tuple[str, ...] = ()
    help: bool = False
    version: bool = False
    everything: bool = False
    format: str = ""
    switches: frozenset[str] = frozenset()

    @property
    def wants_answer(self) -> bool:
        """Whether an option asks for a listing, help or version, so that no command runs."""
        return self.help or self.version or self.everything or self.format != ""


def take_option(words: list[str]) -> "tuple[str, str | None]":
    """Remove the option at the start of `words`; return its name and value.

    The value is None if the option takes none or none is given.
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
    """Parse the options before the first word; raises UsageError.

    After the words of a `category` (or of the root) only options of listings are allowed. --color
    sets the colour mode of `messages`.
    """
    asked, left = GlobalOptions(), list(words)
    see = f"see: {' '.join([messages.program, *(category or ()), '--help'])}"
    flags = _FLAGS | _VERSION if category is None else _FLAGS
    switches = _SWITCHES if category is None else ()
    while left and left[0].startswith("-"):
        option, value = take_option(left)
        if option in VALUES:
            if not value or (option == "--color" and value not in VALUES[option]):
                expected = f"expected {', '.join(VALUES[option])}; found {value or 'nothing'}"
                raise UsageError(f"{option}: {expected}", see)
            if option == "--color":
                messages.color_mode = value
            else:
                asked.format = value
        elif option in flags:
            setattr(asked, flags[option], True)
        elif option in switches:
            asked.switches |= {option}
        else:
            from host.run.suggestions import closest

            near = closest(option, (*flags, *VALUES, *switches))
            raise UsageError(f"no such option '{option}'", see, suggestions=near)
    asked.words = tuple(left)
    return asked

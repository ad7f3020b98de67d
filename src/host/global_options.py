"""The global options: their names, values and parser."""

from host.errors import UsageError
from host.record_base import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.messages import Messages

HELP_WORDS = ("help", "--help", "-h")
FORMATS = ("text", "json", "tree")  # built-in formats; plugins add others
VALUES = {  # the values of each option that has one
    "--color": ("auto", "always", "never"),
    "--format": FORMATS,
}
OPTIONS = {
    "-h, --help": "show this page, or the help for a command",
    "-V, --version": "show the version",
    "--all": "also list hidden commands and commands for other systems",
    "--format FORMAT": "list as text, json, tree or a plugin's format",
    "--color WHEN": "use colours: auto, always or never",
    "--explain": "show what a command would run, without running it",
    "--safe": "run without third-party Python (must come first)",
    "--yes": "run without asking for confirmation (must come first)",
    "--no-input": "never ask on the terminal (must come first)",
}
# The attribute of `GlobalOptions` that each option without a value sets.
_SHORT = {"-h": "help", "-V": "version"}
_FLAGS = {
    "--help": "help",
    "--version": "version",
    "--all": "everything",
    "--explain": "explain",
    **_SHORT,
}
_SWITCHES = ("--safe", "--yes", "--no-input")
# Also allowed after the words of a category.
OF_LISTINGS = ("--help", "-h", "--all", *VALUES)


class GlobalOptions(Record):
    """The parsed global options, and the words after them."""

    words: tuple[str, ...] = ()
    help: bool = False
    version: bool = False
    everything: bool = False
    explain: bool = False
    format: str = ""
    switches: frozenset[str] = frozenset()

    @property
    def wants_answer(self) -> bool:
        """Whether an option asks for a page, a listing or the version, so that no command runs."""
        flags = (self.help, self.version, self.everything, self.explain)
        return any(flags) or self.format != ""


def read_options(words: "Sequence[str]", messages: "Messages") -> GlobalOptions:
    """Read the options at the start of a command line; `words` of the result are the others.

    --color sets the colour mode of `messages`. Raises UsageError.
    """
    known = (*_FLAGS, *VALUES, *_SWITCHES)
    see = f"see: {messages.program} --help"
    return _read(words, messages, GlobalOptions(), known, see)


def read_listing_options(
    words: "Sequence[str]",
    messages: "Messages",
    options: GlobalOptions,
    category: "Sequence[str]",
) -> GlobalOptions:
    """Read the options after the words of a category, beside the `options` before these words.

    Only options for listings are allowed. --color sets the colour mode of `messages`. Raises
    UsageError.
    """
    page = " ".join([messages.program, *category, "--help"])
    return _read(words, messages, options, OF_LISTINGS, f"see: {page}")


def _read(
    words: "Sequence[str]",
    messages: "Messages",
    options: GlobalOptions,
    known: "Sequence[str]",
    see: str,
) -> GlobalOptions:
    values = options.values()
    left = list(words)
    while left and left[0].startswith("-"):
        option, value = take_option(left)
        if option not in known:
            from host.suggestions import closest

            near = closest(option, known)
            raise UsageError(f"no such option '{option}'", see, suggestions=near)

        if option in _FLAGS:
            values[_FLAGS[option]] = True
            continue
        if option in _SWITCHES:
            values["switches"] |= {option}
            continue

        choices = VALUES[option]
        expected = f"{option}: expected {', '.join(choices)}"
        if not value:
            raise UsageError(f"{expected}; found nothing", see)
        # Plugins add formats, so only the colour is checked here.
        if option == "--format":
            values["format"] = value
            continue
        if value not in choices:
            raise UsageError(f"{expected}; found {value}", see)
        messages.color_mode = value

    values["words"] = tuple(left)
    return GlobalOptions(**values)


def take_option(words: list[str]) -> "tuple[str, str | None]":
    """Remove the option at the start of `words`; return its name and value.

    The value is None if the option takes no value, or if no value is given.
    """
    word = words.pop(0)
    name, sign, value = word.partition("=")
    if name not in VALUES:
        return word, None

    if sign:
        return name, value
    if words:
        return name, words.pop(0)
    return name, None

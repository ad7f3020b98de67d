"""The global options: their names, values and parser."""

from host.errors import UsageError
from host.run.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.run.messages import Messages

HELP_WORDS = ("help", "--help", "-h")
FORMATS = ("text", "json", "tree")  # built-in formats; plugins add others
VALUES = {
    "--color": ("auto", "always", "never"),
    "--format": FORMATS,
}  # values of options
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
OF_LISTINGS = (
    "--help",
    "-h",
    "--all",
    *VALUES,
)  # also allowed after the words of a category


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

    def read(
        self,
        words: "Sequence[str]",
        messages: "Messages",
        category: "Sequence[str] | None" = None,
    ) -> None:
        """Read the options at the start of `words`, and keep the other words. Raises UsageError.

        `category`, if given, has the words before `words`; only listing options are allowed then.
        --color sets the colour mode of `messages`.
        """
        left = list(words)
        see = f"see: {' '.join([messages.program, *(category or ()), '--help'])}"
        known = (*_FLAGS, *VALUES, *_SWITCHES) if category is None else OF_LISTINGS
        while left and left[0].startswith("-"):
            option, value = take_option(left)
            if option not in known:
                from host.run.suggestions import closest

                near = closest(option, known)
                raise UsageError(f"no such option '{option}'", see, suggestions=near)
            if option in _FLAGS:
                setattr(self, _FLAGS[option], True)
            elif option in _SWITCHES:
                self.switches |= {option}
            elif not value or (option == "--color" and value not in VALUES[option]):
                expected = (
                    f"expected {', '.join(VALUES[option])}; found {value or 'nothing'}"
                )
                raise UsageError(f"{option}: {expected}", see)
            elif option == "--color":
                messages.color_mode = value
            else:
                self.format = value
        self.words = tuple(left)


def take_option(words: list[str]) -> "tuple[str, str | None]":
    """Remove the option at the start of `words`; return its name and value.

    The value is None if the option takes no value, or if no value is given.
    """
    word = words.pop(0)
    name, sign, value = word.partition("=")
    if name not in VALUES:
        return word, None
    if not sign and not words:
        return name, None
    return name, value if sign else words.pop(0)

"""The global options: what a command line that runs no command asks for."""

from host.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

HELP_WORDS = ("help", "--help", "-h")
COLOURS = ("auto", "always", "never")
FORMATS = ("text", "json", "tree")  # the program's own; plugins add others
OPTIONS = {
    "-h, --help": "show this, or with words before it their help",
    "-V, --version": "show the version",
    "--all": "list hidden commands and those for other systems too",
    "--format FORMAT": "list as text, json, tree, or a plugin's format",
    "--color WHEN": "auto, always or never",
    "--safe": "first: import no plugin's Python code",
    "--yes": "first: run what asks before it runs without asking",
}


class GlobalOptions:
    """What the global options ask for, and the words that they stand before."""

    __slots__ = ("color", "everything", "format", "help", "version", "words")

    def __init__(self, words: tuple[str, ...] = ()) -> None:
        self.words = words
        self.help = False
        self.version = False
        self.everything = False
        self.format = ""
        self.color = ""


def parse_options(words: "Sequence[str]", label: str) -> GlobalOptions:
    """Return what the options before the first word ask for; raises UsageError.

    `label` is the invocation that they belong to, for the error.
    """
    asked, left = GlobalOptions(), list(words)
    while left and left[0].startswith("-") and left[0] != "--":
        word = left[0]
        name, sign, value = word.partition("=")
        if name == "--color":
            asked.color, left = take_color(left)
            continue
        left = left[1:]
        if name == "--format":
            if not sign and not left:
                raise UsageError(f"option '{name}' requires an argument", f"see: {label} --help")
            asked.format, left = (value, left) if sign else (left[0], left[1:])
        elif word in HELP_WORDS:
            asked.help = True
        elif word in ("-V", "--version"):
            asked.version = True
        elif word == "--all":
            asked.everything = True
        else:
            raise _unknown(word, label)
    refuse_separator(left, label)
    asked.words = tuple(left)
    return asked


def _unknown(word: str, label: str) -> UsageError:
    from host.run.misspelt import nearest

    near = nearest(word, ["--help", "--version", "--all", "--format", "--color"])
    return UsageError(f"no such option '{word}'", f"see: {label} --help", suggestions=near)


def refuse_separator(words: "Sequence[str]", label: str) -> None:
    """Raise UsageError for `--` before words that are no arguments."""
    if words[:1] in (["--"], ("--",)):
        raise UsageError("--: there are no arguments to keep apart here", f"see: {label} --help")


def take_color(words: "Sequence[str]") -> tuple[str, list[str]]:
    """Return what the --color at the beginning of `words` says, and the words behind it.

    Raises UsageError for a wrong value.
    """
    _, sign, value = words[0].partition("=")
    value, left = (value, words[1:]) if sign else ("".join(words[1:2]), words[2:])
    if value not in COLOURS:
        said = f"expected auto, always or never, found {value or 'nothing'}"
        raise UsageError(f"--color: {said}")
    return value, list(left)


def without_color(words: "Sequence[str]") -> tuple[tuple[str, ...], str]:
    """Return `words` without --color, and what it says, "" where it is not among them.

    For words that no command of an installation gets: of `self` and `help`. Words behind
    `--` stay. Raises UsageError for a wrong value.
    """
    kept: list[str] = []
    chosen = ""
    left = list(words)
    while left and left[0] != "--":
        if left[0].partition("=")[0] == "--color":
            chosen, left = take_color(left)
        else:
            kept.append(left.pop(0))
    return (*kept, *left), chosen

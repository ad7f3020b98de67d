"""The global options: what a command line that runs no command asks for."""

from itertools import dropwhile

from host.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

HELP_WORDS = ("help", "--help", "-h")
COLOURS = ("auto", "always", "never")
_VERSION_WORDS = ("--version", "-V")


class Asked:
    """What the global options ask for, and the words that they stand before."""

    __slots__ = ("color", "everything", "format", "help", "version", "words")

    def __init__(
        self,
        words: tuple[str, ...],
        help: bool = False,
        version: bool = False,
        everything: bool = False,
        format: str = "",
        color: str | None = None,
    ) -> None:
        self.words = words
        self.help = help
        self.version = version
        self.everything = everything
        self.format = format
        self.color = color or ""

    @property
    def lists(self) -> bool:
        return self.everything or bool(self.format)


def parse_options(words: "Sequence[str]", label: str) -> Asked:
    """Return the options before the first word; raises UsageError for an unknown one.

    `label` is the invocation that they belong to, for the error. click reads them;
    where there is none, or just one that everybody knows, nobody waits for its import.
    """
    refuse_separator([*dropwhile(_is_option, words)], label)
    if not words or not words[0].startswith("-"):
        return Asked(tuple(words))
    if len(words) == 1 and words[0] in (*HELP_WORDS, *_VERSION_WORDS):
        return Asked((), help=words[0] in HELP_WORDS, version=words[0] in _VERSION_WORDS)
    from host.run.importing import complete_import_path

    complete_import_path("click")
    import click

    command = click.Command(
        "cli",
        params=[
            click.Option(HELP_WORDS[1:], is_flag=True),
            click.Option(_VERSION_WORDS, is_flag=True),
            click.Option(["--all", "everything"], is_flag=True),
            click.Option(["--format"], default=""),
            click.Option(["--color"], default=None, type=click.Choice(COLOURS)),
            click.Argument(["words"], nargs=-1, type=click.UNPROCESSED),
        ],
        context_settings={"allow_interspersed_args": False},
        add_help_option=False,
    )
    try:
        return Asked(**command.make_context("cli", list(words)).params)
    except click.UsageError as error:
        raise UsageError(one_line(error.format_message()), f"see: {label} --help") from None


def _is_option(word: str) -> bool:
    return word.startswith("-") and word != "--"


def refuse_separator(words: "Sequence[str]", label: str) -> None:
    """Raise UsageError for `--` before words that are no arguments."""
    if words[:1] in (["--"], ("--",)):
        raise UsageError("--: there are no arguments to keep apart here", f"see: {label} --help")


def without_color(words: "Sequence[str]", label: str) -> tuple[tuple[str, ...], str]:
    """Return `words` without --color, and what it says, "" where it is not among them.

    For words that no command of an installation gets: of `self` and `help`. Words behind
    `--` stay. Raises UsageError for a wrong value.
    """
    kept: list[str] = []
    chosen = ""
    left = list(words)
    while left and left[0] != "--":
        word = left.pop(0)
        name, sign, value = word.partition("=")
        if name != "--color":
            kept.append(word)
            continue
        value = value if sign or not left else left.pop(0)
        if value not in COLOURS:
            said = f"expected auto, always or never, found {value or 'nothing'}"
            raise UsageError(f"--color: {said}", f"see: {label} --help")
        chosen = value
    return (*kept, *left), chosen


def one_line(message: str) -> str:
    """Return click's message in the style of ours: no capital, no full stop, one line."""
    text = " ".join(message.split()).rstrip(".")
    return text[:1].lower() + text[1:]

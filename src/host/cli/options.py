"""The global options: what a command line that runs no command asks for."""

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
    if not words or not words[0].startswith("-"):
        return Asked(tuple(words))
    if len(words) == 1 and words[0] in (*HELP_WORDS, *_VERSION_WORDS):
        return Asked((), help=words[0] in HELP_WORDS, version=words[0] in _VERSION_WORDS)
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
        raise UsageError(f"{one_line(error.format_message())}; see: {label} --help") from None


def one_line(message: str) -> str:
    """Return click's message in the style of ours: no capital, no full stop, one line."""
    text = " ".join(message.split()).rstrip(".")
    return text[:1].lower() + text[1:]

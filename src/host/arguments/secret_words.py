"""The secret words of a command line with declared arguments."""

from host.arguments.parser import HIDDEN, CommandLine, read_typed
from host.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.arguments.spec import Argument


def masked_words(arguments: "Sequence[Argument]", args: "Sequence[str]") -> list[str]:
    """Return the words of a command line with `********` in place of each secret text."""
    # Only an option that repeats keeps all of its values, and each of them is a secret.
    repeating = []
    for argument in arguments:
        repeats = argument.option or argument.repeats
        repeating.append(argument.replaced(repeats=repeats))

    # Nobody has checked the line: as much of it as can be parsed is masked.
    line = CommandLine(repeating, args)
    read_typed(line)
    try:
        line.assign_loose()
    except UsageError:
        pass

    secrets: list[str] = []
    for argument in arguments:
        if argument.secret:
            secrets += line.texts.get(argument.name, ())
    # The longest first: a shorter secret may be the end of a longer one.
    secrets.sort(key=len, reverse=True)
    return [_masked(word, secrets) for word in args]


def _masked(word: str, secrets: "Sequence[str]") -> str:
    if word == "--":
        return word
    for secret in secrets:
        if not secret:
            continue
        if word == secret:
            return HIDDEN
        if word.startswith("-") and word.endswith(secret):
            return word.removesuffix(secret) + HIDDEN
    return word

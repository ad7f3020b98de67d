"""The secret words of a command line with declared arguments."""

from host.arguments.parser import HIDDEN, CommandLine
from host.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.catalog.definition import Definition


def masked_words(definition: "Definition", args: "Sequence[str]") -> list[str]:
    """Return the words of a command line with `********` in place of each secret text.

    If the words do not fit the declaration, any of them may be the secret: all are masked.
    """
    arguments = definition.shown_args
    if not any(argument.secret for argument in arguments):
        return [*args]

    # Only an option that repeats keeps all of its values, and each of them is a secret.
    repeating = []
    for argument in arguments:
        repeats = argument.option or argument.repeats
        repeating.append(argument.replaced(repeats=repeats))
    line = CommandLine(repeating, args)
    try:
        line.read()
        line.assign_loose()
    except UsageError:
        return [HIDDEN] * len(args)
    # A script whose arguments are not checked may have options of its own.
    if definition.unchecked_args and any(word.startswith("-") for word in args):
        return [HIDDEN] * len(args)

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

"""Mask the secrets of a run in its arguments, before they are recorded."""

from host.caller import RUN
from host.errors import HostError
from host.secret_names import is_secret
from host.variables.masking import declared_secrets, masked_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from host.catalog.catalog import Catalog
    from host.catalog.definition import Definition
    from host.launch.plan import Run

MASK = "********"


def secret_values(run: "Run") -> set[str]:
    """Return all secret values among the run's variables, for masking.

    A value is secret because of its source, its variable's name or its declaration.
    """
    environment = run.layers.environment()
    declared = declared_secrets(run.definition, environment)

    def is_masked(name: str) -> bool:
        return name in declared or is_secret(name)

    values = set()
    for name, value in environment.items():
        if is_masked(name):
            values.add(value)

    # A script may print a value that another source has overridden.
    for name, assignments in run.layers.offered.items():
        is_secret_name = is_masked(name)
        for assignment in assignments:
            if is_secret_name or assignment.secret:
                values.add(assignment.value)

    values |= _secrets_of_outer_runs(run.installation.environ)
    return values - {""}


def _secrets_of_outer_runs(environ: "Mapping[str, str]") -> set[str]:
    """Return the secrets that the runs around this one have set.

    The script of an outer run may pass such a secret as an argument, whatever its variable's name.
    """
    if RUN not in environ:
        return set()
    from host.variables.nested import outer_runs  # loaded already in a nested run

    values = set()
    for outer in outer_runs(environ):
        for name, value_hash in outer.hashes.items():
            # A secret has no hash. This run does not get the others, but may get their values.
            if name in environ and (not value_hash or is_secret(name)):
                values.add(environ[name])
    return values


def masked_arguments(
    run: "Run", arguments: "Sequence[str]", secrets: "Collection[str]"
) -> "Sequence[str]":
    """Return the arguments of a run with `********` in place of `secrets` and secret arguments."""
    if not arguments:
        return ()
    shown = masked_as_declared(run.definition, arguments, run.catalog)
    # The text of a secret argument may stand in another word, too.
    return masked_lines(shown, {*secrets, *_masked_texts(arguments, shown)})


def masked_as_declared(
    definition: "Definition", arguments: "Sequence[str]", catalog: "Catalog"
) -> "Sequence[str]":
    """Return the arguments of a command with `********` in place of the secret ones.

    If the command starts others, the arguments may be the line of another command, anywhere behind
    options that only the command itself knows. So each command that they name masks those behind.
    """
    shown = _masked(definition, arguments)
    if not definition.starts_commands:
        return shown
    from host.launch.plan import find_named

    hidden = []
    for text in shown:
        hidden.append(_masked_within(definition, text, catalog))
    for start, word in enumerate(arguments):
        if word.startswith("-"):
            continue
        try:
            inner, rest = find_named(arguments[start:], catalog)
        except HostError:
            continue  # it cannot run
        if inner.definition is None or inner.kind != "command":
            continue
        first = len(arguments) - len(rest)
        for position, text in enumerate(_masked(inner.definition, rest), first):
            if text != arguments[position]:
                hidden[position] = text
    return hidden


def _masked_within(definition: "Definition", line: str, catalog: "Catalog") -> str:
    """Return a word, masked, that may be the line of another command for a shell."""
    words = line.split()
    if len(words) < 2:
        return line
    import shlex

    try:
        words = shlex.split(line)
    except ValueError:
        pass  # a quote is not closed
    shown = masked_as_declared(definition, words, catalog)
    for text in _masked_texts(words, shown):
        if text not in line:
            return MASK  # between quotes, part by part
        line = line.replace(text, MASK)
    return line


def _masked(definition: "Definition", arguments: "Sequence[str]") -> "Sequence[str]":
    """Return the arguments, masked, without the commands that they may name."""
    tree = definition.click
    if tree is not None:
        masked_by_tree: list[str] = tree.masked(arguments)
        return masked_by_tree
    if any(argument.secret for argument in definition.shown_args):
        from host.arguments.secret_words import masked_words  # needed by few commands

        return masked_words(definition, arguments)
    return arguments


def secret_arguments(run: "Run", arguments: "Sequence[str]") -> set[str]:
    """Return the values of the secret arguments, of `--pin=4711` only `4711`."""
    shown = masked_as_declared(run.definition, arguments, run.catalog)
    return _masked_texts(arguments, shown)


def _masked_texts(arguments: "Sequence[str]", shown: "Sequence[str]") -> set[str]:
    """Return the texts in place of which masked arguments have `********`."""
    values = set()
    for given, masked in zip(arguments, shown, strict=True):
        option = masked.removesuffix(MASK)
        if masked not in (given, option):
            values.add(given.removeprefix(option))
    return values - {""}

"""Mask the secrets of a run in its arguments and its output, before they are recorded."""

from host.run.history import KEPT_BYTES
from host.secrets import declared_secrets, is_secret, masked_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from host.run.plan import Run

MASK = "********"


def secret_values(run: "Run") -> set[str]:
    """Return all secret values among the run's variables, for masking.

    A value is secret because of its source, its variable's name or its declaration.
    """
    environment = run.layers.environment()
    declared = declared_secrets(run.definition, environment)
    secret = {value for name, value in environment.items() if name in declared or is_secret(name)}
    for name, assignments in run.layers.offered.items():
        for assignment in assignments:
            if assignment.secret or name in declared or is_secret(name):
                secret.add(assignment.value)
    return secret - {""}


def masked_arguments(
    run: "Run", arguments: "Sequence[str]", secrets: "Collection[str]"
) -> "Sequence[str]":
    """Return the arguments of a run with `********` in place of `secrets` and secret arguments."""
    if not arguments:
        return ()
    if any(argument.secret for argument in run.definition.all_args):
        from host.cli.prompt import masked_words  # needed by few commands

        arguments = masked_words(run.definition.all_args, arguments)
    return [masked_line(argument, secrets) for argument in arguments]


def masked_output(output: bytes, secrets: "Collection[str]") -> str:
    """Return the end of an output with `********` in place of `secrets`.

    Secrets are masked before the end is cut off, so that no part of one remains at the cut.
    """
    text = masked_line(output.decode("utf-8", "replace"), secrets)
    return text.encode()[-KEPT_BYTES:].decode("utf-8", "ignore")

"""User errors: each is one line on stderr and an exit status."""

from __future__ import annotations

import click

from host import OperationError, UsageError


class FleetError(UsageError):
    """Options, an inventory or a host set cannot be used; nothing was run. The exit status is 2."""


class NotAgreedError(OperationError):
    """The user did not confirm, or could not be asked; nothing was run. The exit status is 1."""


def unwritable(failure: OSError) -> OperationError:
    """Return the error about a stdout that takes nothing, for example on a full disk."""
    return OperationError(f"cannot write the output: {failure.strerror}")


def show(text: str) -> None:
    """Print a line on stdout; raises OperationError if it takes nothing."""
    try:
        click.echo(text)
    except BrokenPipeError:
        raise  # its reader is gone, which is no error
    except OSError as failure:
        raise unwritable(failure) from None

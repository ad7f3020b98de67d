"""User errors: each is one line on stderr and an exit status."""

from __future__ import annotations

from host import OperationError, UsageError


class FleetError(UsageError):
    """Options, an inventory or a set of hosts that cannot be used; nothing was run. Status 2."""


class NotAgreedError(OperationError):
    """The user did not confirm, or could not be asked; nothing was run. Status 1."""

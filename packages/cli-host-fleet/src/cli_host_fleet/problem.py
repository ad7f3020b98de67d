"""User errors: each is one line on stderr and an exit status."""

from __future__ import annotations

from host import OperationError, UsageError


class FleetError(UsageError):
    """Options, an inventory or a host set cannot be used; nothing was run. The exit status is 2."""


class NotAgreedError(OperationError):
    """The user did not confirm, or could not be asked; nothing was run. The exit status is 1."""

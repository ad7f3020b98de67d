"""The base of the package's click command: a user error is one line, as for every command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click

from host import UsageError


class OneLineCommand(click.Command):
    """Raises UsageError where click would print three lines, and exits with the status."""

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        **extra: Any,
    ) -> None:
        extra["standalone_mode"] = False
        try:
            status = super().main(args, prog_name, **extra)
        except click.UsageError as error:
            text = error.format_message().rstrip(".")
            raise UsageError(text, f"see: {prog_name} --help") from None
        sys.exit(status)

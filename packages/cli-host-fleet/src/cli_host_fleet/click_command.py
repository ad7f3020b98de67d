"""The base of fleet's click commands: a user error is one line, as for every other command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click

from cli_host_fleet.problem import NotAgreedError
from host import UsageError


class OneLineCommand(click.Command):
    """Raises UsageError where click would print three lines, and NotAgreedError for Ctrl-D."""

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
        except click.Abort as abort:
            if isinstance(abort.__context__, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            raise NotAgreedError("not confirmed; nothing was run") from None
        sys.exit(status)

"""Bases of click commands whose errors are one line, as those of every other command."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from host.errors import HostError, NotConfirmedError, OperationError, UsageError
from host.processes.exit_status import shown_status

if TYPE_CHECKING:
    from collections.abc import Sequence


class OneLineCommand(click.Command):
    """A click command whose errors are one line, where click prints the usage and a hint too.

    An integer that its function returns is the exit status::

        @click.command(cls=OneLineCommand)
        @click.option("--jobs", type=click.IntRange(min=1), default=1)
        def check(jobs: int) -> int:
            return 0 if all_is_well(jobs) else 1

    For a wrong command line, the error is `Missing argument 'NAME'; see: acme check --help`, and
    the exit status is 2. After Ctrl-D in answer to a question, the error is "not confirmed".
    Ctrl-C ends the command as it ends any program.
    """

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        **extra: Any,
    ) -> None:
        """Run the command and exit with its status; raise a HostError where click prints text."""
        extra["standalone_mode"] = False
        try:
            status = super().main(args, prog_name, **extra)
        except click.ClickException as error:
            raise host_error(error) from None
        except click.Abort as abort:
            # click raises the same exception for Ctrl-C, which must end the process as a signal.
            if isinstance(abort.__context__, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            # Ctrl-D leaves the cursor behind the question. For an EOFError that nobody has caught,
            # which is then the cause, click itself has ended the line.
            if isinstance(abort.__context__, EOFError) and abort.__cause__ is None:
                click.echo(err=True)
            raise NotConfirmedError("not confirmed") from None

        # click ignores what a function returns, so other values have no meaning.
        if not isinstance(status, int):
            status = 0
        sys.exit(shown_status(status))


class OneLineGroup(OneLineCommand, click.Group):
    """A click group whose errors, and those of its subcommands, are one line.

    See OneLineCommand. The subcommands need no base of their own::

        @click.group(cls=OneLineGroup)
        def machines() -> None: ...

        @machines.command()
        @click.argument("name")
        def restart(name: str) -> None: ...
    """


def host_error(error: click.ClickException) -> HostError:
    """Return the error that says in one line what `error` says."""
    if not isinstance(error, click.UsageError):
        return _FailedError(error)

    # Only some of its errors, in some of its versions, have near names.
    near = getattr(error, "possibilities", None)
    if near:
        return UsageError(_in_one_line(error.message), suggestions=sorted(near))

    text = error.format_message()
    if error.ctx is None:
        return UsageError(_in_one_line(text))
    if text == error.ctx.get_help():
        # Since click 8.2, the help page is the message of an error if there is no argument.
        text = "Missing arguments"
        if isinstance(error.ctx.command, click.Group):
            text = "Missing command"
    return UsageError(_in_one_line(text), f"see: {error.ctx.command_path} --help")


class _FailedError(OperationError):
    """Any other error of click; a class of a plugin may have its own exit status."""

    def __init__(self, error: click.ClickException) -> None:
        super().__init__(_in_one_line(error.format_message()))
        self.status = error.exit_code


def _in_one_line(text: str) -> str:
    # click puts each choice of a missing option on a line of its own.
    return " ".join(text.split()).rstrip(".")

"""Ask the user on the terminal, once for all hosts, before anything runs."""

from __future__ import annotations

import getpass
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click

from cli_host_fleet.problem import FleetError, NotAgreedError
from cli_host_fleet.session import Elevation
from cli_host_fleet.shortened import shortened
from host import Command, Program

_NOT_CONFIRMED = "not confirmed; nothing was run"


def confirm(
    program: Program, command: Command, hosts: Sequence[str], *, agreed: bool
) -> None:
    """Ask for the confirmation that the command's definition requires; raises NotAgreedError.

    `agreed` is fleet's own --yes; `cli --yes fleet …` and CLI_YES count as well.
    """
    question = command.definition.confirm
    if not question or agreed or program.assume_yes:
        return

    if not program.may_ask:
        name = " ".join(command.words)
        raise NotAgreedError(f"{name}: needs confirmation; to confirm: --yes")

    text = f"{question} (hosts: {shortened(hosts)})"
    with _ended_input_is_no():
        is_confirmed = click.confirm(text, err=True)
    if not is_confirmed:
        raise NotAgreedError(_NOT_CONFIRMED)


def become(program: Program, params: Mapping[str, Any]) -> Elevation | None:
    """Return the user to run the command as, if any; ask for the sudo password if requested."""
    asks = params["become_ask"]
    is_elevated = params["become"] or params["become_user"] or asks
    if not is_elevated:
        return None

    # The name becomes an argument of sudo, so it must not look like an option.
    user = params["become_user"] or "root"
    if user.startswith("-"):
        raise FleetError(f"--become-user {user}: not a valid user name")

    if not asks:
        return Elevation(user)
    if not program.may_ask:
        raise FleetError(
            "--become-ask: there is no terminal to ask on, or CI or --no-input is set"
        )
    with _ended_input_is_no():
        password = getpass.getpass("sudo password on the hosts: ")
    return Elevation(user, password.encode())


@contextmanager
def _ended_input_is_no() -> Iterator[None]:
    """Raise NotAgreedError for Ctrl-D in answer to a question; Ctrl-C goes on as it is."""
    try:
        yield
    except (EOFError, click.Abort) as end:
        if isinstance(end.__context__, KeyboardInterrupt):
            raise
        click.echo(err=True)  # ends the line of the question
        raise NotAgreedError(_NOT_CONFIRMED) from None

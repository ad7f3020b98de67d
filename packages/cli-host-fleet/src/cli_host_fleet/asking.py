"""Ask the user on the terminal, once for all hosts, before anything runs."""

from __future__ import annotations

import getpass
from collections.abc import Mapping, Sequence
from typing import Any

import click

from cli_host_fleet.problem import FleetError, NotAgreedError
from cli_host_fleet.session import Elevation
from host import Command, Program

_MOST_NAMED = 5


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
        raise NotAgreedError(
            f"{' '.join(command.words)}: needs confirmation; to confirm: --yes"
        )
    shown = ", ".join(hosts[:_MOST_NAMED])
    if len(hosts) > _MOST_NAMED:
        shown += f" and {len(hosts) - _MOST_NAMED} more"
    if not click.confirm(f"{question} (hosts: {shown})", err=True):
        raise NotAgreedError("not confirmed; nothing was run")


def become(program: Program, given: Mapping[str, Any]) -> Elevation | None:
    """Return the user to run the command as, if any; ask for the sudo password if requested."""
    user, ask = given["become_user"] or "root", given["become_ask"]
    if not (given["become"] or given["become_user"] or ask):
        return None
    if user.startswith("-"):
        raise FleetError(f"--become-user {user}: not a valid user name")
    if not ask:
        return Elevation(user)
    if not program.may_ask:
        raise FleetError(
            "--become-ask: there is no terminal to ask on, or CI or --no-input is set"
        )
    return Elevation(user, getpass.getpass("sudo password on the hosts: ").encode())

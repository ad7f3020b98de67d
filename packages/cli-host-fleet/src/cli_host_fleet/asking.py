"""Ask the user on the terminal, once for all hosts, before anything runs."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from cli_host_fleet.problem import FleetError, NotAgreedError
from cli_host_fleet.session import Elevation
from host import Command


def confirm(command: Command, hosts: Sequence[str], agreed: bool) -> None:
    """Ask for the confirmation that the command's definition requires; raises NotAgreedError."""
    question = command.definition.confirm
    if not question or agreed or os.environ.get("CLI_YES") == "1":
        return
    if not sys.stdin.isatty():
        raise NotAgreedError(f"{' '.join(command.words)}: needs confirmation; to confirm: --yes")
    shown = ", ".join(hosts[:5]) + (f" and {len(hosts) - 5} more" if len(hosts) > 5 else "")
    if not click.confirm(f"{question} (hosts: {shown})", err=True):
        raise NotAgreedError("not confirmed; nothing was run")


def become(given: Mapping[str, Any]) -> Elevation | None:
    """Return the user to run the command as, if any; ask for the sudo password if requested."""
    user, ask = given["become_user"] or "root", given["become_ask"]
    if not (given["become"] or given["become_user"] or ask):
        return None
    if user.startswith("-"):
        raise FleetError(f"--become-user {user}: not a valid user name")
    if not ask:
        return Elevation(user)
    try:
        os.close(os.open("/dev/tty", os.O_RDWR))
    except OSError:
        raise FleetError("--become-ask: there is no terminal to ask on") from None
    return Elevation(user, getpass.getpass("sudo password on the hosts: ").encode())

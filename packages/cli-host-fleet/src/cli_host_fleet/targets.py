"""The options that select hosts and configure their connections."""

from __future__ import annotations

import functools
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import click

from cli_host_fleet import remembered, ssh
from cli_host_fleet.inventory import read_inventory
from cli_host_fleet.node_sets import names_of
from cli_host_fleet.problem import FleetError
from cli_host_fleet.ssh import Calling, Host
from host import MissingError, Program

_MOST_NAMED = 5
_TIME = re.compile(r"([0-9]+[smhdw]?)+", re.IGNORECASE)  # the format of times in ssh_config


@dataclass(frozen=True, slots=True)
class Targets:
    """The values of the options that select hosts."""

    on: str
    left_out: str
    inventory: str
    ssh_config: str
    user: str

    def hosts(self, program: Program) -> dict[str, Host]:
        """Return the hosts by name, in order; warn about inventory settings that have no effect."""
        inventory = read_inventory(self.inventory, self.ssh_config)
        file = remembered.place(os.environ, program.root)
        users = names_of(
            *(self.on, self.left_out, inventory, lambda: remembered.recall(file), self.user)
        )
        hosts = {name: inventory.host(name) for name in users}
        ignored = sorted({key for host in hosts.values() for key in host.ignored})
        if ignored:
            more = f" and {len(ignored) - _MOST_NAMED} more" if len(ignored) > _MOST_NAMED else ""
            program.messages.warn(
                f"{self.inventory}: ignored: {', '.join(ignored[:_MOST_NAMED])}{more}; "
                "set the connection in ssh_config, and the command's user with --become-user"
            )
        return {name: replace(host, user=users[name] or host.user) for name, host in hosts.items()}


def target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `Targets` to a click command, whose argument `targets` receives them."""

    @click.option("--on", required=True, metavar="SET", help="Hosts: web[01-20], @group, me@web1.")
    @click.option("--except", "left_out", default="", metavar="SET", help="Leave out these hosts.")
    @click.option(
        "--inventory",
        default="",
        metavar="FILE",
        help="JSON as ansible-inventory --list prints it, or a program that prints it.",
    )
    @click.option("--ssh-config", default="", metavar="FILE", help="Use FILE, not ~/.ssh/config.")
    @click.option("-l", "--user", default="", metavar="USER", help="Log in as USER.")
    @functools.wraps(command)
    def wrapped(
        on: str, left_out: str, inventory: str, ssh_config: str, user: str, **others: Any
    ) -> Any:
        return command(targets=Targets(on, left_out, inventory, ssh_config, user), **others)

    return wrapped


def connecting_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add to a command the options for connections and sudo, which `calling` and `become` read."""
    options = [
        click.option("--forks", type=click.IntRange(1), default=20, show_default=True),
        click.option("--connect-timeout", type=click.IntRange(1), default=10, show_default=True),
        click.option(
            "--keep-connections",
            metavar="TIME",
            help="Keep connections open for TIME (default: as in ssh_config, or 60s).",
        ),
        click.option("--become", is_flag=True, help="Run as root, with sudo."),
        click.option("--become-user", metavar="USER", help="Run as USER, with sudo."),
        click.option("--become-ask", is_flag=True, help="Ask for the sudo password, once."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def calling(targets: Targets, given: Mapping[str, Any]) -> Calling:
    """Return the parameters for ssh; raises FleetError, and MissingError if ssh is missing."""
    if not shutil.which("ssh"):
        raise MissingError("ssh is not installed or not on PATH", "install openssh-client")
    own = given["keep_connections"] is None
    keep = "60s" if own else given["keep_connections"]
    if not _TIME.fullmatch(keep):
        raise FleetError(f"--keep-connections {keep}: expected a time such as 60s, or 0")
    shared = ssh.control_directory(os.environ) if keep.strip("0smhdw") else ""
    return Calling(targets.ssh_config, given["connect_timeout"], keep, shared, own)

"""The options that say which hosts are meant and how they are reached."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import click

from cli_host_fleet import remembered, ssh
from cli_host_fleet.inventory import read_inventory
from cli_host_fleet.node_sets import names_of
from cli_host_fleet.problem import FleetError
from cli_host_fleet.ssh import Calling, Host

_TIME = re.compile(r"([0-9]+[smhdw]?)+", re.IGNORECASE)  # as in ssh_config


@dataclass(frozen=True, slots=True)
class Targets:
    """What the options said."""

    on: str
    left_out: str
    inventory: str
    ssh_config: str

    def hosts(self, root: str) -> dict[str, Host]:
        """Return the hosts by name, in order; `root` is the installation's directory."""
        inventory = read_inventory(self.inventory, self.ssh_config)
        file = remembered.place(os.environ, root)
        names = names_of(self.on, self.left_out, inventory, lambda: remembered.recall(file))
        return {name: inventory.host(name) for name in names}


def target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a click command the options of a set, as the argument `targets`."""

    @click.option("--on", required=True, metavar="SET", help="Hosts: web[01-20], @group, @failed.")
    @click.option("--except", "left_out", default="", metavar="SET", help="Less these.")
    @click.option(
        "--inventory",
        default="",
        metavar="FILE",
        help="JSON as ansible-inventory --list prints it, or a program that prints it.",
    )
    @click.option("--ssh-config", default="", metavar="FILE", help="Instead of ~/.ssh/config.")
    @functools.wraps(command)
    def wrapped(on: str, left_out: str, inventory: str, ssh_config: str, **others: Any) -> Any:
        return command(targets=Targets(on, left_out, inventory, ssh_config), **others)

    return wrapped


def connecting_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a click command the options of reaching hosts, for `calling` and `become`."""
    options = [
        click.option("--forks", type=click.IntRange(1), default=20, show_default=True),
        click.option("--connect-timeout", type=click.IntRange(1), default=10, show_default=True),
        click.option("--keep-connections", default="60s", show_default=True, metavar="TIME"),
        click.option("--become", is_flag=True, help="Run as root, by sudo."),
        click.option("--become-user", metavar="USER", help="Run as USER, by sudo."),
        click.option("--become-ask", is_flag=True, help="Ask for sudo's password, once."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def calling(targets: Targets, given: Mapping[str, Any]) -> Calling:
    """Return how ssh is called; raises FleetError."""
    keep = given["keep_connections"]
    if not _TIME.fullmatch(keep):
        raise FleetError(f"--keep-connections {keep}: expected a time such as 60s, or 0")
    shared = ssh.control_directory(os.environ) if keep.strip("0smhdw") else ""
    return Calling(targets.ssh_config, given["connect_timeout"], keep, shared)

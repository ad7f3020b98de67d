"""The way to the hosts, and the options that configure it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping
from typing import Any

import click

from cli_host_fleet import ssh
from cli_host_fleet.containers import Containers
from cli_host_fleet.problem import FleetError
from cli_host_fleet.ssh import Calling
from cli_host_fleet.ssh_transport import Ssh
from cli_host_fleet.targets import Once, Targets
from cli_host_fleet.transport import Host, Transport
from host import MissingError

# the format of times in ssh_config
_TIME = re.compile(r"([0-9]+[smhdw]?)+", re.IGNORECASE)


def connecting_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for connections and sudo, which `transport` and `become` read."""
    options = [
        click.option(
            "--forks",
            type=click.IntRange(1),
            default=20,
            show_default=True,
            metavar="N",
            help="Run on at most N hosts at once.",
        ),
        click.option(
            "--connect-timeout",
            type=click.IntRange(1),
            default=10,
            show_default=True,
            metavar="S",
            help="Limit each attempt to connect to S seconds.",
        ),
        click.option(
            "--keep-connections",
            metavar="TIME",
            help="Keep connections open for TIME (default: as in ssh_config, or 60s).",
        ),
        click.option("--become", is_flag=True, help="Run as root, with sudo."),
        click.option(
            "--become-user", cls=Once, metavar="USER", help="Run as USER, with sudo."
        ),
        click.option(
            "--become-ask", is_flag=True, help="Ask for the sudo password, once."
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def transport(
    targets: Targets, hosts: Mapping[str, Host], params: Mapping[str, Any]
) -> Transport:
    """Return the way to the hosts; raises FleetError, and MissingError without its program."""
    for host in hosts.values():
        if host.place:  # all hosts of a set are in one place
            return Containers(host.place, os.environ)

    if not shutil.which("ssh"):
        raise MissingError(
            "ssh is not installed or not on PATH", "install openssh-client"
        )

    keep = params["keep_connections"]
    is_default = keep is None
    if is_default:
        keep = "60s"
    if not _TIME.fullmatch(keep):
        raise FleetError(
            f"--keep-connections {keep}: expected a time such as 60s, or 0"
        )
    directory = ""
    if keep.strip("0smhdw"):  # a digit other than 0
        directory = ssh.control_directory(os.environ)

    connect_timeout = params["connect_timeout"]
    calling = Calling(targets.ssh_config, connect_timeout, keep, directory, is_default)
    return Ssh(calling, os.environ)

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
from cli_host_fleet.complete import complete_files, complete_hosts
from cli_host_fleet.containers import Containers, names_in, place_of
from cli_host_fleet.inventory import Inventory, read_inventory
from cli_host_fleet.node_sets import names_of
from cli_host_fleet.problem import FleetError
from cli_host_fleet.ssh import Calling
from cli_host_fleet.ssh_transport import Ssh
from cli_host_fleet.transport import Host, Transport
from host import MissingError, Program

_MOST_NAMED = 5
_TIME = re.compile(
    r"([0-9]+[smhdw]?)+", re.IGNORECASE
)  # the format of times in ssh_config


@dataclass(frozen=True, slots=True)
class Targets:
    """The values of the options that select hosts."""

    on: str
    left_out: str
    inventory: str
    ssh_config: str
    user: str
    env: tuple[str, ...] = ()

    def hosts(self, program: Program) -> dict[str, Host]:
        """Return the hosts by name, in order; warn about inventory settings that have no effect.

        Raises HostError.
        """
        file = remembered.place(os.environ, program.root)
        place, wanted = self._place(file)
        if place:
            return self._contained(place, wanted, file)
        inventory = read_inventory(self.inventory, self.ssh_config)
        users = names_of(
            *(
                self.on,
                self.left_out,
                inventory,
                lambda: remembered.recall(file),
                self.user,
            )
        )
        hosts = {name: inventory.host(name) for name in users}
        ignored = sorted({key for host in hosts.values() for key in host.ignored})
        if ignored:
            more = (
                f" and {len(ignored) - _MOST_NAMED} more"
                if len(ignored) > _MOST_NAMED
                else ""
            )
            program.messages.warn(
                f"{self.inventory}: ignored: {', '.join(ignored[:_MOST_NAMED])}{more}; "
                "set the connection in ssh_config, and the command's user with --become-user"
            )
        chosen = self._variables(hosts)
        return {
            name: replace(host, user=users[name] or host.user, variables=chosen[name])
            for name, host in hosts.items()
        }

    def _place(self, file: str) -> tuple[str, str]:
        """Return the place that the set names, and the rest; `@failed` has that of the last run."""
        place, wanted = place_of(self.on)
        if not place and "@failed" in wanted:
            place = place_of(remembered.recall(file)[0])[0]
        return place, wanted

    def _contained(self, place: str, wanted: str, file: str) -> dict[str, Host]:
        """Return the containers or pods of a place."""
        for option, given in (
            ("--inventory", self.inventory),
            ("--ssh-config", self.ssh_config),
        ):
            if given:
                raise FleetError(f"{option}: has no effect on {self.on}")

        def failed() -> list[str]:
            hosts = [place_of(host) for host in remembered.recall(file)]
            names = [name for where, name in hosts if where == place]
            if not names:
                raise FleetError(f"@failed: the last run was not in {place}")
            return names

        is_kube = place.startswith("kube:")
        selects_labels = is_kube and "@failed" not in wanted
        names = names_in(place, wanted if selects_labels else "", os.environ)
        inventory = Inventory({name: Host(name) for name in names})
        if selects_labels and not names:
            raise FleetError(f"--on {self.on}: selects no running pod")
        names_wanted = ",".join(names) if selects_labels else wanted
        users = names_of(
            names_wanted, self.left_out, inventory, failed, self.user, place
        )
        return {
            name: Host(name, user=user, place=place) for name, user in users.items()
        }

    def _variables(self, hosts: Mapping[str, Host]) -> dict[str, Mapping[str, str]]:
        """Return the inventory's variables that each host gets; raises FleetError."""
        if not self.env:
            return {name: host.variables for name, host in hosts.items()}
        for name in self.env:
            if not any(name in host.settings for host in hosts.values()):
                raise FleetError(
                    f"--env-from-inventory {name}: no host has this variable"
                )
        return {
            name: {key: host.settings[key] for key in self.env if key in host.settings}
            for name, host in hosts.items()
        }


def target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `Targets` to a click command, whose argument `targets` receives them."""

    @click.option(
        "--on",
        required=True,
        metavar="SET",
        shell_complete=complete_hosts,
        help="Hosts: web[01-20], @group, me@web1; docker:SET, podman:SET, kube:NAMESPACE/SELECTOR.",
    )
    @click.option(
        "--except",
        "left_out",
        default="",
        metavar="SET",
        shell_complete=complete_hosts,
        help="Leave out these hosts.",
    )
    @click.option(
        "--inventory",
        default="",
        metavar="FILE",
        shell_complete=complete_files,
        help="JSON as ansible-inventory --list prints it, or a program that prints it.",
    )
    @click.option(
        "--ssh-config",
        default="",
        metavar="FILE",
        shell_complete=complete_files,
        help="Use FILE, not ~/.ssh/config.",
    )
    @click.option("-l", "--user", default="", metavar="USER", help="Log in as USER.")
    @functools.wraps(command)
    def wrapped(
        on: str,
        left_out: str,
        inventory: str,
        ssh_config: str,
        user: str,
        from_inventory: tuple[str, ...] = (),
        **others: Any,
    ) -> Any:
        targets = Targets(on, left_out, inventory, ssh_config, user, from_inventory)
        return command(targets=targets, **others)

    return wrapped


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
        click.option("--become-user", metavar="USER", help="Run as USER, with sudo."),
        click.option(
            "--become-ask", is_flag=True, help="Ask for the sudo password, once."
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def transport(
    targets: Targets, hosts: Mapping[str, Host], given: Mapping[str, Any]
) -> Transport:
    """Return the way to the hosts; raises FleetError, and MissingError without its program."""
    place = next((host.place for host in hosts.values()), "")
    if place:
        return Containers(place, os.environ)
    if not shutil.which("ssh"):
        raise MissingError(
            "ssh is not installed or not on PATH", "install openssh-client"
        )
    own = given["keep_connections"] is None
    keep = "60s" if own else given["keep_connections"]
    if not _TIME.fullmatch(keep):
        raise FleetError(
            f"--keep-connections {keep}: expected a time such as 60s, or 0"
        )
    shared = ssh.control_directory(os.environ) if keep.strip("0smhdw") else ""
    return Ssh(
        Calling(targets.ssh_config, given["connect_timeout"], keep, shared, own),
        os.environ,
    )

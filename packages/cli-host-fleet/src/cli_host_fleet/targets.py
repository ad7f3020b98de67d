"""The hosts of a run, and the options that select them."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import click

from cli_host_fleet import remembered
from cli_host_fleet.complete import complete_files, complete_hosts
from cli_host_fleet.containers import names_in, place_of
from cli_host_fleet.inventory import Inventory
from cli_host_fleet.inventory_file import read_inventory
from cli_host_fleet.node_sets import names_of
from cli_host_fleet.problem import FleetError
from cli_host_fleet.shortened import shortened
from cli_host_fleet.transport import Host
from host import Program


@dataclass(frozen=True, slots=True)
class Targets:
    """The values of the options that select hosts."""

    on: str
    left_out: str
    inventory: str
    ssh_config: str
    user: str
    env: tuple[str, ...] = ()

    @property
    def origin(self) -> dict[str, str]:
        """Return the options and variables that decide which machine a name means, or ""."""
        files = {"--inventory": self.inventory, "--ssh-config": self.ssh_config}
        origin = {name: os.environ.get(name, "") for name in remembered.DAEMONS}
        for name, file in files.items():
            origin[name] = os.path.abspath(file) if file else ""
        return origin

    def hosts(self, program: Program) -> dict[str, Host]:
        """Return the hosts by name, in order; warn about inventory settings that have no effect.

        Raises HostError.
        """
        file = remembered.place(os.environ, program.root)
        place, selection = self._place(file)
        if place:
            return self._contained(place, selection, file, program.messages.warn)

        inventory = read_inventory(self.inventory, self.ssh_config)
        failed = functools.partial(remembered.recall, file, self.origin)
        warn = program.messages.warn
        users = names_of(
            self.on, self.left_out, inventory, failed, self.user, warn=warn
        )
        known = {name: inventory.host(name) for name in users}
        self._warn_of_ignored(program, known)

        variables = self._variables(known)
        hosts = {}
        for name, host in known.items():
            user = users[name]
            if not user:
                # An inventory's `ansible_user` yields to `--on USER@HOST` and -l.
                user = host.user
            hosts[name] = replace(host, user=user, variables=variables[name])
        return hosts

    def _warn_of_ignored(self, program: Program, hosts: Mapping[str, Host]) -> None:
        keys: set[str] = set()
        for host in hosts.values():
            keys |= host.ignored
        if not keys:
            return

        shown = shortened(sorted(keys))
        program.messages.warn(
            f"{self.inventory}: ignored: {shown}; "
            "set the connection in ssh_config, and the command's user with --become-user"
        )

    def _place(self, file: str) -> tuple[str, str]:
        """Return the place that the set names, and the rest; `@failed` has that of the last run."""
        place, selection = place_of(self.on)
        if not place and remembered.is_in(selection):
            failed = remembered.recall(file, self.origin)
            place, _ = place_of(failed[0])
            if place and selection != "@failed":
                what = f"--on {self.on}: @failed has containers of {place}"
                raise FleetError(f"{what}; name nothing else beside it")
        return place, selection

    def _contained(
        self, place: str, selection: str, file: str, warn: Callable[[str], None]
    ) -> dict[str, Host]:
        """Return the containers or pods of a place."""
        if self.inventory:
            raise FleetError(f"--inventory: has no effect on {self.on}")
        if self.ssh_config:
            raise FleetError(f"--ssh-config: has no effect on {self.on}")

        # Pods are selected by kubectl, with labels; of containers, ClusterShell selects the names.
        is_failed = remembered.is_in(selection)
        selects_labels = place.startswith("kube:") and not is_failed
        if selects_labels and not selection.strip():
            # kubectl would take all pods.
            raise FleetError(f"--on {self.on}: expected kube:NAMESPACE/SELECTOR")
        labels = ""
        if selects_labels:
            labels = selection
        running = names_in(place, labels, os.environ)
        if selects_labels:
            if not running:
                raise FleetError(f"--on {self.on}: selects no running pod")
            selection = ",".join(running)

        containers = {name: Host(name) for name in running}
        # `closed`: the groups of ClusterShell name hosts, not containers.
        inventory = Inventory(containers, closed=True)
        failed = functools.partial(self._failed_in, place, file)
        left_out = self._left_out_of(place)
        users = names_of(selection, left_out, inventory, failed, self.user, place, warn)
        hosts = {}
        for name, user in users.items():
            # docker would take another word for the beginning of a container's ID.
            if name not in containers:
                what = f"--on {self.on}: {place}{name} is not running"
                raise FleetError(f"{what}; to leave it out: --except {name}")
            hosts[name] = Host(name, user=user, place=place)
        return hosts

    def _left_out_of(self, place: str) -> str:
        """Return `--except` without the place; raises FleetError if it would leave out nothing."""
        former, left_out = place_of(self.left_out)
        if former not in ("", place) or "=" in left_out:
            what = f"--except {self.left_out}: names nothing of {place}"
            raise FleetError(f"{what}; give the names of containers or pods")
        return left_out

    def _failed_in(self, place: str, file: str) -> list[str]:
        """Return the hosts of `@failed`, which must be in `place`; raises FleetError."""
        names = []
        for host in remembered.recall(file, self.origin):
            former_place, name = place_of(host)
            if former_place == place:
                names.append(name)

        if not names:
            raise FleetError(f"@failed: the last run was not in {place}")
        return names

    def _variables(self, hosts: Mapping[str, Host]) -> dict[str, Mapping[str, str]]:
        """Return the inventory's variables that each host gets; raises FleetError."""
        if not self.env:
            return {name: host.variables for name, host in hosts.items()}

        self._check_known(hosts)
        variables: dict[str, Mapping[str, str]] = {}
        for name, host in hosts.items():
            settings = host.settings
            variables[name] = {
                key: settings[key] for key in self.env if key in settings
            }
        return variables

    def _check_known(self, hosts: Mapping[str, Host]) -> None:
        """Raise FleetError for a variable that no host has: its name is probably misspelt."""
        known: set[str] = set()
        for host in hosts.values():
            known |= host.settings.keys()

        for key in self.env:
            if key not in known:
                raise FleetError(
                    f"--env-from-inventory {key}: no host has this variable"
                )


class Once(click.Option):
    """An option that may be given once. click itself would ignore all values but the last."""

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        parser.add_option(obj=self, opts=self.opts, dest=self.name, action="append")

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        # A list is what the parser has collected, and not the default.
        if not isinstance(value, list):
            return super().process_value(ctx, value)

        option = self.opts[-1]
        if len(value) > 1:
            remedy = "give it once"
            if self.metavar == "SET":
                remedy += ", with all hosts in one set"
            raise FleetError(f"{option}: given {len(value)} times; {remedy}")
        if not value[0]:
            raise FleetError(f"{option}: must not be empty")
        return super().process_value(ctx, value[0])


_option = functools.partial(click.option, cls=Once)


def target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `Targets` to a click command, whose argument `targets` receives them."""

    @_option(
        "--on",
        required=True,
        metavar="SET",
        shell_complete=complete_hosts,
        help="Hosts: web[01-20], @group, me@web1; docker:SET, podman:SET, kube:NAMESPACE/SELECTOR.",
    )
    @_option(
        "--except",
        "left_out",
        default="",
        metavar="SET",
        shell_complete=complete_hosts,
        help="Leave out these hosts.",
    )
    @_option(
        "--inventory",
        default="",
        metavar="FILE",
        shell_complete=complete_files,
        help="JSON as ansible-inventory --list prints it, or a program that prints it.",
    )
    @_option(
        "--ssh-config",
        default="",
        metavar="FILE",
        shell_complete=complete_files,
        help="Use FILE, not ~/.ssh/config.",
    )
    @_option("-l", "--user", default="", metavar="USER", help="Log in as USER.")
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

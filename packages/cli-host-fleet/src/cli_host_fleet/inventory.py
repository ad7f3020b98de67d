"""The known hosts and groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cli_host_fleet.problem import FleetError
from cli_host_fleet.transport import Host


@dataclass(frozen=True, slots=True)
class Inventory:
    """Known hosts by name, and groups of names; if `closed`, any other host is an error."""

    hosts: Mapping[str, Host]
    groups: Mapping[str, list[str]] = field(default_factory=dict)
    closed: bool = False

    def host(self, name: str) -> Host:
        """Return the host of that name; raises FleetError if a closed inventory lacks it."""
        host = self.hosts.get(name)
        if host is not None:
            return host
        if self.closed:
            raise FleetError(f"{name}: not in the inventory")
        return Host(name)

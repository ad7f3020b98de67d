"""Sets of hosts in ClusterShell's notation → their names in order."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from ClusterShell.Defaults import config_paths
from ClusterShell.NodeSet import ILLEGAL_GROUP_CHARS, NodeSet, NodeSetException
from ClusterShell.NodeUtils import (
    GroupResolver,
    GroupResolverConfig,
    GroupResolverError,
    GroupSource,
    GroupSourceError,
)

from cli_host_fleet.inventory import Inventory
from cli_host_fleet.problem import FleetError

FAILED = "failed"


class _Groups(GroupResolver):  # type: ignore[misc]
    """The groups of an inventory, or else ClusterShell's own; all known hosts; `@failed`."""

    def __init__(self, inventory: Inventory, failed: Callable[[], list[str]]) -> None:
        super().__init__()
        self._known = list(inventory.hosts)
        self._inner = GroupResolverConfig(_configured(), ILLEGAL_GROUP_CHARS)
        if inventory.closed:
            groups = {name: ",".join(hosts) for name, hosts in inventory.groups.items()}
            self._inner = GroupResolver(GroupSource("inventory", groups, ",".join(self._known)))
        self._failed = failed

    def group_nodes(self, group: str, namespace: str | None = None) -> list[str]:
        if group == FAILED and not namespace:
            return self._failed()
        if group == "all" and not namespace:
            return self.all_nodes()
        try:
            found: list[str] = self._inner.group_nodes(group, namespace)
        except GroupResolverError:  # there is no such source of groups
            found = []
        if not found:
            raise FleetError(f"@{group}: no such group, or nobody is in it")
        return found

    def all_nodes(self, namespace: str | None = None) -> list[str]:
        try:
            found: list[str] = self._inner.all_nodes(namespace)
        except (GroupResolverError, GroupSourceError):
            if namespace:
                raise
            found = []  # nothing is configured, or nothing that lists all
        return found if namespace else [*found, *self._known]

    def grouplist(self, namespace: str | None = None) -> list[str]:
        found: list[str] = self._inner.grouplist(namespace)
        return found


def _configured() -> list[str]:
    """Return ClusterShell's own files of groups, without the sample that pip installs."""
    sample = os.path.join(sys.prefix, "etc", "clustershell")
    paths: list[str] = config_paths("groups.conf")
    return [path for path in paths if os.path.dirname(path) != sample or sys.prefix == "/usr"]


def names_of(
    wanted: str, left_out: str, inventory: Inventory, failed: Callable[[], list[str]]
) -> list[str]:
    """Return the names that `wanted` means less `left_out`; raises FleetError.

    `failed` returns the hosts of `@failed`, and may raise FleetError itself.
    """
    groups = _Groups(inventory, failed)
    try:
        nodes = NodeSet(wanted, resolver=groups)
        if left_out:
            nodes.difference_update(NodeSet(left_out, resolver=groups))
    except (NodeSetException, GroupResolverError, GroupSourceError) as failure:
        raise FleetError(f"--on {wanted}: {failure or type(failure).__name__}") from None
    if not nodes:
        raise FleetError(f"--on {wanted}: means no host")
    return [str(node) for node in nodes]

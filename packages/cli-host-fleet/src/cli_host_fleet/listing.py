"""The JSON that Ansible's `--list` prints: groups with hosts, children and vars, and `_meta`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cli_host_fleet.inventory import Inventory
from cli_host_fleet.problem import FleetError
from cli_host_fleet.shortened import shortened
from cli_host_fleet.transport import Host

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONNECTION = "ansible_"


def from_listing(listed: Mapping[str, Any]) -> Inventory:
    """Return the inventory in the output of `--list`; raises FleetError."""
    groups = {}
    for name, group in listed.items():
        if name != "_meta":
            groups[name] = _group(name, group)

    # Dictionaries serve as ordered sets: a host keeps its first place.
    members: dict[str, dict[str, None]] = {}
    all_hosts: dict[str, None] = {}
    for name in groups:
        hosts_of_group = _members(name, groups)
        members[name] = dict.fromkeys(hosts_of_group)
        all_hosts |= members[name]
    of_hosts = _variables_of_hosts(listed)
    all_hosts |= dict.fromkeys(of_hosts)
    members["all"] = all_hosts

    hosts = {}
    order = _outermost_first(groups)
    for host in all_hosts:
        variables: dict[str, Any] = {}
        for name in order:
            if host in members[name]:
                variables |= groups[name].variables
        variables |= of_hosts.get(host, {})
        hosts[host] = _host(host, variables)

    names = {group: list(group_hosts) for group, group_hosts in members.items()}
    return Inventory(hosts, names, closed=True)


def _outermost_first(groups: Mapping[str, _Group]) -> list[str]:
    """Return the groups in the order in which their variables apply; later ones win.

    A deeper group overrides one above it, and of two of the same depth the later name.
    """
    depths = _depths(groups)
    return sorted(groups, key=lambda name: (depths[name], name))


def _variables_of_hosts(listed: Mapping[str, Any]) -> Mapping[str, dict[str, Any]]:
    meta = listed.get("_meta")
    if not isinstance(meta, dict):
        return {}
    variables = meta.get("hostvars")
    if not isinstance(variables, dict):
        return {}

    of_hosts = {}
    for name, own in variables.items():
        if not isinstance(own or {}, dict):
            raise FleetError(f'inventory: hostvars of "{name}": expected an object')
        of_hosts[name] = own or {}
    return of_hosts


@dataclass(frozen=True, slots=True)
class _Group:
    hosts: list[str]
    children: list[str]
    variables: dict[str, Any]


def _group(name: str, listed: Any) -> _Group:
    if isinstance(listed, list):  # in the old format, a group is a list of hosts
        listed = {"hosts": listed}
    if not isinstance(listed, dict):
        raise FleetError(f'inventory: group "{name}": expected an object')

    hosts = listed.get("hosts") or []
    children = listed.get("children") or []
    variables = listed.get("vars") or {}
    are_lists = _are_names(hosts) and _are_names(children)
    is_object = isinstance(variables, dict)
    if not are_lists or not is_object:
        wrong = '"hosts" and "children" must be lists of names, "vars" an object'
        raise FleetError(f'inventory: group "{name}": {wrong}')
    return _Group(hosts, children, variables)


def _are_names(listed: Any) -> bool:
    if not isinstance(listed, list):
        return False
    return all(isinstance(name, str) for name in listed)


def _members(name: str, groups: Mapping[str, _Group]) -> Iterator[str]:
    """Yield the hosts of a group and of the groups in it, some of them more than once."""
    passed: set[str] = set()
    waiting = [name]
    while waiting:
        group = waiting.pop()
        if group in passed or group not in groups:
            continue
        passed.add(group)
        yield from groups[group].hosts
        waiting += reversed(groups[group].children)


def _depths(groups: Mapping[str, _Group]) -> dict[str, int]:
    """Return the depth of each group below `all`: variables of deeper groups win.

    Raises FleetError for groups that contain each other, which Ansible refuses, too.
    """
    parents = dict.fromkeys(groups, 0)
    for group in groups.values():
        for child in group.children:
            if child in groups:
                parents[child] += 1

    depths = {name: int(name != "all") for name in groups}
    ready = [name for name in groups if not parents[name]]
    for name in ready:
        for child in groups[name].children:
            if child not in groups:
                continue
            depths[child] = max(depths[child], depths[name] + 1)
            parents[child] -= 1
            if not parents[child]:
                ready.append(child)

    circle = sorted(groups.keys() - ready)
    if circle:
        raise FleetError(f"inventory: groups contain each other: {shortened(circle)}")
    return depths


def _host(name: str, variables: Mapping[str, Any]) -> Host:
    ignored = {key for key in variables if key.startswith(_CONNECTION)}

    def setting(word: str) -> str:
        value = ""
        # Both names are in use, and Ansible prefers the second.
        for key in (f"{_CONNECTION}{word}", f"{_CONNECTION}ssh_{word}"):
            ignored.discard(key)
            if variables.get(key) not in (None, ""):
                value = str(variables[key])
        return value

    address = setting("host")
    port = setting("port")
    user = setting("user")

    settings = {}
    sent = {}
    for key, value in variables.items():
        if not _can_be_sent(key, value):
            continue
        settings[key] = _text(value)
        # Without --env-from-inventory, variables for connections stay here.
        if not key.startswith(_CONNECTION):
            sent[key] = settings[key]

    return Host(
        name,
        address,
        port,
        user,
        variables=sent,
        settings=settings,
        ignored=frozenset(ignored),
    )


def _can_be_sent(name: str, value: Any) -> bool:
    """Return whether a variable can be in an environment."""
    if value is None or not _VARIABLE.fullmatch(name):
        return False
    try:
        return b"\0" not in str(value).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"))

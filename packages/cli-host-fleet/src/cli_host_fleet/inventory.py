"""Hosts, groups and variables, from ssh_config or the JSON of Ansible's `--list`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from cli_host_fleet import ssh_config
from cli_host_fleet.problem import FleetError
from cli_host_fleet.programs import output_of
from cli_host_fleet.transport import Host

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PROGRAM_SECONDS = 60
_CONNECTION = "ansible_"


@dataclass(frozen=True, slots=True)
class Inventory:
    """Known hosts by name, and groups of names; if `closed`, any other host is an error."""

    hosts: Mapping[str, Host]
    groups: Mapping[str, list[str]] = field(default_factory=dict)
    closed: bool = False

    def host(self, name: str) -> Host:
        """Return the host of that name; raises FleetError if a closed inventory lacks it."""
        if self.closed and name not in self.hosts:
            raise FleetError(f"{name}: not in the inventory")
        return self.hosts.get(name) or Host(name)


def read_inventory(file: str, config: str) -> Inventory:
    """Return the inventory in `file`, which is JSON or a program that prints JSON.

    If `file` is "", return the hosts that ssh_config names.
    """
    if not file:
        return Inventory(
            {name: Host(name) for name in _possible(ssh_config.names(config))}
        )
    printed = _run(file) if os.access(file, os.X_OK) else _read(file)
    try:
        listed = json.loads(printed)
    except ValueError as failure:
        raise FleetError(
            f"{file}: not the JSON of ansible-inventory --list: {failure}"
        ) from None
    if not isinstance(listed, dict):
        raise FleetError(
            f"{file}: expected an object of groups, as ansible-inventory --list prints it"
        )
    return _with_aliases(from_listing(listed), ssh_config.blocks(config))


def _with_aliases(inventory: Inventory, blocks: Sequence[Sequence[str]]) -> Inventory:
    """Mark the hosts whose address, but not name, has a block of its own in ssh_config."""
    hosts = {}
    for name, host in inventory.hosts.items():
        is_alias = bool(host.address) and ssh_config.has_block(host.address, blocks)
        is_alias = is_alias and not ssh_config.has_block(name, blocks)
        hosts[name] = replace(host, is_alias=is_alias)
    return replace(inventory, hosts=hosts)


def from_listing(listed: Mapping[str, Any]) -> Inventory:
    """Parse the output of `--list`: groups with hosts, children and vars, and `_meta`."""
    groups = {
        name: _group(name, group) for name, group in listed.items() if name != "_meta"
    }
    members = {name: list(dict.fromkeys(_members(name, groups, ()))) for name in groups}
    of_hosts = _variables_of_hosts(listed)
    names = list(dict.fromkeys([*chain.from_iterable(members.values()), *of_hosts]))

    # A deeper group overrides one above it, and of two of the same depth the later name.
    depths = {name: _depth(name, groups, ()) for name in groups}
    outermost_first = sorted(groups, key=lambda name: (depths[name], name))
    hosts = {}
    for host in names:
        variables: dict[str, Any] = {}
        for name in outermost_first:
            if host in members[name] or name == "all":
                variables |= groups[name].variables
        variables |= of_hosts.get(host) or {}
        hosts[host] = _host(host, variables)
    return Inventory(hosts, {**members, "all": names}, closed=True)


def _variables_of_hosts(listed: Mapping[str, Any]) -> Mapping[str, dict[str, Any]]:
    meta = listed.get("_meta")
    if not isinstance(meta, dict) or not isinstance(meta.get("hostvars"), dict):
        return {}
    variables: dict[str, dict[str, Any]] = meta["hostvars"]
    return variables


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
    hosts, children = listed.get("hosts") or [], listed.get("children") or []
    variables = listed.get("vars") or {}
    if not (_are_names(hosts) and _are_names(children) and isinstance(variables, dict)):
        wrong = '"hosts" and "children" must be lists of names, "vars" an object'
        raise FleetError(f'inventory: group "{name}": {wrong}')
    return _Group(hosts, children, variables)


def _are_names(listed: Any) -> bool:
    return isinstance(listed, list) and all(isinstance(name, str) for name in listed)


def _members(
    name: str, groups: Mapping[str, _Group], above: tuple[str, ...]
) -> Iterator[str]:
    if name in groups and name not in above:
        yield from groups[name].hosts
        for child in groups[name].children:
            yield from _members(child, groups, (*above, name))


def _depth(name: str, groups: Mapping[str, _Group], below: tuple[str, ...]) -> int:
    """Return the depth of a group below `all`: variables of deeper groups win."""
    if name == "all":
        return 0
    depth = 0
    for parent, group in groups.items():
        if (
            name in group.children and parent not in below
        ):  # groups may contain each other
            depth = max(depth, _depth(parent, groups, (*below, name)))
    return 1 + depth


def _host(name: str, variables: Mapping[str, Any]) -> Host:
    ignored = {key for key in variables if key.startswith(_CONNECTION)}

    def setting(word: str) -> str:
        value = ""
        for key in (
            f"{_CONNECTION}ssh_{word}",
            f"{_CONNECTION}{word}",
        ):  # the second wins
            ignored.discard(key)
            if variables.get(key) is not None:
                value = str(variables[key])
        return value

    address = setting("host")
    port = setting("port")
    user = setting("user")
    every = {
        key: _worded(value)
        for key, value in variables.items()
        if _can_be_sent(key, value)
    }
    return Host(
        name,
        address,
        port,
        user,
        # Without --env-from-inventory, variables for connections stay here.
        variables={
            key: text for key, text in every.items() if not key.startswith(_CONNECTION)
        },
        settings=every,
        ignored=frozenset(ignored),
    )


def _can_be_sent(name: str, value: Any) -> bool:
    return (
        bool(_VARIABLE.fullmatch(name)) and value is not None and "\0" not in str(value)
    )


def _worded(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _possible(names: list[str]) -> Iterator[str]:
    for name in names:
        try:
            Host(name)
        except FleetError:
            continue  # ssh may accept this name, but a set of hosts cannot contain it
        yield name


def _run(file: str) -> bytes:
    try:
        done = output_of([os.path.abspath(file), "--list"], _PROGRAM_SECONDS)
    except OSError as failure:
        raise FleetError(f"{file}: {failure.strerror or failure}") from None
    if done.status:
        raise FleetError(f"{file} --list: ended with status {done.status}")
    return done.stdout


def _read(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            return opened.read()
    except OSError as failure:
        raise FleetError(f"{file}: {failure.strerror}") from None

"""Read the inventory: ssh_config, or `--inventory FILE`, which may be a program."""

from __future__ import annotations

import json
import os
from dataclasses import replace

from cli_host_fleet import ssh_config
from cli_host_fleet.inventory import Inventory
from cli_host_fleet.listing import from_listing
from cli_host_fleet.problem import FleetError
from cli_host_fleet.programs import output_of
from cli_host_fleet.transport import Host

_PROGRAM_SECONDS = 60
_MOST_BYTES = 64 << 20


def read_inventory(file: str, config: str) -> Inventory:
    """Return the inventory in `file`, which is JSON or a program that prints JSON.

    If `file` is "", return the hosts that ssh_config names.
    """
    if not file:
        return _from_ssh_config(config)

    if os.access(file, os.X_OK):
        printed = _run(file)
    else:
        printed = _read(file)

    try:
        listed = json.loads(printed)
    except (ValueError, RecursionError) as failure:
        raise FleetError(
            f"{file}: not the JSON of ansible-inventory --list: {failure}"
        ) from None
    if not isinstance(listed, dict):
        raise FleetError(
            f"{file}: expected an object of groups, as ansible-inventory --list prints it"
        )

    inventory = from_listing(listed)
    return _with_aliases(inventory, config)


def _from_ssh_config(config: str) -> Inventory:
    hosts = {}
    for name in ssh_config.names(config):
        try:
            hosts[name] = Host(name)
        except FleetError:
            continue  # ssh may accept this name, but a set of hosts cannot contain it
    return Inventory(hosts)


def _with_aliases(inventory: Inventory, config: str) -> Inventory:
    """Mark the hosts whose address is a name in ssh_config, which says where it leads."""
    blocks = ssh_config.blocks(config)
    names = ssh_config.names(config)
    hosts = {}
    for name, host in inventory.hosts.items():
        is_alias = host.address in (name, *names)
        if host.address and not ssh_config.has_block(name, blocks):
            # Of a pattern such as 10.*, only if the inventory's name has no settings of its own.
            is_alias = is_alias or ssh_config.has_block(host.address, blocks)
        hosts[name] = replace(host, is_alias=is_alias)
    return replace(inventory, hosts=hosts)


def _run(file: str) -> bytes:
    # An absolute path, because a name alone would be looked up on PATH.
    argv = [os.path.abspath(file), "--list"]
    try:
        printed = output_of(argv, _PROGRAM_SECONDS, most=_MOST_BYTES)
    except OSError as failure:
        raise FleetError(f"{file} --list: {failure.strerror or failure}") from None
    if printed.status:
        raise FleetError(f"{file} --list: ended with status {printed.status}")
    return printed.stdout


def _read(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            content = opened.read(_MOST_BYTES + 1)
    except OSError as failure:
        raise FleetError(f"{file}: {failure.strerror}") from None
    if len(content) > _MOST_BYTES:
        raise FleetError(f"{file}: more than {_MOST_BYTES} bytes")
    return content

"""Tab completion of fleet's options and words; nothing connects."""

from __future__ import annotations

import os
import re
from typing import Any

import click
from click.shell_completion import CompletionItem

from cli_host_fleet import remembered
from cli_host_fleet.containers import names_in, place_of
from cli_host_fleet.inventory import Inventory, read_inventory
from cli_host_fleet.node_sets import groups_of
from cli_host_fleet.transport import Host
from host import HostError, Program

_BEFORE_A_NAME = re.compile(r"(?:.*[,!&^]|)(?:[A-Za-z0-9_.-]+@(?!@))?", re.DOTALL)
_PLACES = ("docker:", "podman:", "kube:")
_NOT_FOR_HOSTS = ("help", "self")


def complete_files(
    _ctx: click.Context, _param: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Let the shell complete paths."""
    return [CompletionItem(typed, type="file")]


def complete_hosts(
    ctx: click.Context, _param: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Return the hosts and groups that can end the set typed so far."""
    try:
        return [
            CompletionItem(text, help=about)
            for text, about in _hosts(ctx.params, typed)
        ]
    except HostError:
        return []


def _hosts(options: dict[str, Any], typed: str) -> list[tuple[str, str]]:
    place, rest = place_of(typed)
    head = _BEFORE_A_NAME.match(rest)
    begun = place + (head[0] if head else "")
    current = typed[len(begun) :]
    if place.startswith("kube:"):
        return []
    inventory = _inventory(options, place)
    names = [(name, "host") for name in inventory.hosts]
    groups = ["all", remembered.FAILED]
    if not place:
        groups += groups_of(inventory)
        if not begun:
            names += [(prefix, "containers or pods") for prefix in _PLACES]
    names += [(f"@{group}", "group") for group in dict.fromkeys(groups)]
    return [(begun + name, about) for name, about in names if name.startswith(current)]


def _inventory(options: dict[str, Any], place: str) -> Inventory:
    if place:
        return Inventory({name: Host(name) for name in names_in(place, "", os.environ)})
    return read_inventory(
        options.get("inventory") or "", options.get("ssh_config") or ""
    )


def complete_words(
    ctx: click.Context, _param: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Return the words, and then the arguments, that the program offers after the words so far."""
    words = [*(ctx.params.get("words") or ())]
    try:
        candidates = Program.current().candidates(words, typed)
    except HostError:
        return []
    items = [
        CompletionItem(word, help=about)
        for word, about in candidates
        if words or word not in _NOT_FOR_HOSTS
    ]
    if not items and words:
        items.append(
            CompletionItem(typed, type="file")
        )  # an argument that may be a path
    return items

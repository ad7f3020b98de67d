"""Tab completion of fleet's options and words; nothing connects."""

from __future__ import annotations

import os
import re
from typing import Any

import click
from click.shell_completion import CompletionItem

from cli_host_fleet import remembered
from cli_host_fleet.containers import names_in, place_of
from cli_host_fleet.inventory import Inventory
from cli_host_fleet.inventory_file import read_inventory
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
        place, rest = place_of(typed)
        begun = place
        # Only the last name of a set is completed: of `web1,me@w`, `web1,me@` stays.
        before = _BEFORE_A_NAME.match(rest)
        if before is not None:
            begun += before[0]
        names = _names(ctx.params, place, is_first=not begun)
    except HostError:
        return []

    current = typed[len(begun) :]
    items = []
    for name, about in names.items():
        if name.startswith(current):
            items.append(CompletionItem(begun + name, help=about))
    return items


def _names(options: dict[str, Any], place: str, *, is_first: bool) -> dict[str, str]:
    """Map hosts and groups to what they are; `is_first` if nothing of the set is typed yet."""
    if place.startswith("kube:"):
        return {}  # kubectl does not list the labels that select pods
    inventory = _inventory(options, place)

    names = dict.fromkeys(inventory.hosts, "host")
    if is_first:
        for prefix in _PLACES:
            names[prefix] = "containers or pods"

    groups = ["all", remembered.FAILED]
    if not place:
        groups += groups_of(inventory)
    for group in groups:
        names[f"@{group}"] = "group"
    return names


def _inventory(options: dict[str, Any], place: str) -> Inventory:
    if place:
        containers = names_in(place, "", os.environ)
        hosts = {name: Host(name) for name in containers}
        return Inventory(hosts)

    # Options that are not on the command line yet are missing or None.
    file = options.get("inventory") or ""
    config = options.get("ssh_config") or ""
    return read_inventory(file, config)


def complete_words(
    ctx: click.Context, _param: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Return the words, and then the arguments, that the program offers after the words so far."""
    words = list(ctx.params.get("words") or ())
    try:
        candidates = Program.current().candidates(words, typed)
    except HostError:
        return []

    items = []
    for word, about in candidates:
        if not words and word in _NOT_FOR_HOSTS:
            continue
        items.append(CompletionItem(word, help=about))

    if words and not items:
        # The command declares nothing for this argument, which may be a path.
        items.append(CompletionItem(typed, type="file"))
    return items

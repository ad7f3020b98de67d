"""`fleet hosts`: list the hosts of a set."""

from __future__ import annotations

import json

import click

from cli_host_fleet.problem import show
from cli_host_fleet.targets import Targets, target_options
from host import OneLineCommand, Program


@click.command(cls=OneLineCommand)
@target_options
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    help="Print names, or JSON.",
)
def list_hosts(targets: Targets, form: str) -> None:
    """Show the hosts of a set, one per line, without connecting to them."""
    hosts = targets.hosts(Program.current())
    if form == "text":
        for name in hosts:
            show(name)
        return

    rows = []
    for host in hosts.values():
        row = {
            "host": host.name,
            "address": host.address or None,
            "user": host.user or None,
            "variables": [*host.variables],  # names only: a value can be a password
        }
        rows.append(row)

    text = json.dumps({"hosts": rows}, indent=2)
    show(text)

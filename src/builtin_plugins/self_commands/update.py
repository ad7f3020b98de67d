"""`self update`: this program itself, from its git checkout or through pip."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from builtin_plugins.asking import confirmed
from builtin_plugins.fetch.timeout import timeout_option
from builtin_plugins.plugin_changes.change import working
from builtin_plugins.self_commands.launcher import (
    is_of_other_version,
    launcher_of,
    write_launcher,
)
from builtin_plugins.self_commands.update_program import CheckoutUpdate, PackageUpdate
from host import OperationError, UsageError
from host.cli.session import Session


@click.command
@click.option("--check", is_flag=True, help="Only tell whether there is a newer version.")
@click.option("--format", type=click.Choice(["text", "json"]), default="text", help="Of --check.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@timeout_option
@click.pass_obj
def command(session: Session, check: bool, format: str, yes: bool, timeout: float) -> None:
    """Bring this program to its newest version.

    A git checkout made an installation by install.sh is fast-forwarded and installed
    again; an installed package is upgraded with pip. Your commands, configuration and
    plugins stay. If anything fails, the old version goes on working.
    """
    if format == "json" and not check:
        raise UsageError("--format goes with --check")
    with working(session, timeout) as work:
        update = _update_of(session)
        found = update.look(work)
        if check and format == "json":
            session.show(json.dumps({"version": update.now, "newest": found or update.now}) + "\n")
            return
        if not found:
            session.show_lines(f"{update.now} is the newest")
            launcher = launcher_of(session.layout)
            if not check and is_of_other_version(launcher):  # as a killed update leaves it
                write_launcher(Path(launcher), replace=True)
            return
        session.show_lines(f"{update.now} → {found}")
        if check:
            return
        if not confirmed("Update?", yes):
            raise OperationError("stays as it is")
        update.bring(work)
    session.show_lines("updated")


def _update_of(session: Session) -> CheckoutUpdate | PackageUpdate:
    root = session.layout.root
    if os.path.isdir(os.path.join(root, ".git")) and os.path.isfile(
        os.path.join(root, "pyproject.toml")
    ):
        return CheckoutUpdate(session.layout)
    return PackageUpdate(session.layout)

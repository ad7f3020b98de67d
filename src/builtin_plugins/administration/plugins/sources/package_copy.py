"""A package installed into a copy of the environment, or removed from it, and checked there."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any

from builtin_plugins.administration.plugins.sources.requirements import host_requirements, protected
from builtin_plugins.administration.plugins.transaction import Transaction
from builtin_plugins.administration.program.environment.copy import (
    check_change,
    check_starts,
    copied_environment,
    installed_files,
)
from builtin_plugins.plugins_folder.registry import Entry
from host.run.importing import complete_import_path


def install_in_copy(
    entry: Entry,
    directory: str,
    extras: Collection[str] | None,
    origin: Mapping[str, Any] | None,
    tx: Transaction,
) -> None:
    """Install the wheel in `directory` and what it needs.

    The versions that this program itself needs stay. `extras` is None if the wheel needs
    nothing; `origin` is recorded as in PEP 610.
    """
    complete_import_path()
    kept, exact = protected(), f"{entry.name}=={entry.version}"
    copy = tx.exits.enter_context(copied_environment(tx.reporter.info))
    tx.reporter.info(f"installing {exact}")
    alone = ["install", "--no-index", "--no-deps", "--force-reinstall", "--find-links", directory]
    copy.change(tx.installer, *alone, exact)
    if extras is not None:
        constraints = os.path.join(tx.area, "constraints.txt")
        with open(constraints, "w", encoding="utf-8") as file:
            file.writelines(f"{name}=={version}\n" for name, version in kept.items())
        more = f"[{','.join(sorted(extras))}]" if extras else ""
        asked = f"{entry.name}{more}=={entry.version}"
        copy.change(tx.installer, "install", "--constraint", constraints, asked)
    if origin:
        copy.record_origin(entry.name, origin)
    check_change(copy, entry.name, installed_files(copy.prefix, set(kept)))


def uninstall_in_copy(name: str, tx: Transaction) -> None:
    """Remove a distribution and nothing that it needed."""
    copy = tx.exits.enter_context(copied_environment(tx.reporter.info))
    copy.change(tx.installer, "uninstall", "--yes", name)
    there = installed_files(copy.prefix, {*host_requirements(), "pip"})
    check_change(copy, name, there.replaced(names={}))  # what took a name may go
    check_starts(copy.python, f"without {name}, this program")

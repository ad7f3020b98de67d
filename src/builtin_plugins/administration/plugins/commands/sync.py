"""`self plugin sync`."""

import os
from collections.abc import Callable
from functools import partial

from builtin_plugins.administration.declared import (
    DRY_RUN,
    TIMEOUT,
    YES,
    argument,
    self_command,
)
from builtin_plugins.administration.plugins.change import begin_change
from builtin_plugins.administration.plugins.collisions import (
    check_collisions,
    check_declared_commands,
)
from builtin_plugins.administration.plugins.install import (
    change_each,
    ensure_built,
    install,
)
from builtin_plugins.administration.plugins.preview import heading, version_text
from builtin_plugins.administration.plugins.sources.base import make_source
from builtin_plugins.administration.plugins.sources.parse import checked_entry
from builtin_plugins.administration.questions import ask_to_continue
from builtin_plugins.plugins_folder.entry import Entry
from builtin_plugins.plugins_folder.registry import Registry, read_registry
from builtin_plugins.plugins_folder.version import PluginVersion
from host import OperationError, UsageError
from host.cli.session import Session


@self_command(
    "plugin sync",
    "Add the plugins that a shared registry lists",
    argument("file"),
    DRY_RUN,
    YES,
    TIMEOUT,
)
def plugin_sync(
    session: Session, file: str | None, dry_run: bool, yes: bool, timeout: float
) -> None:
    """Install the plugins that a registry lists and this installation lacks.

    The registry is FILE, such as a colleague's registry; by default, it is the one of this
    installation. Each plugin is installed at exactly the recorded commit, version and
    checksum. Other plugins stay installed.
    """
    if file is not None and not os.path.exists(file):
        raise UsageError(f"{file}: no such file")
    wanted = read_registry(session.installation.plugins_dir, file)
    install_missing(session, wanted, dry_run=dry_run, yes=yes, timeout=timeout)


def install_missing(
    session: Session, wanted: Registry, *, dry_run: bool, yes: bool, timeout: float
) -> None:
    """Install the plugins of the registry `wanted` that this installation lacks."""
    session.messages.warn(*wanted.problems)
    missing = missing_entries(session, wanted)
    for entry in missing:
        session.show_lines(heading(entry))
    if missing and not dry_run:
        ask_to_continue(session, "Install these plugins?", yes, "nothing was changed")
        restore = partial(_restore, session, yes=yes, timeout=timeout)
        if failed := change_each(session, missing, restore):
            raise OperationError(
                f"not installed: {', '.join(failed)}", "run the command again"
            )
    if wanted.problems:
        raise OperationError(
            f"registry entries that cannot be used: {len(wanted.problems)}"
        )
    if not missing:
        session.show_lines("every plugin is already installed")


def missing_entries(session: Session, wanted: Registry | None = None) -> list[Entry]:
    """Return the entries whose version is not installed.

    The entries are those of `wanted`, by default those of the installation's own registry.
    """
    plugins_dir, found = session.installation.plugins_dir, []
    own = read_registry(plugins_dir)
    for entry in (wanted or own).entries.values():
        there = own.entries.get(entry.name)
        if entry.is_users_directory or entry.dev:
            if not os.path.isdir(os.path.join(plugins_dir, entry.name)):
                session.messages.warn(
                    f"{entry.name} is a directory on another machine; add your own copy of it"
                )
        elif (
            there is None
            or there.version_dir != entry.version_dir
            or not make_source(entry).is_present(plugins_dir)
        ):
            found.append(entry)
    return found


def _restore(session: Session, entry: Entry, *, yes: bool, timeout: float) -> None:
    sync_plugin(session, entry, yes=yes, timeout=timeout)
    session.show_lines(f"installed {entry.name}")


def sync_plugin(
    session: Session,
    entry: Entry,
    *,
    yes: bool,
    timeout: float,
    show: Callable[[PluginVersion], None] = lambda _: None,
    dry_run: bool = False,
) -> None:
    """Call `show` with the recorded version of a plugin, then install exactly that version.

    With `yes`, what has no wheel is built without asking. With `dry_run`, the version is only
    fetched and checked; nothing is built.
    """
    entry = checked_entry(entry)
    if not entry.version_dir:
        raise OperationError(
            "no commit or sha256 is recorded", "remove and re-add the plugin"
        )
    with begin_change(session, timeout) as change:
        source = make_source(entry)
        staged = source.restore(change)
        if not dry_run:
            staged = ensure_built(staged, change, yes=yes)
        # A package may have been resolved again, because it does not fit this program.
        if not entry.is_package and staged.entry.version_dir != entry.version_dir:
            raise OperationError(
                f"expected version {version_text(entry)}, found {version_text(staged.entry)}"
            )
        show(staged)
        check_collisions(staged, change, force=True)
        if not dry_run:
            check_declared_commands(staged, change, force=True)
            install(staged.entry, change)

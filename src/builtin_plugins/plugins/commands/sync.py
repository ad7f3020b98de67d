"""`self plugin sync`."""

import os
from collections.abc import Callable
from functools import partial

from builtin_plugins.plugins.change import begin_change
from builtin_plugins.plugins.install import (
    Choices,
    change_each,
    ensure_built,
    has_version,
    install_staged,
)
from builtin_plugins.plugins.preview import heading, version_text
from builtin_plugins.plugins.sources.base import make_source
from builtin_plugins.plugins.sources.parse import checked_entry
from builtin_plugins.plugins_folder.entry import Entry
from builtin_plugins.plugins_folder.registry import Registry, read_registry
from builtin_plugins.plugins_folder.version import PluginVersion
from builtin_plugins.self_commands.declared import (
    DRY_RUN,
    TIMEOUT,
    YES,
    argument,
    self_command,
)
from builtin_plugins.self_commands.questions import ask_to_continue
from host import OperationError, UsageError
from host.pages.session import Session


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
    shared = read_registry(session.installation.plugins_dir, file)
    install_missing(session, shared, dry_run=dry_run, yes=yes, timeout=timeout)


def install_missing(
    session: Session, shared: Registry, *, dry_run: bool, yes: bool, timeout: float
) -> None:
    """Install the plugins of the registry `shared` that this installation lacks."""
    session.messages.warn(*shared.problems)
    missing = missing_entries(session, shared)
    for entry in missing:
        session.show_lines(heading(entry))

    if missing and not dry_run:
        ask_to_continue(session, "Install these plugins?", yes, "nothing was changed")
        choices = Choices(yes=yes, force=True)
        sync_one = partial(_sync_and_report, session, choices, timeout)
        failed = change_each(session, missing, sync_one)
        if failed:
            what = f"not installed: {', '.join(failed)}"
            raise OperationError(what, "run the command again")

    if shared.problems:
        count = len(shared.problems)
        raise OperationError(f"registry entries that cannot be used: {count}")
    if not missing:
        session.show_lines("every plugin is already installed")


def missing_entries(session: Session, shared: Registry | None = None) -> list[Entry]:
    """Return the entries whose version is not installed.

    The entries are those of `shared`, by default those of the installation's own registry.
    """
    plugins_dir = session.installation.plugins_dir
    registry = read_registry(plugins_dir)
    if shared is None:
        shared = registry

    missing = []
    for entry in shared.entries.values():
        if entry.is_linked:
            link = os.path.join(plugins_dir, entry.name)
            if not os.path.isdir(link):
                what = f"{entry.name} is a directory on another machine"
                session.messages.warn(f"{what}; add your own copy of it")
        elif not has_version(entry, registry, plugins_dir):
            missing.append(entry)
    return missing


def _sync_and_report(
    session: Session, choices: Choices, timeout: float, entry: Entry
) -> None:
    sync_plugin(session, entry, choices, timeout)
    session.show_lines(f"installed {entry.name}")


def sync_plugin(
    session: Session,
    entry: Entry,
    choices: Choices,
    timeout: float,
    show: Callable[[PluginVersion], None] = lambda _: None,
) -> None:
    """Call `show` with the recorded version of a plugin, then install exactly that version.

    With `choices.dry_run`, the version is only fetched and checked; nothing is built.
    """
    entry = checked_entry(entry)
    if not entry.version_dir:
        what = "no commit or sha256 is recorded"
        raise OperationError(what, "remove and re-add the plugin")

    with begin_change(session, timeout) as change:
        staged = make_source(entry).restore(change)
        if not choices.dry_run:
            staged = ensure_built(staged, change, yes=choices.yes)

        # A package may have been resolved again, because it does not fit this program.
        if not entry.is_package and staged.entry.version_dir != entry.version_dir:
            expected = version_text(entry)
            what = f"expected version {expected}, found {version_text(staged.entry)}"
            raise OperationError(what)
        install_staged(staged, change, choices, show)

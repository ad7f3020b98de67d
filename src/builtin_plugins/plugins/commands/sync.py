"""`self plugin sync`."""

import os
from collections.abc import Iterator

from builtin_plugins.plugins.agreed_build import (
    ensure_built,
)
from builtin_plugins.plugins.change import Change
from builtin_plugins.plugins.collisions import (
    check_collisions,
    check_declared_commands,
)
from builtin_plugins.plugins.commands.change_each import change_each
from builtin_plugins.plugins.plan_change import Plan
from builtin_plugins.plugins.preview import heading, version_text
from builtin_plugins.plugins.sources.base import make_source
from builtin_plugins.plugins.transaction import Transaction, begin
from builtin_plugins.registry.entry import Entry
from builtin_plugins.registry.registry import Registry, read_registry
from builtin_plugins.self_commands.decorator import (
    DRY_RUN,
    TIMEOUT,
    YES,
    argument,
    self_command,
)
from host import OperationError, UsageError
from host.session.session import Session


@self_command(
    "plugin sync",
    "Add missing plugins, in the versions of registry.json",
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
    install_missing(session, file, dry_run=dry_run, yes=yes, timeout=timeout)


def install_missing(
    session: Session,
    file: str | None,
    *,
    dry_run: bool,
    yes: bool,
    timeout: float,
    is_agreed: bool = False,
) -> None:
    """Install the plugins that the registry `file`, by default the own one, lists and lacks.

    If the user has agreed already, only builds are asked about.
    """
    with begin(session, timeout) as transaction:
        listed = transaction.registry
        if file is not None:
            listed = read_registry(transaction.plugins_dir, file)
        session.messages.warn(*listed.problems)

        missing = [*missing_entries(session, listed, transaction.registry)]
        for entry in missing:
            session.show_lines(heading(entry))
        if missing and not dry_run:
            otherwise = "nothing was changed"
            question = "Install these plugins?"
            session.ask_to_continue(question, yes or is_agreed, otherwise)
            restore_plugins(transaction, missing, yes=yes)

    if listed.problems:
        count = len(listed.problems)
        raise OperationError(f"registry entries that cannot be used: {count}")
    if not missing:
        session.show_lines("every plugin is already installed")


def missing_entries(
    session: Session, listed: Registry, registry: Registry
) -> Iterator[Entry]:
    """Yield the entries in `listed` whose version is not the current one; `registry` is our own.

    What the user chose for a plugin stays, and so does another plugin of that name.
    """
    plugins_dir = session.installation.plugins_dir
    for entry in listed.entries.values():
        recorded = registry.entries.get(entry.name)
        is_present = False
        if recorded is not None and recorded.version_dir == entry.version_dir:
            is_present = make_source(recorded).is_present(plugins_dir)
        if is_present:
            continue

        if entry.is_linked:
            what = f"{entry.name} is a directory on another machine"
            session.messages.warn(f"{what}; add your own copy of it")
        elif recorded is not None and recorded.hides(entry):
            what = f"{entry.name} is the name of a plugin of your own, which stays"
            remove = f"{session.program} self plugin remove {entry.name}"
            session.messages.warn(f"{what}; to use the listed one, first: {remove}")
        elif not entry.is_in_environment:
            yield _with_choices(entry, recorded)


def _with_choices(entry: Entry, recorded: Entry | None) -> Entry:
    """Return `entry` with what the user chose by options of `plugin add` for the recorded one."""
    if recorded is None:
        return entry
    scripts = recorded.scripts or entry.scripts
    path = entry.path
    if recorded.path == ():
        path = ()
    return entry.replaced(scripts=scripts, path=path)


def restore_plugins(
    transaction: Transaction, entries: list[Entry], *, yes: bool
) -> None:
    """Install exactly the recorded versions. Raises OperationError if some cannot be installed."""
    session = transaction.session
    plans: list[tuple[Plan, Change]] = []

    def restore(entry: Entry) -> None:
        change = transaction.stage()
        plan = restored_plan(entry, transaction, change, yes=yes)
        check_collisions(plan.version, change, force=True)
        check_declared_commands(plan.version, change, force=True)
        plans.append((plan, change))

    failed = change_each(session, entries, restore)
    transaction.save(plans)
    for plan, _ in plans:
        session.show_lines(f"installed {plan.entry.name}")
    if failed:
        what = f"not installed: {', '.join(failed)}"
        raise OperationError(what, "run the command again")


def restored_plan(
    entry: Entry,
    transaction: Transaction,
    change: Change,
    *,
    yes: bool,
    builds: bool = True,
) -> Plan:
    """Return the plan that installs exactly the recorded version of a plugin.

    Without `builds`, the version is only fetched and checked.
    """
    if not entry.version_dir:
        what = "no commit or sha256 is recorded"
        raise OperationError(what, "remove and re-add the plugin")

    staged = make_source(entry).restore(change)
    if builds:
        staged = ensure_built(staged, change, yes=yes)

    # A package may have been resolved again, because it does not fit this program.
    if not entry.is_package and staged.entry.version_dir != entry.version_dir:
        expected = version_text(entry)
        what = f"expected version {expected}, found {version_text(staged.entry)}"
        raise OperationError(what)
    return transaction.plan(staged)

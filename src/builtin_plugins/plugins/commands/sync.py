"""`self plugin sync`."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

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
from builtin_plugins.plugins.preview import heading, preview, version_text
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
        if dry_run:
            session.show_lines(*map(heading, missing))
        elif missing:
            # What the user has agreed to has been shown.
            fetched = fetch_plugins(transaction, missing, shows=not is_agreed)
            if fetched.plans:
                question = "Install these plugins?"
                otherwise = "nothing was changed"
                session.ask_to_continue(question, yes or is_agreed, otherwise)
            install_plugins(transaction, fetched, yes=yes)

    check_usable(listed)
    if not missing:
        session.show_lines("nothing to install")


def check_usable(listed: Registry) -> None:
    """Raise OperationError if a registry has entries that cannot be used."""
    if listed.problems:
        count = len(listed.problems)
        raise OperationError(f"registry entries that cannot be used: {count}")


def missing_entries(
    session: Session,
    listed: Registry,
    registry: Registry,
    former: Registry | None = None,
) -> Iterator[Entry]:
    """Yield the entries in `listed` whose version is not the current one; `registry` is our own.

    What the user chose for a plugin stays, and so does another plugin of that name. A team may
    move its plugin to another source: `former` is our own registry with the team's former entries.
    """
    former = former or registry
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
        elif (
            recorded is not None
            and recorded.hides(entry)
            and not former.is_shared(entry.name)
        ):
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


class Fetched(NamedTuple):
    """Plans with their staged versions, and the names of the plugins that were not fetched."""

    plans: list[tuple[Plan, Change]]
    failed: list[str]


def fetch_plugins(
    transaction: Transaction,
    entries: Sequence[Entry],
    *,
    shows: bool = True,
    raises: bool = True,
) -> Fetched:
    """Fetch exactly the recorded versions, and show them; none of their code is run.

    If there is only one plugin and it cannot be fetched, that `raises` OperationError.
    """
    plans = []

    def fetch(entry: Entry) -> None:
        plan, change = fetch_plugin(entry, transaction, shows=shows)
        plans.append((plan, change))

    failed = change_each(transaction.session, entries, fetch, raises=raises)
    return Fetched(plans, failed)


def fetch_plugin(
    entry: Entry, transaction: Transaction, *, shows: bool = True
) -> tuple[Plan, Change]:
    """Fetch exactly the recorded version of a plugin; what must be built stays unbuilt."""
    if not entry.version_dir:
        what = "no commit or sha256 is recorded"
        raise OperationError(what, "remove and re-add the plugin")

    change = transaction.stage()
    staged = make_source(entry).restore(change)
    # A package may have been resolved again, because it does not fit this program.
    if not entry.is_package and staged.entry.version_dir != entry.version_dir:
        expected = version_text(entry)
        what = f"expected version {expected}, found {version_text(staged.entry)}"
        raise OperationError(what)

    plan = transaction.plan(staged)
    if shows:
        _show(transaction.session, plan)
    return plan, change


def _show(session: Session, plan: Plan) -> None:
    """Show what a plan adds or changes; only a build shows what an unbuilt package has."""
    entry = plan.entry
    former = plan.former or entry
    # The preview of a change names no source.
    if plan.version.unbuilt or former.source_and_ref != entry.source_and_ref:
        session.show_lines(heading(entry))
    if not plan.version.unbuilt:
        preview(session, plan)


def install_plugins(transaction: Transaction, fetched: Fetched, *, yes: bool) -> None:
    """Build and install what was fetched; the registry may list it only now.

    Raises OperationError if some plugins cannot be installed.
    """
    session = transaction.session
    transaction.refresh()
    plans: list[tuple[Plan, Change]] = []
    changes = {plan.entry.name: (plan, change) for plan, change in fetched.plans}

    def install(entry: Entry) -> None:
        plan, stage = changes[entry.name]
        change = replace(stage, registry=transaction.registry)
        otherwise = f"{entry.name} was not installed"
        version = ensure_built(plan.version, change, yes=yes, otherwise=otherwise)
        was_built = bool(plan.version.unbuilt)
        plan = transaction.plan(version)
        if was_built:
            _show(session, plan)
        check_collisions(plan.version, change, force=True)
        check_declared_commands(plan.version, change, force=True)
        plans.append((plan, change))

    entries = [plan.entry for plan, _ in fetched.plans]
    failed = [*fetched.failed, *change_each(session, entries, install)]
    transaction.save(plans)
    for plan, _ in plans:
        session.show_lines(f"installed {plan.entry.name}")
    if failed:
        what = f"not installed: {', '.join(failed)}"
        raise OperationError(what, "run the command again")

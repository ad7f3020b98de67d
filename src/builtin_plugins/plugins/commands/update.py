"""`self plugin update`."""

from collections.abc import Iterable

from builtin_plugins.plugins.agreed_build import (
    ensure_built,
    unbuilt_text,
)
from builtin_plugins.plugins.change import Change
from builtin_plugins.plugins.collisions import (
    check_collisions,
    check_declared_commands,
)
from builtin_plugins.plugins.commands.change_each import change_each
from builtin_plugins.plugins.inventory import inventory, named_plugin
from builtin_plugins.plugins.plan_change import Nothing, Plan
from builtin_plugins.plugins.preview import (
    preview,
    version_text,
    why_it_stays,
)
from builtin_plugins.plugins.sources.base import make_source
from builtin_plugins.plugins.transaction import Transaction, begin
from builtin_plugins.registry.entry import Entry
from builtin_plugins.registry.registry import Registry
from builtin_plugins.registry.version import PluginVersion
from builtin_plugins.self_commands.decorator import (
    DRY_RUN,
    PLUGIN,
    TIMEOUT,
    YES,
    self_command,
)
from host import OperationError
from host.session.session import Session


@self_command(
    "plugin update",
    "Update plugins to their newest versions",
    {**PLUGIN, "name": "names...", "required": False},
    DRY_RUN,
    YES,
    TIMEOUT,
    synonyms=("plugin upgrade",),
)
def plugin_update(
    session: Session, names: tuple[str, ...], dry_run: bool, yes: bool, timeout: float
) -> None:
    """Update plugins to their newest version; without NAME, update all plugins.

    A plugin from a git repository stays on its branch. A plugin that was added at a
    tag, a commit or an exact version, or with a checksum, keeps its version. The
    changes are shown first: new and removed commands, new commands that use
    sudo, new variables.
    """
    with begin(session, timeout) as transaction:
        plans: dict[str, tuple[Plan, Change]] = {}

        def plan_update(entry: Entry) -> None:
            change = transaction.stage()
            plan = _planned(entry, transaction, change, yes=yes, dry_run=dry_run)
            if not isinstance(plan, Nothing):
                preview(session, plan)
                check_collisions(plan.version, change, force=True)
                plans[entry.name] = plan, change

        entries = _chosen(session, names, transaction.registry)
        failed = change_each(session, entries, plan_update)
        if plans and not dry_run:
            question = f"Update {', '.join(plans)}?"
            session.ask_to_continue(question, yes, "nothing was changed")
            failed += _save(transaction, plans)

    transaction.warn_of_unremoved(plans)
    if failed:
        what = f"not updated: {', '.join(failed)}; their old versions stay installed"
        raise OperationError(what)


def _save(transaction: Transaction, plans: dict[str, tuple[Plan, Change]]) -> list[str]:
    """Carry out the plans; return the names of the plugins whose code shows that they cannot be."""

    def check(entry: Entry) -> None:
        plan, change = plans[entry.name]
        try:
            # This runs the code of a package, so it comes after the question.
            check_declared_commands(plan.version, change, force=True)
        except OperationError:
            del plans[entry.name]
            raise

    session = transaction.session
    entries = [plan.entry for plan, _ in plans.values()]
    failed = change_each(session, entries, check)
    for plan in transaction.save([*plans.values()]):
        line = f"updated {plan.entry.name}"
        if isinstance(plan, Nothing):
            version = version_text(plan.entry)
            line = f"{plan.entry.name}: another process has just installed {version}"
        session.show_lines(line)
    return failed


def _chosen(session: Session, names: Iterable[str], registry: Registry) -> list[Entry]:
    """Return the entries of the plugins `names`; without names, all entries of the registry."""
    entries = registry.entries
    if not names:
        return [entry for entry in entries.values() if not entry.is_in_environment]

    plugins = inventory(session, "none")
    chosen = []
    for name in dict.fromkeys(names):
        entry = named_plugin(session, name, plugins).entry
        chosen.append(entries.get(entry.name, entry))
    return chosen


def _planned(
    entry: Entry, transaction: Transaction, change: Change, *, yes: bool, dry_run: bool
) -> Plan:
    """Fetch the newest version of a plugin, and return the plan that installs it.

    The reason why nothing is to be done, or what would be built, is printed.
    """
    session = transaction.session
    nothing = Nothing(PluginVersion(entry), entry)
    source = make_source(entry)
    source.check_change("update")
    why = why_it_stays(session, entry)
    if why:
        session.show_lines(f"{entry.name}: {why}")
        return nothing

    newest = entry.replaced(commit="", sha256="", packages=())
    staged = make_source(newest).fetch(change)
    if _is_current(entry, staged) and source.is_present(transaction.plugins_dir):
        version = version_text(entry)
        session.show_lines(f"{entry.name}: {version} is the newest version")
        return nothing

    if staged.unbuilt and dry_run:
        text = f"{version_text(entry)} → to be built: {unbuilt_text(staged)}"
        session.show_lines(f"{entry.name}: {text}")
        return nothing

    staged = ensure_built(staged, change, yes=yes)
    # The address may have got another form, but an update changes no source.
    new_entry = staged.entry.replaced(source=entry.source)
    return transaction.plan(staged.replaced(entry=new_entry))


def _is_current(entry: Entry, staged: PluginVersion) -> bool:
    """Return whether the staged version is the current one; nothing is built to find out."""
    if not staged.unbuilt:
        return entry.version_dir == staged.entry.version_dir

    # What has not been built yet is known by its commit or its file, or else by its version.
    if staged.entry.origin:
        return staged.entry.origin == entry.origin
    return staged.unbuilt.items() <= entry.built_packages.items()

"""`self plugin update`."""

from functools import partial

from builtin_plugins.administration.declared import (
    DRY_RUN,
    PLUGIN,
    TIMEOUT,
    YES,
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
from builtin_plugins.administration.plugins.inventory import inventory, named_plugin
from builtin_plugins.administration.plugins.preview import (
    preview,
    version_text,
    why_it_stays,
)
from builtin_plugins.administration.plugins.sources.base import make_source
from builtin_plugins.administration.plugins.sources.parse import checked_entry
from builtin_plugins.administration.questions import ask_to_continue
from builtin_plugins.plugins_folder.entry import Entry
from builtin_plugins.plugins_folder.registry import read_registry
from builtin_plugins.plugins_folder.version import PluginVersion
from host import OperationError
from host.cli.session import Session


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
    update_plugin = partial(_update, session, timeout=timeout, dry_run=dry_run, yes=yes)
    if failed := change_each(session, _chosen(session, names), update_plugin):
        raise OperationError(
            f"not updated: {', '.join(failed)}; their old versions stay installed"
        )


def _chosen(session: Session, names: tuple[str, ...]) -> list[Entry]:
    """Return the entries of the plugins `names`; without names, all entries of the registry."""
    entries = read_registry(session.installation.plugins_dir).entries
    if not names:
        return [entry for entry in entries.values() if not entry.is_in_environment]
    plugins = inventory(session, "none")
    chosen = []
    for name in dict.fromkeys(names):
        entry = named_plugin(session, name, plugins).entry
        chosen.append(entries.get(entry.name, entry))
    return chosen


def _update(
    session: Session, entry: Entry, *, timeout: float, dry_run: bool, yes: bool
) -> None:
    make_source(entry).check_change("update")
    if why := why_it_stays(session, entry):
        session.show_lines(f"{entry.name}: {why}")
        return
    entry = checked_entry(entry)
    with begin_change(session, timeout) as change:
        wanted = entry.replaced(commit="", sha256="", packages=())
        staged = make_source(wanted).fetch(change)
        if _is_same(entry, staged):
            session.show_lines(
                f"{entry.name}: {version_text(entry)} is the newest version"
            )
            return
        if staged.unbuilt and dry_run:
            built = " and ".join(
                f"{name} {text}" for name, text in staged.unbuilt.items()
            )
            text = f"{version_text(entry)} → to be built: {built}"
            session.show_lines(f"{entry.name}: {text}")
            return
        staged = ensure_built(staged, change, yes=yes)
        staged = staged.replaced(entry=staged.entry.replaced(source=entry.source))
        preview(session, entry, staged)
        check_collisions(staged, change, force=True)
        if dry_run:
            return
        ask_to_continue(session, f"Update {entry.name}?", yes, "nothing was changed")
        check_declared_commands(staged, change, force=True)
        install(staged.entry, change)
    session.show_lines(f"updated {entry.name}")


def _is_same(entry: Entry, staged: PluginVersion) -> bool:
    """Return whether the staged version is the current one; nothing is built to find out."""
    if entry.commit:
        return entry.commit == staged.entry.commit
    if staged.unbuilt and staged.entry.sha256:
        return entry.sha256 == staged.entry.sha256
    if staged.unbuilt:
        built = entry.built_packages
        return all(
            built.get(name) == version for name, version in staged.unbuilt.items()
        )
    return entry.version_dir == staged.entry.version_dir

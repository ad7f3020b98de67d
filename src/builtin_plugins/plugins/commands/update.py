"""`self plugin update`."""

from functools import partial

from builtin_plugins.plugins.change import begin_change
from builtin_plugins.plugins.install import (
    Choices,
    change_each,
    ensure_built,
    install_staged,
    unbuilt_text,
)
from builtin_plugins.plugins.inventory import inventory, named_plugin
from builtin_plugins.plugins.preview import (
    preview,
    version_text,
    why_it_stays,
)
from builtin_plugins.plugins.sources.base import make_source
from builtin_plugins.plugins.sources.parse import checked_entry
from builtin_plugins.plugins_folder.entry import Entry
from builtin_plugins.plugins_folder.registry import read_registry
from builtin_plugins.plugins_folder.version import PluginVersion
from builtin_plugins.self_commands.declared import (
    DRY_RUN,
    PLUGIN,
    TIMEOUT,
    YES,
    self_command,
)
from host import OperationError
from host.pages.session import Session


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
    entries = _chosen(session, names)
    choices = Choices(yes=yes, force=True, dry_run=dry_run)
    update_plugin = partial(_update, session, choices=choices, timeout=timeout)
    failed = change_each(session, entries, update_plugin)
    if failed:
        what = f"not updated: {', '.join(failed)}; their old versions stay installed"
        raise OperationError(what)


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
    session: Session, entry: Entry, *, choices: Choices, timeout: float
) -> None:
    make_source(entry).check_change("update")
    why = why_it_stays(session, entry)
    if why:
        session.show_lines(f"{entry.name}: {why}")
        return

    entry = checked_entry(entry)
    newest = entry.replaced(commit="", sha256="", packages=())
    with begin_change(session, timeout) as change:
        staged = make_source(newest).fetch(change)
        if _is_current(entry, staged):
            version = version_text(entry)
            session.show_lines(f"{entry.name}: {version} is the newest version")
            return

        if staged.unbuilt and choices.dry_run:
            text = f"{version_text(entry)} → to be built: {unbuilt_text(staged)}"
            session.show_lines(f"{entry.name}: {text}")
            return

        staged = ensure_built(staged, change, yes=choices.yes)
        # The address may have got another form, but an update changes no source.
        new_entry = staged.entry.replaced(source=entry.source)
        staged = staged.replaced(entry=new_entry)
        show = partial(preview, session, entry)
        question = f"Update {entry.name}?"
        is_updated = install_staged(staged, change, choices, show, question)

    if is_updated:
        session.show_lines(f"updated {entry.name}")
    elif not choices.dry_run:
        version = version_text(staged.entry)
        what = f"another process has just installed {version}"
        session.show_lines(f"{entry.name}: {what}")


def _is_current(entry: Entry, staged: PluginVersion) -> bool:
    """Return whether the staged version is the current one; nothing is built to find out."""
    if not staged.unbuilt:
        return entry.version_dir == staged.entry.version_dir

    # What has not been built yet is known by its commit or its file, or else by its version.
    if staged.entry.origin:
        return staged.entry.origin == entry.origin
    return staged.unbuilt.items() <= entry.built_packages.items()

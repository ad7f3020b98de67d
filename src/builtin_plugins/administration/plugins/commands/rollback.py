"""`self plugin rollback`."""

from builtin_plugins.administration.declared import PLUGIN, argument, self_command
from builtin_plugins.administration.plugins.install import install
from builtin_plugins.administration.plugins.inventory import kept_versions, named_plugin
from builtin_plugins.administration.plugins.preview import version_text
from builtin_plugins.administration.plugins.sources.base import make_source
from builtin_plugins.administration.plugins.transaction import transaction
from builtin_plugins.plugins_folder.entry import Entry
from builtin_plugins.plugins_folder.registry import read_registry
from host import OperationError
from host.cli.session import Session
from host.run.text import EMPTY


@self_command(
    "plugin rollback",
    "Return a plugin to an earlier version",
    PLUGIN,
    argument("version", complete="none"),
)
def plugin_rollback(session: Session, name: str, version: str | None) -> None:
    """Roll the plugin NAME back to VERSION, by default to the previous version.

    The last three versions before the current one are kept; `self plugin show NAME` lists
    them. VERSION is a version number, or the beginning of a commit or checksum; if several
    versions match, the newest one that is not the current one.
    """
    plugin = named_plugin(session, name)
    plugins_dir = session.installation.plugins_dir
    entry = read_registry(plugins_dir).entries.get(plugin.entry.name, plugin.entry)
    kept = kept_versions(plugins_dir, entry)
    chosen = _chosen(entry, kept, version)
    if chosen.version_dir == entry.version_dir and make_source(entry).is_present(plugins_dir):
        session.show_lines(f"{entry.name}: {version_text(entry)} is the current version")
        return
    # The source of a wheel has only one version, so it is rolled back too. Other sources are kept.
    fixed = any(make_source(one).is_one_version for one in (entry, chosen))
    source = chosen.source if fixed else entry.source
    target = chosen.replaced(enabled=entry.enabled, source=source)
    with transaction(session) as tx:
        install(target, tx)
    before, after = version_text(entry), version_text(target)
    if before == after:
        before, after = entry.version_dir, target.version_dir
    session.show_lines(f"{entry.name}: {before} → {after}")


def _chosen(entry: Entry, kept: list[Entry], version: str | None) -> Entry:
    """Return the version to install; the current one only if no other version matches."""
    if version is None:
        version_dirs = [one.version_dir for one in kept]
        found = kept[: [*version_dirs, entry.version_dir].index(entry.version_dir)]
    else:
        wanted = version or EMPTY
        found = [one for one in kept if wanted in (one.version, one.version_dir)]
        found = found or [one for one in kept if (one.commit or one.sha256).startswith(wanted)]
        found.sort(key=lambda one: one.version_dir != entry.version_dir)
    if found:
        return found[-1]
    what = "earlier version" if version is None else f"version {version or EMPTY}"
    there = ", ".join(version_text(one) for one in kept) or "none"
    raise OperationError(f"{entry.name}: no {what} is kept; kept versions: {there}")

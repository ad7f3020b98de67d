"""`self plugin rollback`."""

from builtin_plugins.administration.declared import PLUGIN, argument, self_command
from builtin_plugins.administration.plugins.change import begin_change
from builtin_plugins.administration.plugins.install import install
from builtin_plugins.administration.plugins.inventory import kept_versions, named_plugin
from builtin_plugins.administration.plugins.preview import version_text
from builtin_plugins.administration.plugins.sources.base import make_source
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
    if chosen.version_dir == entry.version_dir and make_source(entry).is_present(
        plugins_dir
    ):
        session.show_lines(
            f"{entry.name}: {version_text(entry)} is the current version"
        )
        return
    # The source of a wheel has only one version, so it is rolled back too. Other sources are kept.
    is_fixed = make_source(entry).is_one_version or make_source(chosen).is_one_version
    source = chosen.source if is_fixed else entry.source
    target = chosen.replaced(enabled=entry.enabled, source=source)
    with begin_change(session) as change:
        install(target, change)
    before, after = version_text(entry), version_text(target)
    if before == after:
        before, after = entry.version_dir, target.version_dir
    session.show_lines(f"{entry.name}: {before} → {after}")


def _chosen(entry: Entry, kept: list[Entry], version: str | None) -> Entry:
    """Return the version to install; the current one only if no other version matches."""
    matches = (
        _earlier(entry, kept) if version is None else _matching(kept, version or EMPTY)
    )
    matches.sort(key=lambda match: match.version_dir != entry.version_dir)
    if matches:
        return matches[-1]
    what = "earlier version" if version is None else f"version {version or EMPTY}"
    texts = ", ".join(map(version_text, kept)) or "none"
    raise OperationError(f"{entry.name}: no {what} is kept; kept versions: {texts}")


def _earlier(entry: Entry, kept: list[Entry]) -> list[Entry]:
    """Return the kept versions before the current one."""
    earlier = []
    for version in kept:
        if version.version_dir == entry.version_dir:
            break
        earlier.append(version)
    return earlier


def _matching(kept: list[Entry], text: str) -> list[Entry]:
    """Return the kept versions with this number or, if there are none, with this start."""
    exact = [
        version for version in kept if text in (version.version, version.version_dir)
    ]
    if exact:
        return exact
    return [
        version
        for version in kept
        if (version.commit or version.sha256).startswith(text)
    ]

"""`self plugin rollback`."""

from collections.abc import Mapping

from builtin_plugins.plugins.collisions import check_collisions
from builtin_plugins.plugins.inventory import named_plugin
from builtin_plugins.plugins.plan_change import Nothing
from builtin_plugins.plugins.preview import version_text
from builtin_plugins.plugins.sources.base import make_source
from builtin_plugins.plugins.transaction import begin
from builtin_plugins.registry.directory import kept_versions
from builtin_plugins.registry.entry import Entry
from builtin_plugins.self_commands.decorator import PLUGIN, argument, self_command
from host import OperationError
from host.session.session import Session
from host.text import EMPTY


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
    with begin(session) as transaction:
        plugins_dir = transaction.plugins_dir
        plugin = named_plugin(session, name)
        entry = transaction.registry.entries.get(plugin.entry.name, plugin.entry)
        chosen = _chosen(entry, kept_versions(plugins_dir, entry.name), version)

        target = _target(entry, chosen)
        contents = make_source(target).contents(target.root(plugins_dir))
        plan = transaction.plan(contents.replaced(entry=target))
        if isinstance(plan, Nothing) or not plan.is_new_version:
            current = version_text(entry)
            session.show_lines(f"{entry.name}: {current} is the current version")
            return

        change = transaction.stage()
        # Commands may have been added since this version was the current one. It must not replace
        # them, but it is no reason to stay with a version that does not work.
        check_collisions(plan.version, change, force=True)
        transaction.save([(plan, change)])

    before = version_text(entry)
    after = version_text(target)
    if before == after:
        before = entry.version_dir
        after = target.version_dir
    session.show_lines(f"{entry.name}: {before} → {after}")


def _target(entry: Entry, chosen: Entry) -> Entry:
    """Return the entry to install: the chosen version's, except for what the user chose since."""
    target = chosen.replaced(enabled=entry.enabled, scripts=_scripts(entry, chosen))
    if entry.path == ():
        target = target.replaced(path=())
    # The source of a wheel has only one version, so it is rolled back too. Other sources are kept.
    is_fixed = make_source(entry).is_one_version or make_source(chosen).is_one_version
    kept = target.replaced(source=entry.source)
    # Another subdirectory of a source is another version.
    if is_fixed or kept.version_dir != target.version_dir:
        return target
    return kept


def _scripts(entry: Entry, chosen: Entry) -> Mapping[str, str | bool] | None:
    """Return the user's words for commands; `chosen` decides whether its files are commands."""
    words = {**(entry.scripts or {})}
    words.pop("files", None)
    if entry.is_package:
        return words or None

    has_files = chosen.scripts is not None and chosen.scripts.get("files") is not False
    # An option about the names of files makes them commands.
    if has_files or words.keys() - {"under"}:
        return words
    return {"files": False, **words} if words else None


def _chosen(entry: Entry, kept: list[Entry], version: str | None) -> Entry:
    """Return the version to install; the current one only if no other version matches."""
    if version is None:
        matches = _earlier(entry, kept)
        what = "earlier version"
    else:
        text = version or EMPTY
        matches = _matching(kept, text)
        what = f"version {text}"

    for match in reversed(matches):
        if match.version_dir != entry.version_dir:
            return match
    if matches:
        return matches[-1]

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
    exact = []
    beginning = []
    for version in kept:
        if text in (version.version, version.version_dir):
            exact.append(version)
        if version.origin.startswith(text):
            beginning.append(version)

    if exact:
        return exact
    return beginning

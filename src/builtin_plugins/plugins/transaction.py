"""A change of `plugins/` by one command: the registry is read once, and written in one step.

The registry says which version of a plugin is the current one, so replacing registry.json is the
change; what comes before it is a directory below `plugins/.versions` that nobody uses yet, and what
comes after it removes what nobody uses any more. A killed change therefore leaves the old state or
the new one. What else it leaves is below `.versions`, and the next change removes it.

Downloads and questions hold no lock. If another process has changed the registry meanwhile, it is
read again under the lock, and each plan is made again from it.
"""

import json
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

from builtin_plugins.library.files.atomic import make_directory, mode_below, write_file
from builtin_plugins.library.files.file_lock import OnWait, file_lock
from builtin_plugins.library.files.undo import undoing
from builtin_plugins.library.git import Git
from builtin_plugins.library.versioned_directory import staging
from builtin_plugins.plugins.change import Change
from builtin_plugins.plugins.plan_change import (
    Add,
    Nothing,
    Plan,
    Restore,
    is_unchanged,
    plan_change,
)
from builtin_plugins.plugins.sources.base import make_source
from builtin_plugins.registry.directory import (
    ENTRY_FILE,
    NUMBER,
    dropped_entries,
    kept_versions,
    names_in,
    number_of,
    read_kept_entry,
    store_of,
)
from builtin_plugins.registry.entry import VERSIONS, Entry, is_plugin_name
from builtin_plugins.registry.registry import Registry, read_registry
from builtin_plugins.registry.registry_writer import write_registry
from builtin_plugins.registry.version import PluginVersion
from host import OperationError, PluginError
from host.session.session import Session

CALL_SECONDS = 600.0  # limit for each download, git call or pip run
_EARLIER_VERSIONS = 3  # number of versions kept besides the current one


class Transaction:
    """A change of plugins.

    `registry` is the registry as it was read, and as it is to be written. `stage` returns a staging
    directory for one version. `unremoved` has an error for each plugin with files that could not be
    removed at the end.
    """

    def __init__(
        self, session: Session, registry: Registry, area: str, seconds: float
    ) -> None:
        self.session = session
        self.registry = registry
        self.unremoved: dict[str, OperationError] = {}
        self.is_tidy = False
        self._on_disk = dict(registry.entries)
        self._area = area
        self._seconds = seconds

    @property
    def plugins_dir(self) -> str:
        return self.session.installation.plugins_dir

    def stage(self) -> Change:
        """Return a change with a staging directory of its own."""
        area = tempfile.mkdtemp(dir=self._area)
        os.mkdir(os.path.join(area, "version"))
        return Change(self.session, area, self._seconds, self.registry)

    def plan(self, version: PluginVersion) -> Plan:
        """Return the plan that makes a staged, kept or installed version the current one."""
        former = self.registry.entries.get(version.entry.name)
        is_present = False
        if former is not None:
            is_present = make_source(former).is_present(self.plugins_dir)
        return plan_change(self.registry, version, is_present=is_present)

    def refresh(self) -> None:
        """Read the registry again if its files have changed."""
        if not self.registry.is_unchanged:
            self.registry = read_registry(self.plugins_dir)
            self._on_disk = dict(self.registry.entries)

    @contextmanager
    def locked(self, on_wait: OnWait | None) -> Iterator[None]:
        """Hold the file lock on `plugins/`, with the registry as it is on the disk now.

        Another process is waited for if there is `on_wait`, which gets a message. At the end,
        whatever nobody uses is removed from `.versions`.
        """
        with file_lock(os.path.realpath(self.plugins_dir), on_wait):
            self.refresh()
            try:
                yield
            finally:
                self.is_tidy = True
                self._tidy()

    def save(
        self, plans: Sequence[tuple[Plan, Change]] = (), *, team: bool = False
    ) -> list[Plan]:
        """Carry out plans, and write the registry; with `team`, the registry that a team shares.

        Returns the plans that were carried out: another process may have done the same meanwhile.
        Raises OSError and HostError; then nothing has changed. The caller has called
        `check_collisions`.
        """
        with self.locked(self.session.messages.line), undoing() as undo:
            current = []
            for plan, change in plans:
                current_plan = self._planned_again(plan)
                self._carry_out(current_plan, change, undo, team=team)
                current.append(current_plan)
            self._write(undo)
        return current

    def _planned_again(self, plan: Plan) -> Plan:
        """Return the plan for the same version, made from the registry as it is now."""
        current = self.plan(plan.version)
        former = current.former
        if former is None and plan.former is not None:
            what = f"{plan.entry.name} was removed meanwhile; nothing was changed"
            raise PluginError(what)
        if former is None or isinstance(current, Nothing):
            return current
        if plan.former is not None:
            # What the user chose in another process meanwhile must not be lost.
            if not is_unchanged(former, plan.former):
                what = f"{plan.entry.name} was changed by another process meanwhile"
                raise PluginError(what, "run the command again")
            return current

        # Another process has added a plugin of this name meanwhile.
        entry = plan.entry
        is_same_package = former.is_package and entry.is_package
        if not is_same_package and former.source_and_ref != entry.source_and_ref:
            hint = make_source(entry).name_hint
            what = f"{entry.name} is already the name of another plugin{hint}"
            raise PluginError(what)
        return current

    def remove(self, entry: Entry) -> None:
        """Remove a plugin, and write the registry; its files are removed at the end."""
        link = os.path.join(self.plugins_dir, entry.name)
        with self.locked(self.session.messages.line), undoing() as undo:
            if os.path.islink(link):
                target = os.readlink(link)
                os.unlink(link)
                undo.callback(os.symlink, target, link)
            self.registry.drop(entry.name)
            self._write(undo)

    def switch(self, entry: Entry, *, on: bool) -> bool:
        """Enable or disable a plugin; return whether that changes anything."""
        with self.locked(self.session.messages.line), undoing() as undo:
            # A package of the environment has an entry only if it is or was disabled.
            new_entry = entry.replaced(installedAt=now())
            entry = self.registry.entries.get(entry.name, new_entry)
            is_change = entry.enabled != on
            if is_change:
                self.registry.put(entry.replaced(enabled=on))
                self._write(undo)
        return is_change

    def _write(self, undo: ExitStack) -> None:
        """Write the registry, with the directories that the user has put into `plugins/`."""
        dropped = dropped_entries(self.plugins_dir, self.registry)
        of_team = self._names_in_git() if dropped else set()
        for entry in dropped:
            if is_plugin_name(entry.name) and entry.name not in of_team:
                self.registry.put(entry.replaced(installedAt=now()))

        def replaced() -> None:
            # Once a file of the registry is replaced, the new state is the right one.
            undo.pop_all()
            self._on_disk = dict(self.registry.entries)

        write_registry(self.registry, self._area, replaced)
        undo.pop_all()  # also if the registry already had this content

    def _names_in_git(self) -> set[str]:
        """Return the names in `plugins/` that a team's git repository has, if there is a team.

        Recorded as the user's own, such a plugin would stay when the team moves it elsewhere.
        """
        if self.registry.local is None:
            return set()
        git = Git(self.plugins_dir, self.session.environ, self._seconds)
        with suppress(OperationError):  # the installation may be in no repository
            paths = os.fsdecode(git("ls-files", "-z")).split("\0")
            return {path.partition("/")[0] for path in paths}
        return set()

    def warn_of_unremoved(self, names: Iterable[str]) -> None:
        """Warn about files of these plugins that could not be removed."""
        for name in names:
            if name in self.unremoved:
                self.session.messages.warn(str(self.unremoved[name]))

    def _tidy(self) -> None:
        """Make links and versions agree with the registry on the disk.

        Each plugin has a link to its current version, for people and scripts, and keeps the last
        three versions before that.
        """
        versions_dir = os.path.join(self.plugins_dir, VERSIONS)
        names = {*names_in(self.plugins_dir), *names_in(versions_dir)}
        for name in sorted(filter(is_plugin_name, names)):
            entry = self._on_disk.get(name)
            # A damaged entry may be the one of the versions that no other entry names.
            if entry is None and self.registry.problems:
                continue
            with suppress(OSError):  # the next change tries again
                version = entry.version_dir if entry else ""
                for problem in _tidy_plugin(self.plugins_dir, name, version):
                    self.unremoved[name] = problem

    def _carry_out(
        self, plan: Plan, change: Change, undo: ExitStack, *, team: bool
    ) -> None:
        """Store the version of a plan, if it is staged, and put its entry into the registry."""
        entry = plan.entry
        former = plan.former
        if isinstance(plan, Nothing):
            if team:
                self.registry.put(entry, team=True)
            return
        if isinstance(plan, Add):
            check_free_name(entry, self.plugins_dir)

        if former is not None:
            self._number(former, entry)
        entry = entry.replaced(installedAt=now())
        if former is not None and not plan.is_new_version:
            entry = entry.replaced(installedAt=former.installedAt)
        # The files of the current version may be in use, so they are replaced only if they are bad.
        is_needed = plan.is_new_version or isinstance(plan, Restore)
        if change.has_staged_version and is_needed:
            self._store(entry, change, undo)

        is_recorded = isinstance(plan, Restore) and _is_as_recorded(entry, former)
        if team or not is_recorded:
            self.registry.put(entry, team=team)

    def _store(self, entry: Entry, change: Change, undo: ExitStack) -> None:
        """Move the staged version into `.versions`, with a file that contains its entry."""
        staged = os.path.dirname(change.files)
        os.chmod(staged, mode_below(self.plugins_dir))
        _write_entry(entry, staged)

        store = store_of(self.plugins_dir, entry.name)
        make_directory(store.directory)
        store.add(staged, entry.version_dir, undo)

    def _number(self, former: Entry, entry: Entry) -> None:
        """Number the version that `entry` replaces, so that it is kept for a rollback.

        The link leads to it, also if a `git pull` has changed the registry since.
        """
        store = store_of(self.plugins_dir, former.name)
        version = store.current or former.version_dir
        path = store.path(version)
        kept = read_kept_entry(path)
        # A version that was replaced before keeps its place.
        if version == entry.version_dir or kept is None or number_of(path):
            return

        if version == former.version_dir:
            kept = former  # with the user's choices
        numbers = [number_of(store.path(version)) for version in store.versions()]
        _write_entry(kept, path, 1 + max(numbers))


def _write_entry(entry: Entry, version: str, number: int = 0) -> None:
    """Write the file with its entry into the directory of a version."""
    fields = entry.fields()
    if number:
        fields[NUMBER] = number
    content = json.dumps(fields, indent=2)
    write_file(os.path.join(version, ENTRY_FILE), content)


def _is_as_recorded(entry: Entry, former: Entry | None) -> bool:
    """Return whether only files were missing, so that the recorded entry is still right."""
    if former is None:
        return False
    # These values differ between machines, and change with each installation.
    return former == entry.replaced(
        installedAt=former.installedAt, python=former.python
    )


def check_free_name(entry: Entry, plugins_dir: str) -> None:
    """Raise PluginError if something of the user has the name of a new plugin in `plugins/`."""
    path = os.path.join(plugins_dir, entry.name)
    if os.path.lexists(path) and not store_of(plugins_dir, entry.name).current:
        raise PluginError(f"{path} already exists", "remove it, or use another --name")


@contextmanager
def begin(session: Session, seconds: float = CALL_SECONDS) -> Iterator[Transaction]:
    """Read the registry, and yield a transaction with a staging directory.

    An OSError becomes an OperationError. Raises HostError if the registry cannot be read, because
    nothing may change then.
    """
    plugins_dir = session.installation.plugins_dir
    versions_dir = os.path.join(plugins_dir, VERSIONS)
    try:
        make_directory(plugins_dir)
        registry = read_registry(plugins_dir)
        if os.path.islink(versions_dir):
            raise PluginError(f"{versions_dir}: must not be a link", "remove it")
        make_directory(versions_dir)
        try:
            with staging(versions_dir) as area:
                transaction = Transaction(session, registry, area, seconds)
                yield transaction
                if not transaction.is_tidy:
                    # Nothing was changed, but an earlier change may have been interrupted.
                    with suppress(OperationError), transaction.locked(None):
                        pass
        finally:
            with suppress(OSError):  # it has versions
                os.rmdir(versions_dir)
    except OSError as failure:
        path = failure.filename2 or failure.filename or plugins_dir
        where = os.fsdecode(path)
        # The staging directory no longer exists when the user reads the message.
        if where.startswith(versions_dir):
            where = plugins_dir
        raise OperationError(f"{where}: {failure.strerror}") from None


def _tidy_plugin(plugins_dir: str, name: str, version: str) -> list[OperationError]:
    """Keep the current `version` of a plugin, or none if that is "", and its last versions."""
    store = store_of(plugins_dir, name)
    # A directory, or a link, of the user stays.
    is_ours = bool(store.current) or not os.path.lexists(store.link)
    has_files = not version or os.path.isdir(store.link_target(version))
    if is_ours and has_files and store.current != version:
        store.point_to(version)

    earlier = []
    for entry in kept_versions(plugins_dir, name):
        is_numbered = number_of(store.path(entry.version_dir)) > 0
        if is_numbered and version not in ("", entry.version_dir):
            earlier.append(entry.version_dir)
    problems = store.collect({version, *earlier[-_EARLIER_VERSIONS:]})
    with suppress(OSError):
        os.rmdir(store.directory)
    return problems


def now() -> str:
    """Return the current time in UTC, in the registry's format."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

"""A change to plugins: a staging directory, and exclusive access to the registry.

begin_change      removes leftovers under the file lock, reads the registry, and then yields a
                  staging directory in `plugins/`; the `with` block holds no lock, so that downloads
                  and questions block nobody
locked_registry   holds the file lock during the `with` block and yields a `LockedRegistry`, whose
                  `save` writes the registry
begin_change_in   yields a staging directory anywhere; locks and saves nothing
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field

from builtin_plugins.library.files.atomic import make_directory
from builtin_plugins.library.files.undo import undoing
from builtin_plugins.library.git import Git, login_of
from builtin_plugins.plugins.installer import Installer
from builtin_plugins.plugins.reconcile import (
    Reconciled,
    exclusive,
    reconcile,
)
from builtin_plugins.plugins_folder.directory import FILES_DIR
from builtin_plugins.plugins_folder.registry import (
    Registry,
    RegistryFile,
    local_path,
    read_registry,
    registry_path,
)
from builtin_plugins.plugins_folder.registry_writer import write_registry
from builtin_plugins.store.versions import STAGE, staging
from host import HostError, Messages, OperationError
from host.lock.lock import stamp
from host.pages.session import Session

_CALL_SECONDS = 600.0  # limit for each download, git call or pip run


def _no_registry() -> Registry:
    return Registry(RegistryFile(""), RegistryFile(""))


@dataclass(frozen=True)
class Change:
    """One change to the session's installation, with a staging directory.

    `area` is a private directory on the file system of `plugins/`; it is removed when the change
    ends. `seconds` limits each download, git call or pip run. `registry` is the registry at the
    start of the change, and `stamps` changes with its files.
    """

    session: Session
    area: str
    seconds: float
    registry: Registry = field(default_factory=_no_registry)
    stamps: tuple[str, ...] = ()

    @property
    def messages(self) -> Messages:
        return self.session.messages

    @property
    def plugins_dir(self) -> str:
        return self.session.installation.plugins_dir

    @property
    def files(self) -> str:
        """Return the directory for the files of a new version."""
        return os.path.join(self.area, "version", FILES_DIR)

    @property
    def has_staged_version(self) -> bool:
        """Return whether a new version is staged; otherwise, `plugins/` has the version."""
        return os.path.isdir(self.files)

    @property
    def whole(self) -> str:
        """Return the directory for all files of a source, if only a part of them is staged."""
        return os.path.join(self.area, "whole")

    @property
    def built(self) -> str:
        """Return the directory for the plugin's own wheel, if it is a file or is built.

        The directory exists once the wheel has been fetched or its build has begun.
        """
        return os.path.join(self.area, "built")

    @property
    def installer(self) -> Installer:
        return Installer(self.session.environ, self.seconds)

    def git(self, directory: str, address: str = "") -> Git:
        """Return a `Git` for the repository in `directory`, with the login from `address`."""
        environ = self.session.environ
        return Git(directory, environ, self.seconds, login_of(address))


@contextmanager
def begin_change_in(
    session: Session, directory: str, seconds: float
) -> Iterator[Change]:
    """Yield a change that is staged in `directory`; lock nothing. Raises OSError."""
    with staging(directory) as area:
        os.mkdir(os.path.join(area, "version"))
        yield Change(session, area, seconds)


@contextmanager
def begin_change(session: Session, seconds: float = _CALL_SECONDS) -> Iterator[Change]:
    """Remove the leftovers of interrupted changes, then yield a change staged in `plugins/`.

    `plugins/` is locked during the removal, but not in the block. The end of the block saves
    nothing: see `locked_registry`. An OSError becomes an OperationError. Raises HostError if the
    registry cannot be read, because nothing may change then.
    """
    plugins_dir = session.installation.plugins_dir
    try:
        make_directory(plugins_dir)
        with ExitStack() as exits:
            with exclusive(plugins_dir, session.messages.line):
                registry = read_registry(plugins_dir)
                reconcile(plugins_dir, registry)
                stamps = _stamps(plugins_dir)
                area = exits.enter_context(staging(plugins_dir))
            os.mkdir(os.path.join(area, "version"))
            yield Change(session, area, seconds, registry, stamps)
    except OSError as failure:
        path = failure.filename2 or failure.filename or plugins_dir
        where = os.fsdecode(path)
        # The staging directory no longer exists when the user reads the message.
        if where.startswith(os.path.join(plugins_dir, STAGE)):
            where = plugins_dir
        raise OperationError(f"{where}: {failure.strerror}") from None


def _stamps(plugins_dir: str) -> tuple[str, ...]:
    return stamp(registry_path(plugins_dir)), stamp(local_path(plugins_dir))


class LockedRegistry:
    """A change of `plugins/` and the registry, made while this process holds the file lock.

    `registry` is the registry to change. `undo` gets the reverse step of each change of a file; the
    steps run unless `save` succeeds.
    """

    def __init__(self, plugins_dir: str, registry: Registry, undo: ExitStack) -> None:
        self._plugins_dir = plugins_dir
        self.registry = registry
        self.undo = undo

    def save(self) -> Reconciled:
        """Write the registry, then reconcile `plugins/` with it; return what the latter did.

        Only the writing can fail: what is left for reconciling is done by the next change.
        """
        # Once a file of the registry is replaced, the new state is the right one, whatever happens.
        write_registry(self.registry, on_replaced=self.undo.pop_all)
        self.undo.pop_all()  # also if the registry already had this content

        reconciled = Reconciled({}, {})
        with suppress(OSError, HostError):
            reconciled = reconcile(self._plugins_dir, self.registry)
            if reconciled.unremoved:
                # A command of a former version may have written a file into a directory while the
                # directory was being removed. The second try finds it.
                again = reconcile(self._plugins_dir, self.registry)
                reconciled = reconciled._replace(unremoved=again.unremoved)
        return reconciled


@contextmanager
def locked_registry(change: Change) -> Iterator[LockedRegistry]:
    """Lock `plugins/`, reconcile it with the registry, and yield the registry to be changed.

    If the block fails, or ends without `save`, the undo steps run. If it fails, `plugins/` is
    then reconciled. The lock is released last.
    """
    plugins_dir = change.plugins_dir
    with exclusive(plugins_dir, change.messages.line):
        # Usually nobody else has changed the registry since the change began: reading and
        # checking it again would take as long as the rest of a small change.
        registry = change.registry.copied()
        if _stamps(plugins_dir) != change.stamps:
            registry = read_registry(plugins_dir)
        reconcile(plugins_dir, registry)

        try:
            with undoing() as undo:
                yield LockedRegistry(plugins_dir, registry, undo)
                undo.close()  # empty after `save`
        except BaseException:
            with suppress(OSError, HostError):  # the next change reconciles again
                reconcile(plugins_dir, read_registry(plugins_dir))
            raise

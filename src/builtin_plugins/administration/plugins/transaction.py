"""A change to plugins: a staging directory, and exclusive access to the registry.

transaction       removes leftovers under the file lock, reads the registry, and then yields a
                  staging directory in `plugins/`; the `with` block holds no lock, so that downloads
                  and questions block nobody
locked_registry   holds the file lock during the `with` block; the end of the block commits, by
                  writing the registry
transaction_in    yields a staging directory anywhere; locks and commits nothing
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field

from builtin_plugins.administration.plugins.reconcile import (
    exclusive,
    reconcile,
    write_registry,
)
from builtin_plugins.administration.program.venv.installer import Installer
from builtin_plugins.io.files.atomic import make_directory
from builtin_plugins.io.files.undo import undoing
from builtin_plugins.io.git import Git, login_of
from builtin_plugins.plugins_folder.directory import FILES_DIR
from builtin_plugins.plugins_folder.registry import (
    Registry,
    RegistryFile,
    local_path,
    read_registry,
    registry_path,
)
from builtin_plugins.store.versions import STAGE, staging
from host import HostError, Messages, OperationError
from host.cli.session import Session
from host.run.lock import stamp

_CALL_SECONDS = 600.0  # limit for each download, git call or pip run


def _no_registry() -> Registry:
    return Registry(RegistryFile(""), RegistryFile(""))


@dataclass(frozen=True)
class Transaction:
    """One change to the session's installation, with a staging directory.

    `area` is a private directory on the file system of `plugins/`; it is removed when the
    transaction ends. `seconds` limits each download, git call or pip run. `registry` is the
    registry at the start of the transaction, and `stamps` changes with its files. `unremoved` has
    an error for each plugin with a former version that cannot be removed, and `set_aside` the new
    path of each user's directory that was removed.
    """

    session: Session
    area: str
    seconds: float
    registry: Registry = field(default_factory=_no_registry)
    stamps: tuple[str, ...] = ()
    unremoved: dict[str, OperationError] = field(default_factory=dict)
    set_aside: dict[str, str] = field(default_factory=dict)

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
    def installer(self) -> Installer:
        return Installer(self.session.environ, self.seconds)

    def git(self, directory: str, address: str = "") -> Git:
        """Return a `Git` for the repository in `directory`, with the login from `address`."""
        return Git(
            directory,
            self.session.environ,
            self.seconds,
            login_of(address),
            on_wait=self.messages.line,
        )


@contextmanager
def transaction_in(session: Session, directory: str, seconds: float) -> Iterator[Transaction]:
    """Yield a transaction staged in `directory`; lock nothing. Raises OSError."""
    with staging(directory) as area:
        os.mkdir(os.path.join(area, "version"))
        yield Transaction(session, area, seconds)


@contextmanager
def transaction(session: Session, seconds: float = _CALL_SECONDS) -> Iterator[Transaction]:
    """Remove the leftovers of interrupted changes, then yield a transaction staged in `plugins/`.

    `plugins/` is locked during the removal, but not in the block. The end of the block commits
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
            yield Transaction(session, area, seconds, registry, stamps)
    except OSError as failure:
        where = os.fsdecode(failure.filename2 or failure.filename or plugins_dir)
        if where.startswith(os.path.join(plugins_dir, STAGE)):
            where = plugins_dir  # the staging directory no longer exists
        raise OperationError(f"{where}: {failure.strerror}") from None


def _stamps(plugins_dir: str) -> tuple[str, ...]:
    return stamp(registry_path(plugins_dir)), stamp(local_path(plugins_dir))


@contextmanager
def locked_registry(tx: Transaction) -> Iterator[tuple[Registry, ExitStack]]:
    """Lock `plugins/`, reconcile it with the registry, and yield the registry and the undo steps.

    The registry is read again only if another process has changed it since the transaction began.
    The end of the block commits: it writes the registry. If the block or the writing fails, the
    undo steps of the block run. Either way, `plugins/` is then reconciled and the lock released.
    """
    plugins_dir = tx.plugins_dir
    with exclusive(plugins_dir, tx.messages.line):
        registry = tx.registry
        if _stamps(plugins_dir) != tx.stamps:
            registry = read_registry(plugins_dir)
        reconcile(plugins_dir, registry)
        try:
            with undoing() as undo:
                yield registry, undo
                write_registry(registry)
        except BaseException:
            with suppress(OSError, HostError):  # the next change reconciles again
                reconcile(plugins_dir, read_registry(plugins_dir))
            raise
        with suppress(OSError, HostError):
            done = reconcile(plugins_dir, registry)
            tx.set_aside.update(done.set_aside)
            if done.unremoved:  # a second try may remove the remaining versions
                tx.unremoved.update(reconcile(plugins_dir, registry).unremoved)

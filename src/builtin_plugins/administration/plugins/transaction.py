"""A change to plugins: a staging directory, and exclusive access to the registry.

transaction       removes leftovers under the file lock, and then yields a staging directory in
                  `plugins/`; the `with` block holds no lock, so that downloads and questions block
                  nobody
locked_registry   holds the file lock during the `with` block; the end of the block commits, by
                  writing the registry
transaction_in    yields a staging directory anywhere; locks and commits nothing
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field

from builtin_plugins.administration.plugins.reconcile import exclusive, reconcile, write_registry
from builtin_plugins.administration.program.venv.copy import (
    VenvCopy,
    copied_venv,
    drop_abandoned_copy,
)
from builtin_plugins.administration.program.venv.installer import Installer
from builtin_plugins.io.files.atomic import make_directory
from builtin_plugins.io.files.undo import undoing
from builtin_plugins.io.git import Git, login_of
from builtin_plugins.plugins_folder.directory import FILES_DIR
from builtin_plugins.plugins_folder.registry import Registry, read_registry
from builtin_plugins.store.versions import STAGE, staging
from host import HostError, Messages, OperationError
from host.cli.session import Session

_CALL_SECONDS = 600.0  # limit for each download, git call or pip run


@dataclass(frozen=True)
class Transaction:
    """One change to the session's installation, with a staging directory.

    `area` is a private directory on the file system of `plugins/`; it is removed when the
    transaction ends. `seconds` limits each download, git call or pip run. `exits` is closed when
    the transaction ends. `unremoved` has an error for each plugin with a former version that
    cannot be removed.
    """

    session: Session
    area: str
    seconds: float
    exits: ExitStack
    unremoved: dict[str, OperationError] = field(default_factory=dict)

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

    def copy_venv(self) -> VenvCopy:
        """Return a copy of this program's environment, which is removed with `area`."""
        return self.exits.enter_context(copied_venv(self.messages.line))

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
    with ExitStack() as exits:
        area = exits.enter_context(staging(directory))
        os.mkdir(os.path.join(area, "version"))
        yield Transaction(session, area, seconds, exits)


@contextmanager
def transaction(session: Session, seconds: float = _CALL_SECONDS) -> Iterator[Transaction]:
    """Remove the leftovers of interrupted changes, then yield a transaction staged in `plugins/`.

    `plugins/` is locked during the removal, but not in the block. The end of the block commits
    nothing: see `locked_registry`. An OSError becomes an OperationError. Raises HostError if the
    registry cannot be read, because nothing may change then.
    """
    plugins_dir = session.installation.plugins_dir
    drop_abandoned_copy()
    try:
        make_directory(plugins_dir)
        with ExitStack() as exits:
            with exclusive(plugins_dir, session.messages.line):
                reconcile(plugins_dir)
                tx = exits.enter_context(transaction_in(session, plugins_dir, seconds))
            yield tx
    except OSError as failure:
        where = os.fsdecode(failure.filename2 or failure.filename or plugins_dir)
        if where.startswith(os.path.join(plugins_dir, STAGE)):
            where = plugins_dir  # the staging directory no longer exists
        raise OperationError(f"{where}: {failure.strerror}") from None


@contextmanager
def locked_registry(tx: Transaction) -> Iterator[tuple[Registry, ExitStack]]:
    """Lock `plugins/`, reconcile it with the registry, and yield the registry and the undo steps.

    The end of the block commits: it writes the registry. If the block or the writing fails, the
    undo steps of the block run. Either way, `plugins/` is then reconciled and the lock released.
    """
    plugins_dir = tx.plugins_dir
    with exclusive(plugins_dir, tx.messages.line):
        reconcile(plugins_dir)
        registry = read_registry(plugins_dir)
        try:
            with undoing() as undo:
                yield registry, undo
                write_registry(plugins_dir, registry)
        finally:
            with suppress(OSError, HostError):  # the next change reconciles again
                if reconcile(plugins_dir):  # a second try may remove the remaining versions
                    tx.unremoved.update(reconcile(plugins_dir))

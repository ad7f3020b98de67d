"""A change of plugins: a staging area, and the registry for one process at a time."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

from builtin_plugins.administration.plugins.kept_versions import RECORD, kept_tree
from builtin_plugins.administration.plugins.registry_file import exclusive, write_registry
from builtin_plugins.administration.plugins.removal import REMOVED
from builtin_plugins.administration.plugins.repair import AREA, reconcile, take_away
from builtin_plugins.administration.program.environment.copy import drop_abandoned_copy
from builtin_plugins.administration.program.environment.installer import Installer
from builtin_plugins.io.files.atomic import (
    make_directory,
    mode_below,
    sync_file_system,
    write_file,
)
from builtin_plugins.io.files.flock import Waiting, take_lock
from builtin_plugins.io.files.undo import undoing
from builtin_plugins.io.progress import Reporter
from builtin_plugins.io.self_options import USUAL_SECONDS
from builtin_plugins.plugins_folder.directory import TREE, VERSIONS
from builtin_plugins.plugins_folder.registry import Entry, Registry, registry_path
from host import HostError, OperationError, PluginError
from host.cli.session import Session


@dataclass(frozen=True)
class Transaction:
    """One change: its staging area, the caller's environment, and progress messages.

    `area` is a private directory on the file system of `plugins/`; the end of the change
    removes it. `descriptor` keeps it locked, also in children, to mark it as in use. `seconds`
    bounds each download, call of git or run of pip. `exits` closes when the change ends.
    """

    plugins_dir: str
    area: str
    descriptor: int
    environ: Mapping[str, str]
    reporter: Reporter
    seconds: float
    exits: ExitStack

    @property
    def version(self) -> str:
        """Return the directory in which a kept version is put together."""
        return os.path.join(self.area, "version")

    @property
    def tree(self) -> str:
        return os.path.join(self.version, TREE)

    @property
    def installer(self) -> Installer:
        return Installer(self.environ, self.seconds, (self.descriptor,))


@contextmanager
def transaction(session: Session, seconds: float = USUAL_SECONDS) -> Iterator[Transaction]:
    """Start a change, after the remains of killed changes are cleaned up.

    A failing system call becomes an OperationError. Raises PluginError if the registry cannot
    be read, because nothing may change then.
    """
    plugins_dir = session.installation.plugins_dir
    messages = session.messages
    reporter = Reporter(messages.program, False, messages.debugging, session.environ)
    drop_abandoned_copy()
    try:
        with _staging(plugins_dir, reporter.line) as (area, held), ExitStack() as exits:
            yield Transaction(plugins_dir, area, held, session.environ, reporter, seconds, exits)
    except OSError as failure:
        where = os.fsdecode(failure.filename2 or failure.filename or plugins_dir)
        if where.startswith(os.path.join(plugins_dir, AREA)):
            where = plugins_dir  # the staging area is gone
        raise OperationError(f"{where}: {failure.strerror}; nothing was changed") from None


@contextmanager
def _staging(plugins_dir: str, waiting: Waiting) -> Iterator[tuple[str, int]]:
    make_directory(plugins_dir)
    for name in (VERSIONS, REMOVED):
        if os.path.islink(os.path.join(plugins_dir, name)):
            raise PluginError(f"{plugins_dir}/{name}: is a link", "remove it")
    with exclusive(plugins_dir, waiting):
        reconcile(plugins_dir)
        area = tempfile.mkdtemp(prefix=AREA, dir=plugins_dir)
        os.mkdir(os.path.join(area, "version"))
        descriptor = os.open(area, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        take_lock(descriptor)
    try:
        yield area, descriptor
    finally:
        shutil.rmtree(area, ignore_errors=True)
        os.close(descriptor)


@contextmanager
def registry_transaction(tx: Transaction) -> Iterator[tuple[Registry, ExitStack]]:
    """Hold the registry alone, as it is now and in agreement with `plugins/`.

    The end of the block writes the registry; this makes the change. If the block or the writing
    fails, the undo steps of the block run. In both cases `plugins/` is then made to agree with
    the registry.
    """
    plugins_dir = tx.plugins_dir
    with exclusive(plugins_dir, tx.reporter.line):
        registry = reconcile(plugins_dir)
        try:
            with undoing() as undo:
                yield registry, undo
                write_registry(registry_path(plugins_dir), registry)
        finally:
            with suppress(OSError, HostError):  # the next change reconciles, too
                reconcile(plugins_dir)


def keep(tx: Transaction, entry: Entry) -> None:
    """Move the staged version, flushed and with its record, to the kept versions.

    If the registry is not written afterwards, reconciling removes it again. An existing
    directory may be incomplete, so it is replaced. Without a staged version, nothing happens.
    """
    if not os.path.isdir(tx.tree):
        return
    place = os.path.dirname(kept_tree(tx.plugins_dir, entry))
    take_away(tx.plugins_dir, entry.name, entry.version_dir)
    os.chmod(tx.version, mode_below(tx.plugins_dir))
    write_file(os.path.join(tx.version, RECORD), json.dumps(entry.fields(), indent=2))
    sync_file_system(tx.version)
    make_directory(os.path.dirname(place))
    os.rename(tx.version, place)

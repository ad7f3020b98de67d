"""What a change of plugins works with: a staging area, and the registry for itself alone."""

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
    """One change: its staging area, the caller's environment, and the user's ear.

    `area` is a directory of our own on the file system of `plugins/`, gone when the change
    ends; `descriptor` holds it open, also in children: it is in use. `seconds` bounds each
    download, call of git or run of pip; `exits` is what ends with the change.
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
    """Give what a change works with, after healing what killed changes left.

    Whatever the disk refuses becomes an OperationError. Raises PluginError when the registry
    cannot be read: then nothing may change.
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
            where = plugins_dir  # what was staged is gone
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
    """Be the only one who changes plugins, with the registry as it is now, healed.

    At the end of the block the registry is written: from there on the change is made. When
    the block or that fails, the undo steps run that the block has left. Either way what is
    in `plugins/` is brought to what the registry says then.
    """
    plugins_dir = tx.plugins_dir
    with exclusive(plugins_dir, tx.reporter.line):
        registry = reconcile(plugins_dir)
        try:
            with undoing() as undo:
                yield registry, undo
                write_registry(registry_path(plugins_dir), registry)
        finally:
            with suppress(OSError, HostError):  # the next change heals, too
                reconcile(plugins_dir)


def keep(tx: Transaction, entry: Entry) -> None:
    """Move the staged version to where versions are kept, flushed, with its record beside it.

    Healing removes it again where the registry is not written. What is there already may be
    incomplete, so it makes way; a version that was not staged is kept already.
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

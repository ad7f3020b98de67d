"""The staging area of one change, and the moves that put a staged plugin in its place."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import NamedTuple

from builtin_plugins.files.atomic import (
    discard,
    make_directory,
    mode_below,
    sync_file_system,
    undoing,
    write_file,
    write_link,
)
from builtin_plugins.files.locks import Waiting, take_lock
from builtin_plugins.plugin_directories.directory import (
    REMOVED,
    STAGING,
    TREE,
    VERSIONS,
    kept_label,
)
from builtin_plugins.plugin_directories.registry import (
    Entry,
    Registry,
    exclusive,
    registry_path,
    write_registry,
)
from builtin_plugins.plugin_directories.repair import AREA, RECORD, heal, relink
from host import PluginError

KEPT_VERSIONS = 3  # beside the one that is on


class Stage(NamedTuple):
    """A directory of our own on the file system of `plugins/`, gone when the change ends.

    `waiting` is told whose change this one waits for.
    """

    plugins_dir: str
    path: str
    descriptor: int  # held open, also by children: the area is in use
    waiting: Waiting

    @property
    def version(self) -> str:
        """Return the directory in which a kept version is put together."""
        return os.path.join(self.path, "version")

    @property
    def tree(self) -> str:
        return os.path.join(self.version, TREE)


@contextmanager
def staging(plugins_dir: str, waiting: Waiting) -> Iterator[Stage]:
    """Give a staging area, after healing what killed changes left.

    Raises PluginError when the registry cannot be read: then nothing may change.
    """
    make_directory(plugins_dir)
    for name in (STAGING, VERSIONS, REMOVED):
        if os.path.islink(os.path.join(plugins_dir, name)):
            raise PluginError(f"{plugins_dir}/{name}: is a link", "remove it")
    area = os.path.join(plugins_dir, STAGING)
    with exclusive(plugins_dir, waiting):
        heal(plugins_dir)
        path = _make_area(area)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        take_lock(descriptor)
    try:
        yield Stage(plugins_dir, path, descriptor, waiting)
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(descriptor)
        with suppress(OSError):
            os.rmdir(area)


def _make_area(area: str) -> str:
    """Make a staging area; whoever ends another change may take the empty parent away."""
    while True:
        os.makedirs(area, exist_ok=True)
        with suppress(FileNotFoundError):
            path = tempfile.mkdtemp(prefix=AREA, dir=area)
            os.mkdir(os.path.join(path, "version"))
            return path


@contextmanager
def changing(stage: Stage) -> Iterator[tuple[Registry, ExitStack]]:
    """Be the only one who changes plugins, with the registry as it is now, healed.

    At the end of the block the registry is written: from there on the change is made.
    When the block or that fails, the undo steps run that the block has left.
    """
    plugins_dir = stage.plugins_dir
    with exclusive(plugins_dir, stage.waiting):
        registry = heal(plugins_dir)
        with undoing() as undo:
            yield registry, undo
            write_registry(registry_path(plugins_dir), registry)
        with suppress(OSError, PluginError):  # the change is made; the next one clears up
            heal(plugins_dir)


def put_version(stage: Stage, entry: Entry, undo: ExitStack) -> None:
    """Make the staged tree the one that `plugins/<name>` leads to."""
    former = kept_label(stage.plugins_dir, entry.name)
    put_kept(stage, entry, undo)
    link = os.path.join(stage.plugins_dir, entry.name)
    if former is not None:
        undo.callback(write_link, link, os.path.join(VERSIONS, entry.name, former, TREE))
    elif not os.path.lexists(link):
        undo.callback(discard, link)
    relink(stage.plugins_dir, entry)


def put_kept(stage: Stage, entry: Entry, undo: ExitStack) -> None:
    """Move the staged version to where versions are kept, flushed, with its record beside it."""
    version = stage.version
    place = os.path.join(stage.plugins_dir, VERSIONS, entry.name, entry.label)
    if os.path.isdir(place):
        return
    os.chmod(version, mode_below(stage.plugins_dir))
    write_file(os.path.join(version, RECORD), json.dumps(entry.fields(), indent=2))
    sync_file_system(version)
    undo.callback(_drop_kept, place)
    make_directory(os.path.dirname(place))
    os.rename(version, place)


def _drop_kept(place: str) -> None:
    shutil.rmtree(place, ignore_errors=True)
    with suppress(OSError):
        os.rmdir(os.path.dirname(place))
        os.rmdir(os.path.dirname(os.path.dirname(place)))


def trimmed(entry: Entry, former: Entry | None) -> tuple[str, ...]:
    """Return the labels to keep, oldest first: the new one and up to three others."""
    labels = list(former.versions) if former else []
    if former and former.label and former.label not in labels:
        labels.append(former.label)
    if entry.label not in labels:
        labels.append(entry.label)
    while len(labels) > KEPT_VERSIONS + 1:
        labels.remove(next(one for one in labels if one != entry.label))
    return tuple(labels)

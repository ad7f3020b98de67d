"""The staging area of one change, and the moves that put a staged plugin in its place."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from builtin_plugins.files.atomic import sync_file_system
from builtin_plugins.plugin_directories.directory import STAGING, TREE, VERSIONS, kept_label
from builtin_plugins.plugin_directories.registry import (
    Entry,
    Registry,
    exclusive,
    registry_path,
    write_registry,
)
from builtin_plugins.plugin_directories.repair import RECORD, heal, pending_removal, relink

KEPT_VERSIONS = 3  # beside the one that is on
Undo = Callable[[], None]


class Stage:
    """A directory of our own on the file system of `plugins/`, gone when the change ends."""

    def __init__(self, plugins_dir: str, path: str, descriptor: int) -> None:
        self.plugins_dir = plugins_dir
        self.path = path
        self.descriptor = descriptor  # held open, also by children: the area is in use

    @property
    def tree(self) -> str:
        return os.path.join(self.path, "version", TREE)

    def make_version(self) -> str:
        """Make and return the directory in which a kept version is put together."""
        version = os.path.join(self.path, "version")
        os.makedirs(version, exist_ok=True)
        return version


@contextmanager
def staging(plugins_dir: str) -> Iterator[Stage]:
    """Give a staging area, after healing what killed changes left.

    Raises PluginError when the registry cannot be read: then nothing may change.
    """
    os.makedirs(plugins_dir, exist_ok=True)
    area = os.path.join(plugins_dir, STAGING)
    with exclusive(plugins_dir):
        heal(plugins_dir)
        path = _make_area(area)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield Stage(plugins_dir, path, descriptor)
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
            return tempfile.mkdtemp(prefix="change-", dir=area)


@contextmanager
def changing(plugins_dir: str) -> Iterator[Registry]:
    """Be the only one who changes plugins, with the registry as it is now, healed."""
    with exclusive(plugins_dir):
        yield heal(plugins_dir)


def commit(plugins_dir: str, registry: Registry, undo: Undo) -> None:
    """Write the registry: from here on the change is made. `undo` when that fails."""
    try:
        write_registry(registry_path(plugins_dir), registry)
    except BaseException:
        undo()
        raise


def put_version(stage: Stage, entry: Entry) -> Undo:
    """Make the staged tree the one that `plugins/<name>` leads to."""
    former = kept_label(stage.plugins_dir, entry.name)
    undo_kept = put_kept(stage, entry)

    def undo() -> None:
        link = os.path.join(stage.plugins_dir, entry.name)
        if os.path.islink(link):
            os.unlink(link)
            if former is not None:
                os.symlink(os.path.join(VERSIONS, entry.name, former, TREE), link)
        undo_kept()

    try:
        relink(stage.plugins_dir, entry)
    except BaseException:
        undo()
        raise
    return undo


def put_kept(stage: Stage, entry: Entry) -> Undo:
    """Move the staged version to where versions are kept, flushed, with its record beside it."""
    version = os.path.dirname(stage.tree)
    place = os.path.join(stage.plugins_dir, VERSIONS, entry.name, entry.label)
    if os.path.isdir(place):
        return lambda: None
    with open(os.path.join(version, RECORD), "w", encoding="utf-8") as file:
        json.dump(entry.fields(), file, indent=2)
    sync_file_system(version)
    os.makedirs(os.path.dirname(place), exist_ok=True)

    def undo() -> None:
        shutil.rmtree(place, ignore_errors=True)
        with suppress(OSError):
            os.rmdir(os.path.dirname(place))
            os.rmdir(os.path.dirname(os.path.dirname(place)))

    try:
        os.rename(version, place)
    except BaseException:
        undo()
        raise
    return undo


def put_link(plugins_dir: str, name: str, target: str) -> Undo:
    """Make `plugins/<name>` a link to the author's own directory."""
    place = os.path.join(plugins_dir, name)
    os.symlink(target, place)
    return lambda: os.unlink(place)


def take_away(stage: Stage, name: str) -> Undo:
    """Move `plugins/<name>` out of sight, until the stage goes."""
    place = os.path.join(stage.plugins_dir, name)
    if not os.path.lexists(place):
        return lambda: None
    removed = os.path.join(stage.path, "removed")
    os.makedirs(removed, exist_ok=True)
    os.rename(place, os.path.join(removed, name))
    return lambda: os.rename(os.path.join(removed, name), place)


def set_aside(plugins_dir: str, name: str) -> Undo:
    """Move a directory that may be the only copy to where removed ones are kept."""
    place = os.path.join(plugins_dir, name)
    aside = pending_removal(plugins_dir, name)
    os.makedirs(os.path.dirname(aside), exist_ok=True)
    os.rename(place, aside)
    return lambda: os.rename(aside, place)


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

"""A copy of an installation in which tests can change everything.

It has what a colleague's clone would have. Files that git ignores are left out, so a test sees no
secrets of a local .env file; the plugins and the launcher are in the copy nevertheless.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from collections.abc import Collection
from typing import Any

from host import Program

_NEVER_COPIED = (".git", "__pycache__", "node_modules")
# In a Python environment, and in a cache.
_MARKS_OF_NO_SOURCE = ("pyvenv.cfg", "CACHEDIR.TAG")
_VERSIONS = ".versions"  # in the folder of plugins: their installed versions
_REGISTRIES = ("registry.json", "registry.local.json")
_TREE = "tree"  # in the folder of a version: its files
_LOCKS = ("cli.lock", "cli.lock.index")  # they name the paths of the original
_FOLLOWED_DEPTH = 2  # of links to folders outside, such as commands/ or core/lib


def copy_installation(program: Program, target: str) -> None:
    """Copy the installation of `program` to the folder `target`. Raises OSError."""
    root = program.root
    plugins = program.plugins_dir
    skipped = [os.path.join(root, name) for name in _LOCKS]
    skipped.append(plugins)
    _Copy(root, target, skipped).run()

    # git may ignore the launcher, and then it is not copied yet.
    launcher = program.executable
    copied_core = os.path.join(target, "core")
    copied_launcher = os.path.join(copied_core, os.path.basename(launcher))
    if not os.path.lexists(copied_launcher):
        os.makedirs(copied_core, exist_ok=True)
        shutil.copy2(launcher, copied_launcher)

    if os.path.isdir(plugins):
        below = os.path.relpath(plugins, root)
        copied_plugins = os.path.join(target, below)
        _copy_plugins(plugins, copied_plugins)


def _copy_plugins(source: str, target: str) -> None:
    """Copy the plugins; a linked plugin becomes a folder, so that tests cannot change it."""
    os.makedirs(target, exist_ok=True)
    real_source = os.path.realpath(source)
    active = set()
    for entry in os.scandir(source):
        copied = os.path.join(target, entry.name)
        real = os.path.realpath(entry.path)
        is_link_inside = entry.is_symlink() and is_inside(real, real_source)
        if is_link_inside:
            os.symlink(os.readlink(entry.path), copied)
            active.add(real)
        elif entry.is_dir() and entry.name != _VERSIONS:
            _Copy(real, copied).run()
        elif entry.is_file():
            shutil.copy2(entry.path, copied)

    for file in _REGISTRIES:
        _copy_linked(os.path.join(target, file), target)

    versions = os.path.join(source, _VERSIONS)
    if os.path.isdir(versions):
        copied_versions = os.path.join(target, _VERSIONS)
        _copy_versions(versions, copied_versions, active)


def _copy_linked(registry: str, target: str) -> None:
    """Copy the linked folders that a copied registry names, and make its entries name the copies.

    Without a source, the entry of a folder means `plugins/NAME`.
    """
    values = _registry(registry)
    for entry in _linked_entries(values):
        copied = os.path.join(target, entry["name"])
        if os.path.isdir(entry["source"]) and not os.path.lexists(copied):
            _Copy(os.path.realpath(entry["source"]), copied).run()
            entry["source"] = None
    if values:
        with open(registry, "w", encoding="utf-8") as file:
            json.dump(values, file)


def linked_folder(plugins: str, name: str) -> str:
    """Return the folder of a linked plugin, or "" for any other plugin."""
    for file in _REGISTRIES:
        for entry in _linked_entries(_registry(os.path.join(plugins, file))):
            if entry["name"] == name:
                return str(entry["source"])
    return ""


def _registry(path: str) -> dict[str, Any]:
    """Return the content of a registry, or {} if there is none that can be read."""
    try:
        with open(path, encoding="utf-8") as file:
            values = json.load(file)
    except (OSError, ValueError):
        return {}
    if not isinstance(values, dict):
        return {}
    return values


def _linked_entries(values: dict[str, Any]) -> list[dict[str, Any]]:
    entries = values.get("plugins")
    if not isinstance(entries, list):
        return []

    linked = []
    for entry in entries:
        if not isinstance(entry, dict) or entry.get("kind") != "local":
            continue
        if isinstance(entry.get("name"), str) and isinstance(entry.get("source"), str):
            linked.append(entry)
    return linked


def _copy_versions(source: str, target: str, active: Collection[str]) -> None:
    """Copy the versions in use. Packages, which are large, and other versions become links."""
    for plugin in os.scandir(source):
        copied_plugin = os.path.join(target, plugin.name)
        for version in os.scandir(plugin.path):
            os.makedirs(copied_plugin, exist_ok=True)
            copied = os.path.join(copied_plugin, version.name)

            real = os.path.realpath(version.path)
            tree = os.path.join(real, _TREE)
            if tree in active and not _is_package(tree):
                _Copy(real, copied).run()
            else:
                os.symlink(real, copied)


def _is_package(tree: str) -> bool:
    for name in _names_in(tree):
        if name.endswith(".dist-info"):
            return True
    return False


class _Copy:
    """One copy of a folder, and where its links lead.

    source, target   the folder and its copy
    skipped          paths that are left out
    """

    def __init__(self, source: str, target: str, skipped: Collection[str] = ()) -> None:
        self._source = source
        self._target = target
        self._skipped = skipped

    def run(self) -> None:
        os.makedirs(self._target, exist_ok=True)
        names = _names_in_git(self._source)
        if names is None:
            self._copy_below(self._source)
            return

        for name in names:
            path = os.path.join(self._source, name)
            # A deleted file is in the index until the next commit.
            if os.path.lexists(path):
                self._copy(path)

    def _copy_below(self, folder: str) -> None:
        for entry in os.scandir(folder):
            self._copy(entry.path)

    def _copy(self, path: str) -> None:
        for skipped in self._skipped:
            if is_inside(path, skipped):
                return

        below = os.path.relpath(path, self._source)
        copied = os.path.join(self._target, below)
        kind = os.lstat(path).st_mode
        if stat.S_ISDIR(kind):
            if _has_source(path):
                os.makedirs(copied, exist_ok=True)
                self._copy_below(path)
            return

        os.makedirs(os.path.dirname(copied), exist_ok=True)
        if stat.S_ISLNK(kind):
            self._copy_link(path, copied)
        elif stat.S_ISREG(kind):  # no sockets, pipes or devices
            shutil.copy2(path, copied)

    def _copy_link(self, path: str, copied: str) -> None:
        """Copy a link so that it stays in the copy, if its target is in the original."""
        real = os.path.realpath(path)
        real_source = os.path.realpath(self._source)
        if is_inside(real, real_source):
            os.symlink(self._target_inside(path, real), copied)
        elif os.path.isfile(real):
            shutil.copy2(real, copied)
        elif os.path.isdir(real) and self._is_followed(path, real):
            _Copy(real, copied).run()
        else:
            os.symlink(real, copied)

    def _target_inside(self, path: str, real: str) -> str:
        """Return what a link to a file of the original has as its target in the copy."""
        written = os.readlink(path)
        if not os.path.isabs(written):
            return written

        # Relative, because each test copies the copy.
        real_source = os.path.realpath(self._source)
        below = os.path.relpath(path, self._source)
        folder = os.path.dirname(os.path.join(real_source, below))
        return os.path.relpath(real, folder)

    def _is_followed(self, path: str, real: str) -> bool:
        """Return whether a link to a folder outside is copied with its content."""
        # A link to a folder around this one would be copied without end.
        real_source = os.path.realpath(self._source)
        if is_inside(real_source, real):
            return False
        below = os.path.relpath(path, self._source)
        depth = below.count(os.sep) + 1
        return depth <= _FOLLOWED_DEPTH


def _has_source(folder: str) -> bool:
    """Return whether a folder has files that somebody wrote, unlike an environment or a cache."""
    if os.path.basename(folder) in _NEVER_COPIED:
        return False
    for mark in _MARKS_OF_NO_SOURCE:
        path = os.path.join(folder, mark)
        if os.path.lexists(path):
            return False
    return True


def _names_in_git(folder: str) -> list[str] | None:
    """Return the files that git does not ignore, or None if the folder is no repository."""
    repository = os.path.join(folder, ".git")
    if not os.path.lexists(repository):
        return None

    options = ["-z", "--cached", "--others", "--exclude-standard"]
    # The caller's variables may name another repository, as in a hook of git.
    environ = dict(os.environ)
    for name in os.environ:
        if name.startswith("GIT_"):
            del environ[name]
    try:
        done = subprocess.run(
            ["git", "-C", folder, "ls-files", *options],
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except OSError:  # without git, everything is copied
        return None
    if done.returncode:
        return None

    names = done.stdout.removesuffix(b"\0").split(b"\0")
    return [os.fsdecode(name) for name in names if name]


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def is_inside(path: str, folder: str) -> bool:
    """Return whether `path` is `folder` or below it; neither is resolved."""
    if path == folder:
        return True
    return path.startswith(folder.rstrip(os.sep) + os.sep)

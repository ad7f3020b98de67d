"""Local plugins: a link to the author's own directory, so that every edit is live."""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import ExitStack
from typing import Any

from builtin_plugins.plugin_changes.kinds.kind import Staged, Work, described
from builtin_plugins.plugin_changes.source import Origin
from builtin_plugins.plugin_changes.staging import put_link, take_away
from builtin_plugins.plugin_directories.directory import FILE_NAME
from builtin_plugins.plugin_directories.registry import Entry
from builtin_plugins.venv.installer import has_pip
from host import OperationError, PluginError
from host.hookspecs import PROJECT
from host.run.json_files import read_regular

_LARGEST = 1 << 20  # bytes of a pyproject.toml that is looked at

# File systems whose files the kernel makes up while somebody reads them.
_KERNELS = frozenset(
    (
        *("binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "efivarfs"),
        *("fusectl", "proc", "pstore", "securityfs", "selinuxfs", "sysfs", "tracefs"),
    )
)


class LocalKind:
    """Nothing is copied and nothing of the author's is ever changed."""

    def fetch(self, origin: Origin, work: Work) -> Staged:
        root = os.path.realpath(origin.source)
        plugins_dir = os.path.realpath(work.stage.plugins_dir)
        if not os.path.isdir(root):
            raise OperationError(f"{origin.source}: no such directory")
        kind = _file_system(root)
        if kind in _KERNELS:
            raise OperationError(f"{origin.source}: is the system's own ({kind}), no plugin")
        if os.path.dirname(root) == plugins_dir:
            raise OperationError(f"{origin.source}: is in the plugins directory, so it works as is")
        if plugins_dir.startswith(os.path.join(root, "")):
            raise OperationError(f"{origin.source}: holds the plugins directory itself")
        _refuse_package(root)
        entry = Entry(name="", kind="local", source=origin.source, dev=True)
        return described(entry, root, origin)

    def put(self, entry: Entry, work: Work, undo: ExitStack) -> None:
        put_link(work.stage.plugins_dir, entry.name, entry.source, undo)

    def take(self, entry: Entry, work: Work, undo: ExitStack) -> None:
        take_away(work.stage, entry.name, undo)


def _file_system(path: str) -> str:
    """Return the kind of file system that `path` is on, "" where the system does not list it."""
    device = os.stat(path).st_dev
    named = f"{os.major(device)}:{os.minor(device)}"
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
            rows = [line.split() for line in mounts]
    except OSError:
        return ""
    kinds = [row[row.index("-") + 1] for row in rows if row[2] == named]
    return kinds[-1] if kinds else ""


def _refuse_package(root: str) -> None:
    """Raise PluginError for a directory whose pyproject.toml makes it a package with a plugin."""
    if os.path.lexists(os.path.join(root, FILE_NAME)):
        return
    points = _project(root).get("entry-points")
    if not isinstance(points, dict) or PROJECT not in points:
        return
    python = shlex.quote(sys.executable)
    way = f"{python} -m pip install" if has_pip() else f"uv pip install --python {python}"
    raise PluginError(
        f"{root}: is a Python package, not a directory of commands",
        f"while you write it: {way} -e {shlex.quote(root)}; for others build a wheel and add that",
    )


def _project(root: str) -> dict[str, Any]:
    """Return what a pyproject.toml says of its project; {} where there is none to read."""
    import tomllib

    try:
        text = read_regular(os.path.join(root, "pyproject.toml"), _LARGEST, PluginError)
        project = tomllib.loads(text.decode()).get("project")
    except (OSError, ValueError, PluginError):
        return {}
    return project if isinstance(project, dict) else {}

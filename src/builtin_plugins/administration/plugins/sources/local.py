"""Local plugins: a link to the author's own directory, so that every edit is live."""

from __future__ import annotations

import os
import re
import shlex
import sys

from builtin_plugins.administration.plugins.sources.parse import Origin
from builtin_plugins.administration.plugins.sources.staged import Staged, described
from builtin_plugins.administration.plugins.transaction import Work
from builtin_plugins.administration.program.environment.installer import has_pip
from builtin_plugins.plugins_folder.directory import FILE_NAME
from host import OperationError, PluginError
from host.hookspecs import PROJECT
from host.run.paths import read_regular

_HAS_PLUGIN = re.compile(rb"^\[project\.entry-points\.[\"']?%b\b" % PROJECT.encode(), re.MULTILINE)
_LARGEST = 1 << 20  # bytes of a pyproject.toml that is looked at
_KERNELS = ("/proc/", "/sys/")  # files there are made up while somebody reads them


def fetch(origin: Origin, work: Work) -> Staged:
    """Say what is in the directory; nothing is copied, nothing of the author's changed."""
    source = origin.address
    root = os.path.realpath(source)
    plugins_dir = os.path.realpath(work.plugins_dir)
    if not os.path.isdir(root):
        raise OperationError(f"{source}: no such directory")
    if f"{root}/".startswith(_KERNELS):
        raise OperationError(f"{source}: is the system's own, no plugin")
    if os.path.dirname(root) == plugins_dir:
        raise OperationError(f"{source}: is in the plugins directory, so it works as is")
    if plugins_dir.startswith(os.path.join(root, "")):
        raise OperationError(f"{source}: holds the plugins directory itself")
    _refuse_package(root)
    return described(origin.wanted, root)


def _refuse_package(root: str) -> None:
    """Raise PluginError for a directory whose pyproject.toml makes it a package with a plugin."""
    if os.path.lexists(os.path.join(root, FILE_NAME)):
        return
    try:
        project = read_regular(os.path.join(root, "pyproject.toml"), _LARGEST, PluginError)
    except (FileNotFoundError, PluginError):
        return
    if not _HAS_PLUGIN.search(project):
        return
    python = shlex.quote(sys.executable)
    way = f"{python} -m pip install" if has_pip() else f"uv pip install --python {python}"
    raise PluginError(
        f"{root}: is a Python package, not a directory of commands",
        f"while you write it: {way} -e {shlex.quote(root)}; for others build a wheel and add that",
    )

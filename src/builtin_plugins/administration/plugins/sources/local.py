"""Local plugins: a link to the author's own directory, so that every edit is live."""

from __future__ import annotations

import os

from builtin_plugins.administration.plugins.sources.parse import Origin
from builtin_plugins.administration.plugins.sources.staged import Staged, described
from builtin_plugins.administration.plugins.transaction import Transaction
from host import OperationError

_KERNELS = ("/proc/", "/sys/")  # files there are made up while somebody reads them


def fetch(origin: Origin, tx: Transaction) -> Staged:
    """Say what is in the directory; nothing is copied, nothing of the author's changed."""
    source = origin.address
    root = os.path.realpath(source)
    plugins_dir = os.path.realpath(tx.plugins_dir)
    if not os.path.isdir(root):
        raise OperationError(f"{source}: no such directory")
    if f"{root}/".startswith(_KERNELS):
        raise OperationError(f"{source}: is the system's own, no plugin")
    if os.path.dirname(root) == plugins_dir:
        raise OperationError(f"{source}: is in the plugins directory, so it works as is")
    if plugins_dir.startswith(os.path.join(root, "")):
        raise OperationError(f"{source}: holds the plugins directory itself")
    return described(origin.wanted, root)

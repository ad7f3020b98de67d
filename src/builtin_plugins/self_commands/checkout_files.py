"""Files of a checkout change places with staged ones, each in one step, with a way back."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from contextlib import ExitStack, suppress


def move_files(names: Iterable[str], staged: str, root: str, kept: str, undo: ExitStack) -> None:
    """Let each of `names` below `root` be what `staged` has of it, or be gone with it.

    All are on one file system. What was there is copied to `kept`, from where `undo`
    puts it back. What goes makes room for what comes, so it goes first. Raises OSError.
    """
    for name in sorted(names, key=lambda name: _is_file(os.path.join(staged, name))):
        target, former = os.path.join(root, name), os.path.join(kept, name)
        if _is_file(target):
            os.makedirs(os.path.dirname(former), exist_ok=True)
            shutil.copy2(target, former, follow_symlinks=False)
        undo.callback(_put, former, target)
        _put(os.path.join(staged, name), target)


def _put(source: str, target: str) -> None:
    """Move `source` to `target`; where there is none, take `target` and empty parents away."""
    if _is_file(source):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.rename(source, target)
        return
    with suppress(FileNotFoundError, NotADirectoryError):
        os.unlink(target)
    with suppress(OSError):
        os.removedirs(os.path.dirname(target))


def _is_file(path: str) -> bool:
    """Tell whether git would have a file or link there: a directory is only on the way to some."""
    return os.path.islink(path) or os.path.isfile(path)

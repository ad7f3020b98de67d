"""What an installation has of this program's own, brought to what a new version ships.

That is `core/lib` and the launcher. Commands, configuration, plugins and cli.json are
the user's; they stay as they are.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from host.durable import sync_file_system
from host.errors import OperationError
from host.launcher import is_launcher

_WRITE_LAUNCHER = """
import pathlib, sys
from host.launcher import write_launcher
write_launcher(pathlib.Path(sys.argv[1]), replace=True)
"""


@contextmanager
def staged_libraries(here: str, shipped: str) -> Iterator[str]:
    """Give a directory beside `here`, put together of it and of what is `shipped`.

    Its files of other names stay in it. "" where nothing changes. Raises OSError.
    """
    if not os.path.isdir(here) or not _differs(here, shipped):
        yield ""
        return
    stage = os.path.join(os.path.dirname(here), f".{os.path.basename(here)}.cli-stage")
    try:
        shutil.rmtree(stage, ignore_errors=True)
        shutil.copytree(here, stage, symlinks=True)
        for name in os.listdir(shipped):
            _put(os.path.join(shipped, name), os.path.join(stage, name))
        sync_file_system(stage)
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _put(source: str, target: str) -> None:
    if os.path.islink(target):
        os.unlink(target)
    shutil.copy(source, target)


def _differs(here: str, shipped: str) -> bool:
    try:
        names = os.listdir(shipped)
    except FileNotFoundError:
        return False
    _, differing, missing = filecmp.cmpfiles(shipped, here, names, shallow=False)
    return bool(differing or missing)


def renew_launcher(path: str, python: str) -> None:
    """Let the version that `python` starts write its launcher, where `path` is one.

    Raises OperationError when it cannot; the old launcher is there then.
    """
    if not is_launcher(path):
        return
    done = subprocess.run(
        [python, "-I", "-c", _WRITE_LAUNCHER, path], capture_output=True, check=False
    )
    if done.returncode:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise OperationError(f"{path}: cannot be renewed: {' '.join(last)}")

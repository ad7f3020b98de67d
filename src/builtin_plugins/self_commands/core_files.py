"""What an installation has of this program's own, brought to what a new version ships.

That is `core/lib`, `core/schema` and the launcher. Commands, configuration, plugins and
cli.json are the user's; they stay as they are.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from builtin_plugins.files.atomic import sync_file_system, write_file
from builtin_plugins.self_commands.launcher import is_launcher
from builtin_plugins.venv.check import ask

RENEWED = ("lib", "schema")  # the directories of `core`

Warn = Callable[[str], None]


def stages(core_dir: str) -> list[str]:
    """Return where the new directories are put together; what is there belongs to no change."""
    return [_stage_of(os.path.join(core_dir, name)) for name in RENEWED]


def _stage_of(here: str) -> str:
    return os.path.join(os.path.dirname(here), f".{os.path.basename(here)}.cli-stage")


@contextmanager
def staged_libraries(here: str, former: str, shipped: str, warn: Warn) -> Iterator[str]:
    """Give a directory beside `here` with the files of `shipped` in place of the `former` ones.

    What is neither is the user's own; it stays, and where `shipped` has another, `warn`
    is told. "" where nothing changes. Raises OSError.
    """
    names = list(_to_renew(here, former, shipped, warn))
    stage = _stage_of(here)
    try:
        shutil.rmtree(stage, ignore_errors=True)
        if names:
            shutil.copytree(here, stage, symlinks=True)
            for name in names:
                shutil.copy(os.path.join(shipped, name), os.path.join(stage, name))
            sync_file_system(stage)
        yield stage if names else ""
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _to_renew(here: str, former: str, shipped: str, warn: Warn) -> Iterator[str]:
    if not os.path.isdir(here) or not os.path.isdir(shipped):
        return
    for name in sorted(os.listdir(shipped)):
        mine, new = _content(here, name), _content(shipped, name)
        if mine in ("", _content(former, name)) and mine != new:
            yield name
        elif mine != new:
            path = os.path.join(here, name)
            warn(f"{path}: has changes of yours and stays; this version has another")


def _content(directory: str, name: str) -> bytes | str:
    """Return a file's content, "" where there is none, a link's target as text."""
    path = os.path.join(directory, name)
    if os.path.islink(path):
        return os.readlink(path)
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def renew_launcher(path: str, undo: ExitStack) -> None:
    """Let the version that this environment has now write its launcher, where `path` is one.

    That version is asked as a user would ask it, as nothing else of it is known here.
    Raises OperationError when it cannot; the old launcher is there then.
    """
    if not is_launcher(path):
        return
    with open(path, "rb") as file:
        former = file.read()
    undo.callback(write_file, path, former)
    failing = f"{path}: cannot be renewed"
    ask(sys.executable, "host", "--safe", "self", "launcher", path, failing=failing)

"""What a killed run left behind: nothing of it counts, but it takes room and looks odd."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from builtin_plugins.administration.plugins.reconcile import reconcile_if_free, was_interrupted
from builtin_plugins.administration.program.environment.copy import VenvCopy
from builtin_plugins.administration.program.shipped_files import shipped_files
from builtin_plugins.administration.words.completion import SHELLS, start_up_file
from builtin_plugins.administration.words.doctor.diagnosis import Diagnosis, Patient
from builtin_plugins.administration.words.new import STAGE
from builtin_plugins.io.files.atomic import is_tree, remove_tree, temporary
from builtin_plugins.io.files.flock import locked
from builtin_plugins.setup.hooks import ENTRYPOINT, merged_variables
from builtin_plugins.setup.tool_settings import Places
from builtin_plugins.store import abandoned
from host import OperationError

_YOUNG = 60.0  # seconds in which what is there may be at work


def leftovers(patient: Patient) -> Iterator[Diagnosis]:
    """Yield what an interrupted change left behind; what somebody is at work in, is none."""
    plugins_dir = patient.installation.plugins_dir
    if was_interrupted(plugins_dir):
        yield Diagnosis(
            f"{plugins_dir}: a change of plugins was interrupted, and left what it was making",
            f"{patient.call} self plugin list",
            partial(reconcile_if_free, plugins_dir),
        )
    for path in dict.fromkeys([VenvCopy().path, f"{patient.layout.root}/.venv.cli-stage"]):
        if os.path.isdir(path) and _is_free(os.path.join(sys.prefix, "pyvenv.cfg")):
            yield _left(path, "an update that was interrupted")
    yield from _setups(patient)
    for path in map(temporary, _written(patient)):
        if os.path.lexists(path) and _is_old(path):
            yield _left(path, "a file that was being written")
    for path in (*patient.installation.locks, *patient.installation.indexes):
        beside = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.new")
        if os.path.lexists(beside) and _is_free(beside):
            yield _left(beside, "a lock that was being written")
    for path in _staged(patient.installation.commands_dir):
        yield _left(path, "a command or category that was being made")


def _left(path: str, what: str, fix: Callable[[], object] | None = None) -> Diagnosis:
    """Return the diagnosis of a file or directory that only has to be removed."""
    remedy = f"{'rm -r' if is_tree(path) else 'rm'} {shlex.quote(path)}"
    return Diagnosis(f"{path} is left of {what}", remedy, fix or partial(remove_tree, path))


def _setups(patient: Patient) -> Iterator[Diagnosis]:
    """Yield the stages of `setup` commands, by the variables that a listing uses."""
    for command in patient.commands:
        if command.definition.entrypoint != ENTRYPOINT:
            continue
        merged = merged_variables(command.definition.envs, patient.environ)
        directory = Places.read(command.words[-1], merged).install_dir
        if os.path.isdir(directory) and _is_free(directory):
            for path in abandoned(directory):
                yield _left(path, "a setup that was interrupted")


def _written(patient: Patient) -> Iterator[str]:
    """Yield all that is written whole or not at all, beside a hidden name."""
    yield from patient.launchers
    for file in shipped_files():
        yield os.path.join(patient.layout.root, file.relative)
    if patient.environ.get("HOME"):
        for shell in SHELLS:
            yield start_up_file(shell, patient.program, patient.environ)


def _staged(commands_dir: str) -> Iterator[str]:
    for place, names, _ in os.walk(commands_dir):
        if STAGE in names and _is_free(place):
            yield os.path.join(place, STAGE)
        names[:] = [name for name in names if not name.startswith(".")]


def _is_old(path: str) -> bool:
    with suppress(OSError):
        return time.time() - os.lstat(path).st_mtime > _YOUNG
    return False


def _is_free(path: str) -> bool:
    """Tell whether nobody holds the lock on that file or directory."""
    with suppress(OperationError, OSError), locked(path):
        return True
    return False

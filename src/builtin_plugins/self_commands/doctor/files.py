"""Whether files are where they belong, as they must be, and only for those who may."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterator
from functools import partial

from builtin_plugins.plugin_directories.registry import registry_path
from builtin_plugins.self_commands.doctor.diagnosis import Diagnosis, Patient
from host import HostError
from host.planning.cache_files import can_be_made
from host.run.settings import capture_settings

_WRONG_PLACES = ("settings.conf", "core/settings.conf", "commands/settings.conf")


def settings(patient: Patient) -> Iterator[Diagnosis]:
    """Yield what is wrong with settings.conf; it is sourced, as a run does, unless in safe mode."""
    layout = patient.layout
    file = layout.settings_file
    for name in _WRONG_PLACES:
        path = os.path.join(layout.root, name)
        if os.path.isfile(path):
            move = f"mv {shlex.quote(path)} {shlex.quote(file)}"
            remedy = f"move its lines to {file}" if os.path.exists(file) else move
            yield Diagnosis(f"{path} is not read; settings belong in {file}", remedy)
    if patient.session.safe or _is_open(file):
        return
    ours = patient.installation.run_variables((patient.program,))
    try:
        capture_settings(file, {**patient.environ, **ours})
    except HostError as error:
        yield Diagnosis(error.what, error.remedy or f"mend {file}")


def permissions(patient: Patient) -> Iterator[Diagnosis]:
    """Yield what everybody may write to: who can write there decides what you run."""
    layout, installation = patient.layout, patient.installation
    config = os.path.dirname(layout.settings_file)
    paths = [layout.root, layout.core_dir, layout.config_file, layout.lib_dir, *patient.launchers]
    paths += [config, layout.settings_file, installation.commands_dir, installation.plugins_dir]
    for path in [*paths, registry_path(installation.plugins_dir)]:
        if _is_open(path):
            yield Diagnosis(
                f"everybody may write to {path}",
                f"chmod o-w {shlex.quote(path)}",
                partial(_close, path),
            )


def _is_open(path: str) -> bool:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return bool(mode & stat.S_IWOTH) and not mode & stat.S_ISVTX


def _close(path: str) -> None:
    os.chmod(path, stat.S_IMODE(os.stat(path).st_mode) & ~stat.S_IWOTH)


def lock(patient: Patient) -> Iterator[Diagnosis]:
    """Yield what keeps the lock from being kept; one that is not true is made anew anyway."""
    for path in patient.installation.locks:
        try:
            status = os.lstat(path)
        except OSError:
            continue
        if not stat.S_ISREG(status.st_mode):
            yield Diagnosis(f"{path} is no file, so no lock is kept there", f"move {path} away")
        elif status.st_uid not in (0, os.geteuid()) or status.st_mode & 0o022:
            yield Diagnosis(
                f"{path}: somebody else may write to this lock, so it does not count",
                f"rm {shlex.quote(path)}",
                partial(os.unlink, path),
            )
    if not any(map(can_be_made, patient.installation.locks)):
        here, cache = map(os.path.dirname, patient.installation.locks)
        yield Diagnosis(
            f"neither {here} nor {cache} can be written, so every call asks all plugins anew",
            f"make one of them writable, or run once as its owner: {patient.call} self lock",
        )

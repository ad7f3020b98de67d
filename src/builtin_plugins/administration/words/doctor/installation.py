"""Whether an installation is whole, its files only for those who may, and all in it counts."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterator
from functools import partial

from builtin_plugins.administration.program.environment.distributions import find_distribution
from builtin_plugins.administration.program.shipped_files import catch_up, shipped_files
from builtin_plugins.administration.words.doctor.diagnosis import Diagnosis, Patient
from builtin_plugins.administration.words.lint.finding import shown_path
from builtin_plugins.administration.words.lint.linter import Lint
from builtin_plugins.plugins_folder.directory import find_directory_plugins
from builtin_plugins.plugins_folder.registry import FILE_NAME as REGISTRY
from builtin_plugins.plugins_folder.registry import effective_registry, registry_path
from host import HostError
from host.planning.cache_files import can_be_made
from host.run.settings import capture_settings

_WRONG_PLACES = ("settings.conf", "core/settings.conf", "commands/settings.conf")


def files(patient: Patient) -> Iterator[Diagnosis]:
    """Yield what makes it no installation, or what of the program's own it lacks."""
    root, config = patient.layout.root, patient.layout.config_file
    again = f"{patient.call} self init {shlex.quote(root)}"
    if patient.wrong:
        remedy = f"mend {config}" if os.path.lexists(config) else again
        yield Diagnosis(patient.wrong.what, remedy)
        return
    became = {str(one.relative): one.became(root) for one in shipped_files() if one.is_programs}
    missing = [one for one in became if one.startswith("core/lib/") and became[one] == "missing"]
    if missing:
        yield Diagnosis(f"{root} lacks {', '.join(missing)}", again)
    former = [os.path.join(root, one) for one in became if became[one] == "former"]
    if former:
        yield Diagnosis(
            f"{', '.join(former)}: of another version than this program",
            f"rm {shlex.join(former)} && {again}",
            partial(catch_up, root, patient.session.messages.warn),
        )
    changed = [os.path.join(root, one) for one in became if became[one] == "changed"]
    if changed and not os.path.exists(os.path.join(root, ".git")):
        yield Diagnosis(
            f"{', '.join(changed)}: of another version than this program, or with changes of yours",
            f"to have this version's: rm {shlex.join(changed)} && {again}",
        )
    commands_dir = patient.installation.commands_dir
    if not os.path.isdir(commands_dir):
        yield Diagnosis(
            f"there is no directory of commands, {commands_dir}",
            f'mkdir {shlex.quote(commands_dir)}, or mend "commands_dir" in {config}',
        )


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
    paths = [layout.root, layout.core_dir, layout.config_file, layout.lib_dir, *patient.launchers]
    paths += [layout.config_dir, layout.settings_file]
    paths += [installation.commands_dir, installation.plugins_dir]
    for path in [*paths, registry_path(installation.plugins_dir)]:
        if _is_open(path):
            remedy = f"chmod o-w {shlex.quote(path)}"
            yield Diagnosis(f"everybody may write to {path}", remedy, partial(_close, path))


def _is_open(path: str) -> bool:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return bool(mode & stat.S_IWOTH) and not mode & stat.S_ISVTX


def _close(path: str) -> None:
    os.chmod(path, stat.S_IMODE(os.stat(path).st_mode) & ~stat.S_IWOTH)


def definitions(patient: Patient) -> Iterator[Diagnosis]:
    """Yield what `self lint` finds, shellcheck's part aside."""
    layout = patient.layout
    lint = Lint(layout.root, patient.environ, layout.config_file)
    for one in lint.findings:
        if one.rule != "plugin":  # these are told as plugins
            place = f"{shown_path(one.file)}:{one.line}:{one.column}"
            remedy = one.remedy or f"mend {shown_path(one.file)}"
            hint = one.hint or one.rule == "executable"
            yield Diagnosis(f"{place}: {one.message}", remedy, hint=hint)


def clashes(patient: Patient) -> Iterator[Diagnosis]:
    """Yield the words that more than one place has a command for."""
    for one in patient.commands:
        if one.shadows:
            winner = one.directory or f"plugin {one.plugin}"
            off = f", or: {patient.call} self plugin disable {one.plugin}" if one.plugin else ""
            yield Diagnosis(
                f"{' '.join(one.words)}: {winner} hides {', '.join(one.shadows)}",
                f"rename one of the folders{off}",
            )


def plugins(patient: Patient) -> Iterator[Diagnosis]:
    """Yield the plugins that are broken or whose files are gone."""
    call = f"{patient.call} self plugin"
    for plugin in patient.lock.plugins.values():
        if plugin.broken and plugin.name == REGISTRY:
            yield Diagnosis(plugin.broken, "mend it")
        elif plugin.broken:
            message = f"plugin {plugin.label} is broken: {plugin.broken}"
            yield Diagnosis(message, f"mend it, or: {call} disable {plugin.name}")
    plugins_dir = patient.installation.plugins_dir
    registry = effective_registry(plugins_dir)
    directories = {one.name for one in find_directory_plugins(plugins_dir, registry)}
    for entry in registry.entries.values():
        there = entry.name in directories
        if entry.is_package:
            there = find_distribution(entry.name) is not None
        if entry.enabled and not there:
            back = "put them back" if entry.is_local else f"{call} sync"
            remedy = f"{back}, or: {call} remove {entry.name}"
            yield Diagnosis(f"the files of plugin {entry.name} are gone", remedy)


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

"""Whether an installation is whole, closed to others, and all in it counts."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterator
from functools import partial

from builtin_plugins.administration.findings import Finding, relative_path
from builtin_plugins.administration.program.environment.distributions import find_distribution
from builtin_plugins.administration.program.shipped_files import catch_up, shipped_files
from builtin_plugins.administration.words.doctor.subject import Subject, finding
from builtin_plugins.administration.words.lint.linter import Lint
from builtin_plugins.plugins_folder.directory import find_directory_plugins
from builtin_plugins.plugins_folder.registry import FILE_NAME as REGISTRY
from builtin_plugins.plugins_folder.registry import effective_registry, registry_path
from host import HostError, Problem
from host.planning.cache_files import can_be_made
from host.run.settings import capture_settings

_WRONG_PLACES = ("settings.conf", "core/settings.conf", "commands/settings.conf")


def files(subject: Subject) -> Iterator[Finding]:
    """Yield what makes it no installation, or which of the program's own files it lacks."""
    root, config = subject.layout.root, subject.layout.config_file
    again = f"{subject.call} self init {shlex.quote(root)}"
    if subject.wrong:
        yield finding(subject.wrong.what, f"fix {config}" if os.path.lexists(config) else again)
        return
    try:
        subject.session.check_version()
    except HostError as error:
        yield finding(error.what, error.remedy)
    became: dict[str, list[str]] = {}
    for one in shipped_files():
        if one.is_programs:
            became.setdefault(one.became(root), []).append(os.path.join(root, one.relative))
    missing = [path for path in became.get("missing", ()) if "/core/lib/" in path]
    if missing:
        yield finding(f"missing: {', '.join(missing)}", again)
    if former := became.get("former"):
        text = f"{', '.join(former)}: of another version than this program"
        fix = partial(catch_up, root, subject.session.messages.warn)
        yield finding(text, f"rm {shlex.join(former)} && {again}", fix)
    changed = became.get("changed")
    if changed and not os.path.exists(os.path.join(root, ".git")):
        text = f"{', '.join(changed)}: of another version than this program, or changed by you"
        yield finding(text, f"for this version's: rm {shlex.join(changed)} && {again}")
    commands_dir = subject.session.installation.commands_dir
    if not os.path.isdir(commands_dir):
        remedy = f'mkdir {shlex.quote(commands_dir)}, or change "commands_dir" in {config}'
        yield finding(f"there is no directory of commands, {commands_dir}", remedy)


def settings(subject: Subject) -> Iterator[Finding]:
    """Yield what is wrong with settings.conf; it is sourced, as a run does, unless in safe mode."""
    layout, file = subject.layout, subject.layout.settings_file
    for name in _WRONG_PLACES:
        path = os.path.join(layout.root, name)
        if os.path.isfile(path):
            move = f"mv {shlex.quote(path)} {shlex.quote(file)}"
            remedy = f"move its lines to {file}" if os.path.exists(file) else move
            yield finding(f"{path} is not read; settings belong in {file}", remedy)
    if subject.session.safe or _is_open(file):
        return
    ours = subject.session.installation.run_variables((subject.program,))
    try:
        capture_settings(file, {**subject.environ, **ours})
    except HostError as error:
        yield finding(error.what, error.remedy or f"fix {file}")


def permissions(subject: Subject) -> Iterator[Finding]:
    """Yield what everybody may write to: who can write there decides what you run."""
    layout, commands_dir = subject.layout, subject.session.installation.commands_dir
    for path in (
        *(layout.root, layout.core_dir, layout.config_file, layout.lib_dir, *subject.launchers),
        *(layout.config_dir, layout.settings_file, commands_dir),
        *(subject.plugins_dir, registry_path(subject.plugins_dir)),
    ):
        if _is_open(path):
            fix = partial(_close, path)
            yield finding(f"everybody may write to {path}", f"chmod o-w {shlex.quote(path)}", fix)


def _is_open(path: str) -> bool:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return bool(mode & stat.S_IWOTH) and not mode & stat.S_ISVTX


def _close(path: str) -> None:
    os.chmod(path, stat.S_IMODE(os.stat(path).st_mode) & ~stat.S_IWOTH)


def definitions(subject: Subject) -> Iterator[Finding]:
    """Yield what `self lint` finds, without shellcheck; `plugins` reports the rule "plugin"."""
    layout = subject.layout
    for one in Lint(layout.root, subject.environ, layout.config_file).findings():
        if one.rule != "plugin":
            at, path = one.problem, relative_path(one.problem.path)
            problem = Problem(path, at.text, at.remedy or f"fix {path}", at.key, at.line, at.column)
            yield Finding(one.rule, problem, hint=one.hint or one.rule == "executable")


def clashes(subject: Subject) -> Iterator[Finding]:
    """Yield the words that more than one place has a command for."""
    for one in subject.commands:
        if one.shadows:
            winner = one.directory or f"plugin {one.plugin}"
            off = f", or: {subject.call} self plugin disable {one.plugin}" if one.plugin else ""
            text = f"{' '.join(one.words)}: {winner} hides {', '.join(one.shadows)}"
            yield finding(text, f"rename one of the folders{off}")


def plugins(subject: Subject) -> Iterator[Finding]:
    """Yield the plugins that are broken or whose files are gone."""
    call = f"{subject.call} self plugin"
    for plugin in subject.lock.plugins.values():
        if plugin.broken and plugin.name == REGISTRY:
            yield finding(plugin.broken, "fix this file")
        elif plugin.broken:
            text = f"plugin {plugin.label} is broken: {plugin.broken}"
            yield finding(text, f"fix it, or: {call} disable {plugin.name}")
    registry = effective_registry(subject.plugins_dir)
    directories = {one.name for one in find_directory_plugins(subject.plugins_dir, registry)}
    for entry in registry.entries.values():
        there = entry.name in directories
        if entry.is_package:
            there = find_distribution(entry.name) is not None
        if entry.enabled and not there:
            back = "put them back" if entry.is_local else f"{call} sync"
            remedy = f"{back}, or: {call} remove {entry.name}"
            yield finding(f"the files of plugin {entry.name} are gone", remedy)


def lock(subject: Subject) -> Iterator[Finding]:
    """Yield what keeps the lock from being used; an outdated one is replaced anyway."""
    paths = subject.session.installation.locks
    for path in filter(os.path.isfile, paths):
        status = os.lstat(path)
        if status.st_uid not in (0, os.geteuid()) or status.st_mode & 0o022:
            text = f"{path}: somebody else may write to this lock, so it is not used"
            yield finding(text, f"rm {shlex.quote(path)}", partial(os.unlink, path))
    if not any(map(can_be_made, paths)):
        yield finding(
            f"neither {' nor '.join(map(os.path.dirname, paths))} can be written, "
            "so every call asks all plugins again",
            f"make one of them writable, or run once as its owner: {subject.call} self lock",
        )

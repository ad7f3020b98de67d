"""Checks of an installation's files: configuration, permissions, settings and definitions."""

import os
import shlex
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial

from builtin_plugins.diagnosis.doctor.subject import Subject, finding
from builtin_plugins.diagnosis.lint.linter import Lint
from builtin_plugins.diagnosis.lint.positions import with_positions
from builtin_plugins.history.commands import run_store
from builtin_plugins.program.shipped_files import (
    ShippedFile,
    different_files,
    has_repository,
    own_directories,
    renew,
)
from builtin_plugins.registry.registry import registry_path
from builtin_plugins.self_commands.findings import Finding
from builtin_plugins.team.sync import restore_lost_files
from host import HostError, OperationError, version_problem
from host.asking.ask_trust import project_contents
from host.projects.trust import is_trusted
from host.variables.settings import capture_settings

_UNREAD_SETTINGS = ("settings.conf", "core/settings.conf", "commands/settings.conf")


def files(subject: Subject) -> Iterator[Finding]:
    """Yield the error of an invalid installation, or the missing and old files of a valid one."""
    root = subject.layout.root
    config_file = subject.layout.config_file
    init = f"{subject.call} self init {shlex.quote(root)}"

    if subject.wrong:
        remedy = subject.wrong.remedy
        if remedy and has_repository(root):
            restore = partial(restore_lost_files, subject.session)
            yield finding(subject.wrong.what, remedy, restore)
            return
        if not os.path.lexists(config_file):
            remedy = init
        elif not remedy:
            remedy = f"fix {config_file}"
        yield finding(subject.wrong.what, remedy)
        return

    min_version = subject.session.installation.config.min_version
    if min_version:
        problem = version_problem(config_file, min_version)
        if problem:
            yield Finding("", problem)

    # One finding, and not one for each file of the library.
    if not os.path.isdir(subject.layout.lib_dir):
        yield finding(f"{subject.layout.lib_dir}: missing", init)
        return

    differing = _names(different_files(root))
    if differing:
        text = f"missing or not as this program has them: {differing}"
        yield finding(
            f"{subject.layout.core_dir}: {text}",
            f"{subject.call} self doctor --fix",
            partial(renew, root, subject.session.messages.line),
        )

    of_team = _names(different_files(root, tracked=True))
    if of_team:
        text = f"in git, and not as this program has them: {of_team}"
        own = map(shlex.quote, own_directories())
        copy = f"cp -R {' '.join(own)} {shlex.quote(subject.layout.core_dir)}"
        yield finding(f"{subject.layout.core_dir}: {text}", copy, hint=True)


def _names(files: Iterable[ShippedFile]) -> str:
    return ", ".join(file.relative.name for file in files)


def settings(subject: Subject) -> Iterator[Finding]:
    """Yield the problems in settings.conf; outside safe mode, it is sourced to find them."""
    session = subject.session
    settings_file = subject.layout.settings_file

    # Users put the file where they expect it; nothing else reports that it is ignored.
    for name in _UNREAD_SETTINGS:
        path = os.path.join(subject.layout.root, name)
        if os.path.isfile(path):
            remedy = f"move the lines of this file to {settings_file}"
            yield finding(f"{path} is not read", remedy)

    if session.safe:
        return

    variables = session.installation.run_variables((session.program,))
    try:
        capture_settings(settings_file, {**subject.environ, **variables})
    except HostError as error:
        remedy = error.remedy or f"fix {settings_file}"
        yield finding(error.what, remedy)


def permissions(subject: Subject) -> Iterator[Finding]:
    """Yield the files and directories of this installation that every user can change."""
    layout = subject.layout
    paths = [layout.root, layout.core_dir, layout.config_file, layout.lib_dir]
    paths += subject.launchers
    paths += [layout.config_dir, layout.settings_file]
    paths += [subject.session.installation.commands_dir, subject.plugins_dir]
    paths.append(registry_path(subject.plugins_dir))

    for path in paths:
        if _is_open(path):
            mode = stat.S_IMODE(os.stat(path).st_mode)
            mode &= ~stat.S_IWOTH
            yield finding(
                f"every user can write to {path}",
                f"chmod o-w {shlex.quote(path)}",
                partial(os.chmod, path, mode),
            )


def _is_open(path: str) -> bool:
    """Return whether every user can change a file; a directory like /tmp protects its files."""
    with suppress(OSError):
        mode = os.stat(path).st_mode
        return mode & (stat.S_IWOTH | stat.S_ISVTX) == stat.S_IWOTH
    return False


def definitions(subject: Subject) -> Iterator[Finding]:
    """Yield the findings of `self lint`, except those of plugins, which `plugins` reports."""
    for problem in with_positions(Lint(subject.session).here()):
        if problem.rule != "plugin":
            yield problem


def lock(subject: Subject) -> Iterator[Finding]:
    """Yield a finding for each lock file that other users can change; runs ignore such files."""
    for path in subject.session.installation.locks:
        if not os.path.isfile(path):
            continue

        # The same rule as in `host.files.paths.own_content`, which reads locks.
        status = os.lstat(path)
        is_others = status.st_uid not in (0, os.geteuid())
        is_writable_by_others = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if is_others or is_writable_by_others:
            text = f"{path}: other users can write to this lock, so it is ignored"
            yield finding(text, f"rm {shlex.quote(path)}", partial(os.unlink, path))


def history(subject: Subject) -> Iterator[Finding]:
    """Yield a finding if the history of runs cannot be written or read."""
    try:
        run_store(subject.session).check()
    except OperationError as error:
        remedy = error.remedy or "runs go on, but are not recorded"
        yield finding(error.what, remedy)


def projects(subject: Subject) -> Iterator[Finding]:
    """Yield a hint for each project with untrusted commands; `definitions` checks the commands."""
    projects_here, _ = subject.session.installation.around()
    for project in projects_here:
        commands = project_contents(project).commands
        if all(is_trusted(command.definition) for command in commands):
            continue

        text = "this project has commands that are not trusted; you are asked before one runs"
        trust = f"{subject.session.program} self trust {shlex.quote(project.root)}"
        yield finding(f"{project.root}: {text}", trust, hint=True)

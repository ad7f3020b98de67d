"""Whether an installation is whole and closed to others, and whether all in it counts."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from builtin_plugins.administration.pages import Finding, relative_path
from builtin_plugins.administration.plugins.reconcile import reconcile_if_free, was_interrupted
from builtin_plugins.administration.program.environment.copy import VenvCopy
from builtin_plugins.administration.program.environment.distributions import find_distribution
from builtin_plugins.administration.program.shipped_files import renew, shipped_files
from builtin_plugins.administration.words.doctor.subject import Subject, finding
from builtin_plugins.administration.words.lint.linter import Lint
from builtin_plugins.administration.words.lint.places import placed
from builtin_plugins.io.files.atomic import remove_tree
from builtin_plugins.io.files.flock import locked
from builtin_plugins.plugins_folder.directory import find_directory_plugins
from builtin_plugins.plugins_folder.registry import FILE_NAME as REGISTRY
from builtin_plugins.plugins_folder.registry import effective_registry, registry_path
from builtin_plugins.setup.hooks import ENTRYPOINT, settings_of
from builtin_plugins.store import abandoned
from host import HostError, OperationError, version_problem
from host.cli.trust import project_contents
from host.planning.cache_files import can_be_made
from host.run.settings import capture_settings
from host.run.trust import is_trusted

_WRONG_PLACES = ("settings.conf", "core/settings.conf", "commands/settings.conf")


def files(subject: Subject) -> Iterator[Finding]:
    """Yield what makes it no installation, or which of the program's own files it lacks."""
    root, config = subject.layout.root, subject.layout.config_file
    again = f"{subject.call} self init {shlex.quote(root)}"
    if subject.wrong:
        yield finding(subject.wrong.what, f"fix {config}" if os.path.lexists(config) else again)
        return
    wanted = subject.session.installation.config.min_version
    if wanted and (problem := version_problem(config, wanted)):
        yield finding(problem.what, problem.remedy)
    states: dict[str, list[str]] = {}
    for one in shipped_files():
        if one.relative.parts[:2] == ("core", "lib"):
            path = os.path.join(root, one.relative)
            states.setdefault(one.became(root), []).append(path)
    fix = partial(renew, root, subject.session.messages.warn)
    for state, what, remedy in (
        ("missing", "missing", again),
        ("former", "of another version than this program", f"{subject.call} self doctor --fix"),
    ):
        if state in states:
            yield finding(f"{', '.join(states[state])}: {what}", remedy, fix)


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
    """Yield what `self lint` finds; `plugins` reports the rule "plugin"."""
    layout = subject.layout
    lint = Lint(layout.root, subject.environ)
    for one in placed(lint.installation(layout.root, layout.config_file)):
        if one.rule != "plugin":
            at = one.problem.replaced(relative_path(one.problem.path), one.problem.text)
            yield one._replace(problem=at)


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


def leftovers(subject: Subject) -> Iterator[Finding]:
    """Yield what an interrupted change left behind; what a process works in is none."""
    if was_interrupted(subject.plugins_dir):
        yield finding(
            f"{subject.plugins_dir}: a change of plugins was interrupted",
            f"{subject.call} self plugin list",
            partial(reconcile_if_free, subject.plugins_dir),
        )
    left = [*_copies_of_the_environment()]
    for command in subject.commands:
        if command.definition.entrypoint == ENTRYPOINT:
            left += abandoned(settings_of(command, subject.environ).places.install_dir)
    for path in left:
        text = f"{path} is left of an interrupted change"
        yield finding(text, f"rm -r {shlex.quote(path)}", partial(remove_tree, path))


def _copies_of_the_environment() -> Iterator[str]:
    path = VenvCopy().path
    with suppress(OperationError, OSError), locked(os.path.join(sys.prefix, "pyvenv.cfg")):
        if os.path.isdir(path):
            yield path


def projects(subject: Subject) -> Iterator[Finding]:
    """Yield the projects that cannot be used, and hints about those that are not trusted."""
    found, wrong = subject.session.installation.around()
    yield from (Finding("", one) for one in wrong)
    for project in found:
        root, commands = project.root, project_contents(project).commands
        if not all(is_trusted(one.definition) for one in commands):
            what = f"{root}: commands of this project are not trusted, so they ask before they run"
            yield finding(what, f"{subject.program} self trust {root}", hint=True)

"""Checks of the program: launchers, PATH, completion, and missing programs."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from functools import partial

from builtin_plugins.administration.pages import Finding
from builtin_plugins.administration.plugins.sources.base import source_of
from builtin_plugins.administration.program.launcher import (
    is_of_other_version,
    launcher_of,
    write_launcher,
)
from builtin_plugins.administration.words.completion import uncompleted_shell
from builtin_plugins.administration.words.doctor.installation import Subject, finding
from builtin_plugins.administration.words.init import to_path
from builtin_plugins.plugins_folder.registry import effective_registry
from host import HostError, find_program
from host.planning.required_programs import check_programs
from host.run import find_bash
from host.run.environment import read_sources
from host.run.process import start_of


def launcher(subject: Subject) -> Iterator[Finding]:
    """Yield why a launcher in `core` cannot start the program."""
    if not subject.launchers:
        path = launcher_of(subject.layout)
        remedy = f"{subject.call} self init {shlex.quote(subject.layout.root)}"
        yield finding(f"{path}: the launcher is missing", remedy, partial(write_launcher, path))
    for path in subject.launchers:
        wrong = "belongs to another version of this program" if is_of_other_version(path) else ""
        try:
            start_of(path, subject.environ)
        except HostError as error:
            wrong = error.problem.message
        if not os.access(path, os.X_OK):
            wrong = "is not executable"
        if wrong:
            fix = partial(write_launcher, path)
            yield finding(f"{path}: {wrong}", f"{subject.call} self doctor --fix", fix)


def on_path(subject: Subject) -> Iterator[Finding]:
    """Yield why typing the program's name does not start this installation."""
    path = launcher_of(subject.layout)
    if subject.layout.default or path not in subject.launchers:
        return
    found = find_program(subject.session.program, subject.environ)
    if found is None:
        how = to_path(path, subject.environ)
        yield finding(f"{subject.session.program} is not on PATH", how, hint=True)
    elif os.path.realpath(found) != os.path.realpath(path):
        text = f"{subject.session.program} on PATH is {found}, not this installation's"
        how = f"call {path}, or put a link to it into a directory that comes earlier on PATH"
        yield finding(text, how, hint=True)


def completion(subject: Subject) -> Iterator[Finding]:
    """Yield a hint if the caller's shell does not complete this program's words."""
    if shell := uncompleted_shell(subject.session.program, subject.environ):
        text = f"{shell} has no Tab completion for {subject.session.program}"
        yield finding(text, f"{subject.call} self completion {shell} --install", hint=True)


def programs(subject: Subject) -> Iterator[Finding]:
    """Yield the missing programs that this program needs."""
    if find_bash(subject.environ) is None:
        yield finding("bash is missing; it reads settings.conf and runs scripts", "install it")
    if find_program("git", subject.environ) is None:
        entries = effective_registry(subject.plugins_dir).entries.values()
        if any(source_of(entry).is_from_git for entry in entries):
            yield finding("git is missing; it fetches plugins from repositories", "install it")


def requirements(subject: Subject) -> Iterator[Finding]:
    """Yield what a run would report about the programs that commands require.

    PATH is the one of the command's run; in safe mode it is the caller's.
    """
    session = subject.session
    for command in subject.commands:
        words, definition, environ = command.words, command.definition, session.caller
        if not definition.requires or not definition.compatible:
            continue
        there = (session.installation, subject.lock, session.caller, session.messages)
        known = session.installation.versions_file
        try:
            if not session.safe:
                environ = read_sources(words, definition, *there).layers.environment()
            check_programs(definition.requires, words, subject.call, environ, subject.lock, known)
        except HostError as error:
            yield Finding("", error.problem)

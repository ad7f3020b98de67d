"""Checks of the program around an installation: launchers, PATH, completion, other programs."""

import os
import shlex
from collections.abc import Iterator
from functools import partial

from builtin_plugins.diagnosis.doctor.subject import Subject, finding
from builtin_plugins.plugins.sources.base import make_source
from builtin_plugins.program.completion_code import uncompleted_shell
from builtin_plugins.program.launcher import (
    is_of_other_version,
    launcher_of,
    write_launcher,
)
from builtin_plugins.program.on_path import to_path
from builtin_plugins.self_commands.findings import Finding
from host import HostError, find_program
from host.catalog.catalog import Catalog
from host.launch.plan import Run
from host.processes.programs import find_bash, start_of


def launcher(subject: Subject) -> Iterator[Finding]:
    """Yield the problems with the launchers in `core`."""
    if not subject.launchers:
        path = launcher_of(subject.layout)
        init = f"{subject.call} self init {shlex.quote(subject.layout.root)}"
        fix = partial(write_launcher, path)
        yield finding(f"{path}: the launcher is missing", init, fix)

    for path in subject.launchers:
        problem = _problem_of_launcher(subject, path)
        if problem:
            remedy = f"{subject.call} self doctor --fix"
            fix = partial(write_launcher, path)
            yield finding(f"{path}: {problem}", remedy, fix)


def _problem_of_launcher(subject: Subject, path: str) -> str:
    """Return why a launcher does not work, or "". The first problem is the one that users meet."""
    if not os.access(path, os.X_OK):
        return "is not executable"

    try:
        start_of(path, subject.environ)
    except HostError as error:
        return error.problem.message
    if is_of_other_version(path):
        return "belongs to another version of this program"
    return ""


def on_path(subject: Subject) -> Iterator[Finding]:
    """Yield a hint if calling the program by its name does not start this installation."""
    program = subject.session.program
    path = launcher_of(subject.layout)
    if subject.layout.default:
        return
    if path not in subject.launchers:
        return

    started = find_program(program, subject.environ)
    if started is None:
        remedy = to_path(path, subject.environ)
        yield finding(f"{program} is not on PATH", remedy, hint=True)
    elif os.path.realpath(started) != os.path.realpath(path):
        text = f"another {program} comes first on PATH: {started}"
        remedy = f"call {path}, or put a link to it into a directory that comes earlier on PATH"
        yield finding(text, remedy, hint=True)


def completion(subject: Subject) -> Iterator[Finding]:
    """Yield a hint if the caller's shell has no completion for this program."""
    program = subject.session.program
    shell = uncompleted_shell(program, subject.environ)
    if shell:
        text = f"{shell} has no Tab completion for {program}"
        remedy = f"{subject.call} self completion {shell} --install"
        yield finding(text, remedy, hint=True)


def programs(subject: Subject) -> Iterator[Finding]:
    """Yield the missing programs that this program needs."""
    if find_bash(subject.environ) is None:
        text = "bash is missing; settings.conf and scripts need it"
        yield finding(text, "install it")

    # Without plugins from git, nobody needs git.
    if find_program("git", subject.environ) is None:
        entries = subject.registry.entries.values()
        sources = [make_source(entry) for entry in entries]
        if any(source.is_from_git for source in sources):
            text = "git is missing; plugins from repositories need it"
            yield finding(text, "install it")


def requirements(subject: Subject) -> Iterator[Finding]:
    """Yield the error that a run would report for each command with unsatisfied `requires`.

    The programs are looked up on the PATH that the command gets; in safe mode, on the caller's
    PATH.
    """
    session = subject.session
    catalog = Catalog(subject.lock)
    for command in subject.commands:
        definition = command.definition
        # A command for another system may need programs that only that system has.
        if not definition.requires or not definition.compatible:
            continue

        run = Run(
            words=command.words,
            definition=definition,
            installation=session.installation,
            catalog=catalog,
            report=session.messages.warn,
            environ=session.run_environ,
            program=subject.call,
            starts_programs=True,
        )

        try:
            if not session.safe:
                run.read_variables()
            run.check_programs()
        except HostError as error:
            yield Finding("", error.problem)

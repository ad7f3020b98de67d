"""`self doctor`: the problems with an installation, each with its remedy.

The checks of the program are here; the checks of the installation's files are in `installation`.
"""

import os
import shlex
from collections.abc import Callable, Iterator
from functools import partial

from builtin_plugins.administration.commands.completion import uncompleted_shell
from builtin_plugins.administration.commands.doctor import installation
from builtin_plugins.administration.commands.doctor.installation import Subject, finding
from builtin_plugins.administration.declared import FORMAT, argument, self_command
from builtin_plugins.administration.findings import Finding, counted, grouped
from builtin_plugins.administration.plugins.sources.base import make_source
from builtin_plugins.administration.program.launcher import (
    is_of_other_version,
    launcher_of,
    write_launcher,
)
from builtin_plugins.administration.program.on_path import to_path
from builtin_plugins.plugins_folder.registry import effective_registry
from host import HostError, find_program
from host.cli.session import Session
from host.run.catalog import Catalog
from host.run.plan import Run
from host.run.programs import find_bash, start_of


@self_command(
    "doctor",
    "Check this installation",
    argument("--fix", "Apply safe fixes."),
    FORMAT,
    synonyms=("check", "diagnose", "status", "health", "fix"),
)
def doctor(session: Session, fix: bool, format: str) -> int:
    """Check this installation and print a remedy for each problem.

    The exit status is 1 if an error remains. Hints, such as missing completion, leave it at 0.
    Without --safe, the checks source settings.conf and may run plugins' Python code.
    """
    subject = Subject(session)
    findings = [*_examine(subject, fix=fix)]
    if format == "json":
        session.show_json({"checks": [*_CHECKS], "findings": [*map(_row, findings)]})
    else:
        rows = [(finding.rule, finding.problem.what, finding) for finding in findings]
        lines = [*grouped(rows, session.terminal), *([""] if findings else [])]
        session.show("\n".join([*lines, _result(subject, findings), ""]))
    return 1 if any(finding.kind == "error" for finding in findings) else 0


def _examine(subject: Subject, *, fix: bool) -> Iterator[Finding]:
    for name, check in _CHECKS.items():
        if subject.wrong and name != "installation":
            continue
        try:
            found = [*check(subject)]
        except (HostError, OSError) as error:
            found = [finding(f"cannot be checked: {error}", "fix this first")]
        for one in found:
            fixed = False
            if fix and one.fix:
                try:
                    one.fix()
                    fixed = True
                except (HostError, OSError) as failure:
                    subject.session.messages.warn(
                        f"{one.problem.what}: not fixed: {failure}"
                    )
            yield one._replace(rule=name, fixed=fixed)


def _row(one: Finding) -> dict[str, object]:
    return {
        "check": one.rule,
        "message": one.problem.what,
        "remedy": one.problem.remedy,
        "hint": one.hint,
        "fixable": one.fix is not None,
        "fixed": one.fixed,
    }


def _result(subject: Subject, found: list[Finding]) -> str:
    if not found:
        return f"no problems in: {', '.join(_CHECKS)}"
    safe = any(finding.kind == "error" and finding.fix for finding in found)
    more = (
        f"; to apply the safe fixes: {subject.call} self doctor --fix" if safe else ""
    )
    return counted(found) + more


def launcher(subject: Subject) -> Iterator[Finding]:
    """Yield the problems with the launchers in `core`."""
    if not subject.launchers:
        path = launcher_of(subject.layout)
        remedy = f"{subject.call} self init {shlex.quote(subject.layout.root)}"
        yield finding(
            f"{path}: the launcher is missing", remedy, partial(write_launcher, path)
        )
    for path in subject.launchers:
        wrong = (
            "belongs to another version of this program"
            if is_of_other_version(path)
            else ""
        )
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
    """Yield a hint if calling the program by its name does not start this installation."""
    path = launcher_of(subject.layout)
    if subject.layout.default or path not in subject.launchers:
        return
    started = find_program(subject.session.program, subject.environ)
    if started is None:
        how = to_path(path, subject.environ)
        yield finding(f"{subject.session.program} is not on PATH", how, hint=True)
    elif os.path.realpath(started) != os.path.realpath(path):
        text = f"another {subject.session.program} comes first on PATH: {started}"
        how = f"call {path}, or put a link to it into a directory that comes earlier on PATH"
        yield finding(text, how, hint=True)


def completion(subject: Subject) -> Iterator[Finding]:
    """Yield a hint if the caller's shell has no completion for this program."""
    if shell := uncompleted_shell(subject.session.program, subject.environ):
        text = f"{shell} has no Tab completion for {subject.session.program}"
        yield finding(
            text, f"{subject.call} self completion {shell} --install", hint=True
        )


def programs(subject: Subject) -> Iterator[Finding]:
    """Yield the missing programs that this program needs."""
    if find_bash(subject.environ) is None:
        yield finding(
            "bash is missing; settings.conf and scripts need it", "install it"
        )
    if find_program("git", subject.environ) is None:
        entries = effective_registry(subject.plugins_dir).entries.values()
        if any(make_source(entry).is_from_git for entry in entries):
            yield finding(
                "git is missing; plugins from repositories need it", "install it"
            )


def requirements(subject: Subject) -> Iterator[Finding]:
    """Yield the error that a run would report for each command with unsatisfied `requires`.

    The programs are looked up on the PATH that the command gets; in safe mode, on the caller's
    PATH.
    """
    session = subject.session
    catalog = Catalog(subject.lock)
    for command in subject.commands:
        definition = command.definition
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


_CHECKS: dict[str, Callable[[Subject], Iterator[Finding]]] = {
    "installation": installation.files,
    "launcher": launcher,
    "PATH": on_path,
    "completion": completion,
    "programs": programs,
    "permissions": installation.permissions,
    "settings": installation.settings,
    "definitions": installation.definitions,
    "requirements": requirements,
    "plugins": installation.plugins,
    "records": installation.records,
    "lock": installation.lock,
    "projects": installation.projects,
    "leftovers": installation.leftovers,
}

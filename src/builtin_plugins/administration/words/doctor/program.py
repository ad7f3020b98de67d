"""Whether the program starts: its launchers, place on PATH, completion, and what it needs."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from builtin_plugins.administration.pages import Finding
from builtin_plugins.administration.plugins.sources.base import source_of
from builtin_plugins.administration.program.launcher import (
    is_of_other_version,
    launcher_of,
    write_launcher,
)
from builtin_plugins.administration.words.completion import uncompleted_shell
from builtin_plugins.administration.words.doctor.subject import Subject, finding
from builtin_plugins.administration.words.init import to_path
from builtin_plugins.plugins_folder.registry import effective_registry
from host import HostError, find_program
from host.hookspecs import OWN_DISTRIBUTION
from host.run import find_bash
from host.run.process import start_of

_PACKAGES = re.compile(r"^sys\.path\.append\(['\"](.+)['\"]\)$", re.MULTILINE)


def launcher(subject: Subject) -> Iterator[Finding]:
    """Yield what keeps a launcher in `core` from starting the program."""
    if not subject.launchers:
        path = launcher_of(subject.layout)
        remedy = f"{subject.call} self init {shlex.quote(subject.layout.root)}"
        yield finding(f"{path}: no launcher", remedy, partial(write_launcher, path))
    for path in subject.launchers:
        wrong = _what_keeps(path, subject)
        if wrong:
            fix = partial(write_launcher, path)
            yield finding(f"{path}: {wrong}", f"{subject.call} self doctor --fix", fix)


def _what_keeps(path: str, subject: Subject) -> str:
    if not os.access(path, os.X_OK):
        return "is not executable"
    try:
        start_of(path, subject.environ)
    except HostError as error:
        return error.problem.message
    text = Path(path).read_text(encoding="utf-8", errors="surrogateescape")
    found = _PACKAGES.search(text)
    packages = found[1] if found else ""
    if not os.path.isfile(os.path.join(packages, "host", "__main__.py")):
        return f"{OWN_DISTRIBUTION} is not in {packages} any more"
    return "is of another version than this program" if is_of_other_version(path) else ""


def on_path(subject: Subject) -> Iterator[Finding]:
    """Yield why the program's name, typed, does not start this installation."""
    path = launcher_of(subject.layout)
    if subject.layout.default or path not in subject.launchers:
        return
    found = find_program(subject.program, subject.environ)
    if found is None:
        how = to_path(path, subject.environ)
        yield finding(f"{subject.program} is not on PATH", how, hint=True)
    elif os.path.realpath(found) != os.path.realpath(path):
        text = f"{subject.program} on PATH is {found}, not this installation's"
        how = f"call {path}, or put a link to it into a directory that comes before on PATH"
        yield finding(text, how, hint=True)


def completion(subject: Subject) -> Iterator[Finding]:
    """Yield that the caller's shell does not complete this program's words."""
    if shell := uncompleted_shell(subject.program, subject.environ):
        text = f"{shell} does not complete the words of {subject.program}"
        yield finding(text, f"{subject.call} self completion {shell} --install", hint=True)


def dependencies(subject: Subject) -> Iterator[Finding]:
    """Yield the programs that are needed and missing."""
    if find_bash(subject.environ) is None:
        yield finding("bash, which reads settings.conf and runs scripts, is missing", "install it")
    if subject.wrong is None and find_program("git", subject.environ) is None:
        entries = effective_registry(subject.plugins_dir).entries.values()
        if any(source_of(entry).is_from_git for entry in entries):
            yield finding("git, which plugins come from, is missing", "install it")

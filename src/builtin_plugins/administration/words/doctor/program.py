"""Whether the program starts: its launchers, place on PATH, completion, and needs."""

from __future__ import annotations

import ast
import os
import re
import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from packaging.requirements import Requirement

from builtin_plugins.administration.plugins.sources.base import source_of
from builtin_plugins.administration.program.environment.distributions import (
    find_distribution,
    installed_version,
)
from builtin_plugins.administration.program.environment.installations import links_on_path
from builtin_plugins.administration.program.launcher import (
    is_of_other_version,
    launcher_of,
    write_launcher,
)
from builtin_plugins.administration.words.completion import uncompleted_shell
from builtin_plugins.administration.words.doctor.diagnosis import Diagnosis, Patient
from builtin_plugins.plugins_folder.registry import effective_registry
from host import HostError, find_program
from host.hookspecs import OWN_DISTRIBUTION
from host.run import find_bash
from host.run.installation import home
from host.run.process import start_of

_PACKAGES = re.compile(r"^sys\.path\.append\((.+)\)$", re.MULTILINE)


def launcher(patient: Patient) -> Iterator[Diagnosis]:
    """Yield what keeps a launcher in `core` from starting the program."""
    if not patient.launchers:
        path = launcher_of(patient.layout)
        if os.path.lexists(path):
            yield Diagnosis(
                f"{path} is no launcher of this program", "move it away, and look again"
            )
            return
        remedy = f"{patient.call} self init {shlex.quote(patient.layout.root)}"
        yield Diagnosis(
            f"{path}, the launcher, is missing", remedy, partial(write_launcher, Path(path))
        )
    for path in patient.launchers:
        wrong = _what_keeps(path, patient)
        if wrong:
            remedy = f"{patient.call} self launcher {shlex.quote(path)}"
            fix = partial(write_launcher, Path(path), replace=True)
            yield Diagnosis(f"{path}: {wrong}", remedy, fix)


def _what_keeps(path: str, patient: Patient) -> str:
    if not os.access(path, os.X_OK):
        return "is not executable"
    try:
        start_of(path, patient.environ)
    except HostError as error:
        return error.problem.message
    text = Path(path).read_text(encoding="utf-8", errors="surrogateescape")
    said = _PACKAGES.search(text)
    packages = ast.literal_eval(said[1]) if said else ""
    if not os.path.isdir(packages):
        return f"there is no {packages}, where its packages were"
    if not os.path.isfile(os.path.join(packages, "host", "__main__.py")):
        return f"{OWN_DISTRIBUTION} is not in {packages} any more"
    return "is of another version than this program" if is_of_other_version(path) else ""


def on_path(patient: Patient) -> Iterator[Diagnosis]:
    """Yield why the program's name, typed, does not start this installation."""
    path = launcher_of(patient.layout)
    if patient.layout.default or path not in patient.launchers:
        return
    core = os.path.join(os.path.realpath(patient.layout.core_dir), "")
    for link, target in links_on_path(patient.environ).items():
        if os.path.exists(target) or not target.startswith(core):
            continue
        new = shlex.quote(os.path.join(os.path.dirname(link), patient.program))
        yield Diagnosis(
            f"{link} leads to {os.readlink(link)}, which is gone: a launcher that was renamed",
            f"ln -sfn {shlex.quote(path)} {new}, and rm {shlex.quote(link)}",
        )
    found = find_program(patient.program, patient.environ)
    if found is None:
        yield Diagnosis(f"{patient.program} is not on PATH", _to_path(patient, path), hint=True)
    elif os.path.realpath(found) != os.path.realpath(path):
        yield Diagnosis(
            f"{patient.program} on PATH is {found}, not this installation's",
            f"call {path}, or put a link to it into a directory that comes before on PATH",
            hint=True,
        )


def _to_path(patient: Patient, path: str) -> str:
    usual = os.path.join(home(patient.environ), ".local", "bin")
    if usual in patient.environ.get("PATH", "").split(":"):
        return f"ln -s {shlex.quote(path)} {shlex.quote(usual)}/"
    core = shlex.quote(os.path.dirname(path))
    return f"in your shell's start-up file: export PATH={core}:$PATH"


def completion(patient: Patient) -> Iterator[Diagnosis]:
    """Yield that the caller's shell does not complete this program's words."""
    if shell := uncompleted_shell(patient.program, patient.environ):
        yield Diagnosis(
            f"{shell} does not complete the words of {patient.program}",
            f"{patient.call} self completion {shell} --install",
            hint=True,
        )


def dependencies(patient: Patient) -> Iterator[Diagnosis]:
    """Yield the programs and packages that are needed and not there."""
    environ = patient.environ
    if find_bash(environ) is None:
        yield Diagnosis(
            "bash, which reads settings.conf and runs scripts, is missing", "install it"
        )
    if patient.wrong is None and find_program("git", environ) is None:
        entries = effective_registry(patient.installation.plugins_dir).entries.values()
        if any(source_of(entry).is_from_git for entry in entries):
            yield Diagnosis("git, which plugins come from, is missing", "install it")
    yield from _packages()


def _packages() -> Iterator[Diagnosis]:
    for line in find_distribution(OWN_DISTRIBUTION).requires or ():
        needed = Requirement(line)
        if needed.marker and not needed.marker.evaluate():
            continue
        there = installed_version(needed.name) or "not installed"
        if not (there[0].isdigit() and needed.specifier.contains(there, prereleases=True)):
            yield Diagnosis(
                f"the package {needed.name} is {there}, {needed} is needed",
                f"install {needed} into this program's Python environment",
            )

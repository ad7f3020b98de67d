"""The variables of a command for `self env`, for `Program` and for its help page.

settings.conf and the providers of plugins are code, so a help page does not run them. The page
shows the names that settings.conf assigns, without values.
"""

import os
import re
from collections.abc import Iterable, Mapping

from host.cli.session import Session
from host.errors import HostError, SourceError
from host.run.catalog import Match
from host.run.declarations import EnvSource
from host.run.definition import Definition
from host.run.environment import SourceReader
from host.run.files import read_regular
from host.run.layers import (
    ENV_FILES,
    ENVS,
    FRAMEWORK,
    SECRETS,
    SETTINGS,
    SYSTEM,
    Layers,
    Variable,
)
from host.run.plan import Run
from host.run.text import EMPTY, decode
from host.secrets import declared_secrets, masked

UNKNOWN = "\0"  # placeholder value of sources that are code; no real value contains NUL

_ASSIGNED = re.compile(r"(?:^|[\s;&|({])([A-Za-z_][A-Za-z0-9_]*)\+?=")


def page_variables(
    session: Session, found: Match, definition: Definition
) -> list[tuple[str, str]]:
    """Return the rows of a help page for required variables, `envs` and `.env` files.

    A row has the variable's name, and its value with its source. The value is `…` if only a run
    can determine it. An unreadable source causes a warning.
    """
    layers = session.run_with_variables(
        found.words, definition, session.run_environ, _Look
    ).layers
    every = traced_variables(layers)
    shown = masked(every, {}, declared_secrets(definition, every))
    rows: dict[str, str] = dict.fromkeys(definition.required_envs, "missing")
    for name, variable in every.items():
        ranks = {offered.rank for offered in layers.offered.get(name, ())}
        if name in rows or not ranks.isdisjoint((ENVS, ENV_FILES)):
            value = "…" if UNKNOWN in variable.value else shown[name].value or EMPTY
            rows[name] = f"{value}  ← {_place(variable, session, definition)}"
    for needed in definition.required_envs:
        note = f", required ({needed.type})" if needed.type else ", required"
        rows[needed] += f"{note}: {needed.hint}" if needed.hint else note
    return [*rows.items()]


class _Look(SourceReader):
    """Reads variables without running code: settings.conf gives only names, providers nothing."""

    def read(self, source: EnvSource) -> None:
        try:
            super().read(source)
        except HostError as error:
            self.report(error.problem)

    def read_settings(self, source: EnvSource) -> None:
        for path in source.files:
            for name in settings_names(path):
                self.offer(name, UNKNOWN, source.rank, path)

    def read_provider(self, source: EnvSource) -> None:
        pass


def settings_names(path: str) -> dict[str, int]:
    """Return the names that a settings file seems to assign, with their line numbers."""
    try:
        lines = decode(read_regular(path, SourceError)).splitlines()
    except (OSError, HostError):
        return {}
    code = [
        (number, line)
        for number, line in enumerate(lines, 1)
        if line.lstrip()[:1] != "#"
    ]
    return {name: number for number, line in code for name in _ASSIGNED.findall(line)}


def traced_variables(layers: Layers) -> dict[str, Variable]:
    """Return all variables of a run by name, including the caller's, unmasked.

    Each source includes the line or key. bash does not report the line of an assignment, so
    settings.conf is searched for the name.
    """
    settings: dict[str, dict[str, int]] = {}

    def with_line(variable: Variable) -> Variable:
        path = variable.source
        if variable.rank == SETTINGS and path not in settings:
            settings[path] = settings_names(path)
        line = settings.get(path, {}).get(variable.name)
        return variable.replaced(source=f"{path}:{line}") if line else variable

    traced = {}
    for name in {**layers.offered, **layers.fixed, **layers.inherited}:
        ranked = [with_line(variable) for variable in layers.offered.get(name, ())]
        outside = layers.inherited.get(name)
        fixed = layers.fixed.get(name)
        if outside is not None and outside != fixed:
            ranked.insert(0, Variable(name, outside, "system", SYSTEM))
        if fixed is not None:
            source = "args" if name.startswith("ARG_") else "framework"
            ranked.insert(0, Variable(name, fixed, source, FRAMEWORK))
        traced[name] = ranked[0].replaced(shadows=tuple(ranked[1:]))
    if layers.folders:
        traced["PATH"] = _path_with_folders(layers, traced.get("PATH"))
    return traced


def _path_with_folders(layers: Layers, before: Variable | None) -> Variable:
    """Return PATH with the folders of the key `path` at the end; it shadows PATH without them."""
    sources = dict.fromkeys([folder.source for folder in layers.folders])
    value = layers.get("PATH") or ""
    rank = ENVS if before is None else before.rank
    shadows = () if before is None else (before, *before.shadows)
    return Variable("PATH", value, ", ".join(sources), rank, shadows)


def variables_of(run: Run, also: Iterable[str] = ()) -> dict[str, Variable]:
    """Return the variables that a run adds, the required ones and those in `also`, unmasked."""
    layers = run.layers
    names = {*layers.offered, *layers.fixed, *run.definition.required_envs, *also}
    if layers.folders:
        names.add("PATH")
    every = traced_variables(layers)
    return {name: variable for name, variable in every.items() if name in names}


def shown_variables(
    run: Run, variables: Mapping[str, Variable], *, show_secrets: bool = False
) -> dict[str, Variable]:
    """Return variables of a run as `self env` shows them.

    Secrets are masked, a reference that nobody has asked for says so, and the source of an argument
    that the caller's environment gives is that variable.
    """
    definition = run.definition
    shown = {**variables}
    if not show_secrets:
        shown = masked(variables, run.environ, declared_secrets(definition, variables))
        for name in definition.secrets:
            secret = variables.get(name)
            if secret is not None and secret.rank == SECRETS:
                shown[name] = secret.replaced(source=f"{secret.source}, not asked")
    for argument in definition.args:
        if argument.env in run.environ:
            for name in filter(argument.owns, shown):
                shown[name] = shown[name].replaced(source=f"args: {argument.env}")
    return shown


def _place(variable: Variable, session: Session, definition: Definition) -> str:
    """Return a variable's source; a path in the command's folder or installation is relative."""
    if variable.rank == SYSTEM:
        return "your environment"
    source = variable.source.removeprefix(os.path.join(definition.directory, ""))
    return source.removeprefix(os.path.join(session.layout.root, ""))

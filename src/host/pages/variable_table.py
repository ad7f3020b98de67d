"""The table of a run's variables, for `self env`, `--explain`, help pages and `Program`.

settings.conf and the providers of plugins are code, so a help page does not run them. The page
shows the names that settings.conf assigns, without values.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from host.catalog.catalog import Match
from host.catalog.definition import Definition
from host.errors import HostError, SourceError
from host.files.paths import read_regular
from host.launch.plan import Run
from host.record_base import EnvSource
from host.session.session import Session
from host.text import EMPTY, decode
from host.variables.layers import (
    ENV_FILES,
    ENVS,
    FRAMEWORK,
    SECRETS,
    SETTINGS,
    SYSTEM,
    Layers,
    Variable,
)
from host.variables.masking import declared_secrets, masked
from host.variables.read_sources import SourceReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from host.variables.required import RequiredVariable

FROM = "  ← "  # between a value and its source
UNKNOWN = "\0"  # placeholder value of sources that are code; no real value contains NUL

_ASSIGNED = re.compile(r"(?:^|[\s;&|({])([A-Za-z_][A-Za-z0-9_]*)\+?=")


def page_variables(
    session: Session, command: Match, definition: Definition
) -> list[tuple[str, str]]:
    """Return the rows of a help page for required variables, `envs` and `.env` files.

    A row has the variable's name, and its value with its source. The value is `…` if only a run
    can determine it. An unreadable source causes a warning.
    """
    environ = session.run_environ
    run = session.run_with_variables(command.words, definition, environ, _Look)
    table = variable_table(run)

    rows: dict[str, str] = dict.fromkeys(definition.required_envs, "missing")
    for name, variable in table.items():
        # settings.conf may give a name to every command: it shows only what a command declares.
        assignments = run.layers.offered.get(name, ())
        ranks = {assignment.rank for assignment in assignments}
        if name not in rows and ranks.isdisjoint((ENVS, ENV_FILES)):
            continue
        rows[name] = f"{_text(variable)}{FROM}{_place(variable, session, definition)}"

    for required in definition.required_envs:
        rows[required] += f", {_requirement(required)}"
    return list(rows.items())


def _requirement(variable: RequiredVariable) -> str:
    """Return that a variable is required, with its type and the hint from the definition."""
    text = "required"
    if variable.type:
        text += f" ({variable.type})"
    if variable.hint:
        text += f": {variable.hint}"
    return text


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
        content = read_regular(path, SourceError)
    except (OSError, HostError):
        return {}

    # The last assignment counts, as in bash.
    numbers: dict[str, int] = {}
    for number, line in enumerate(decode(content).splitlines(), 1):
        if line.lstrip().startswith("#"):
            continue
        for name in _ASSIGNED.findall(line):
            numbers[name] = number
    return numbers


def traced_variables(layers: Layers) -> dict[str, Variable]:
    """Return all variables of a run by name, including the caller's, unmasked.

    Each source includes the line or key. bash does not report the line of an assignment, so
    settings.conf is searched for the name.
    """
    settings: dict[str, dict[str, int]] = {}

    def with_line(variable: Variable) -> Variable:
        if variable.rank != SETTINGS:
            return variable
        path = variable.source
        if path not in settings:
            settings[path] = settings_names(path)
        line = settings[path].get(variable.name)
        if line is None:
            return variable
        return variable.replaced(source=f"{path}:{line}")

    traced = {}
    for name in {**layers.offered, **layers.fixed, **layers.inherited}:
        strongest, *weaker = map(with_line, layers.ranked(name))
        traced[name] = strongest.replaced(shadows=tuple(weaker))

    if layers.folders:
        traced["PATH"] = _path_with_folders(layers, traced.get("PATH"))
    return traced


def _path_with_folders(layers: Layers, before: Variable | None) -> Variable:
    """Return PATH with the folders of the key `path` at the end; it shadows PATH without them."""
    value = layers.get("PATH") or ""
    sources: dict[str, None] = {}  # each once
    for folder in layers.folders:
        sources[folder.source] = None
    source = ", ".join(sources)

    if before is None:
        return Variable("PATH", value, source, ENVS)
    shadows = (before, *before.shadows)
    return Variable("PATH", value, source, before.rank, shadows)


def variables_of(run: Run, also: Iterable[str] = ()) -> dict[str, Variable]:
    """Return the variables of a run, unmasked: those in `also` and those of `self env`.

    These are all that not only the caller's environment sets, wherever their values come from, and
    those that the definition names.
    """
    definition = run.definition
    names: set[str] = {*definition.required_envs, *also}
    for argument in definition.args:
        if argument.env in run.environ:
            names.add(argument.env)

    variables = traced_variables(run.layers)
    for name, variable in variables.items():
        if variable.rank != SYSTEM or variable.shadows:
            names.add(name)
    return {name: variables[name] for name in variables if name in names}


def variable_table(
    run: Run, *, everything: bool = False, show_secrets: bool = False
) -> dict[str, Variable]:
    """Return the variables of a run as all pages show them, by name.

    Those without a rank, which the run itself sets, are the last. `everything` adds those that only
    the caller's environment sets. Secrets are masked, a reference that nobody has asked for says
    so, and the source of an argument that the caller's environment gives is that variable.
    """
    traced = traced_variables(run.layers)
    shown = dict(traced)
    if not show_secrets:
        shown = masked(traced, run.environ, declared_secrets(run.definition, traced))
        # A reference is no secret: the user sees where the value would come from.
        for name in run.definition.secrets:
            reference = traced.get(name)
            if reference is not None and reference.rank == SECRETS:
                source = f"{reference.source}, not asked"
                shown[name] = reference.replaced(source=source)

    for argument in run.definition.args:
        if argument.env not in run.environ:
            continue
        for name, variable in shown.items():
            if argument.owns(name):
                shown[name] = variable.replaced(source=f"args: {argument.env}")

    names = shown if everything else variables_of(run)
    ordered = sorted(names, key=lambda name: (not shown[name].rank, name))
    return {name: shown[name] for name in ordered}


def table_values(table: Mapping[str, Variable | None]) -> list[dict[str, Any]]:
    """Return a table of variables as JSON; None is a variable that is not set."""
    rows = []
    for name, variable in table.items():
        shadows = variable.shadows if variable is not None else ()
        rows.append(
            {"name": name, **_values(variable), "shadows": list(map(_values, shadows))}
        )
    return rows


def _values(variable: Variable | None) -> dict[str, Any]:
    if variable is None:
        return {"value": None, "source": None, "rank": None}
    return {
        "value": variable.value,
        "source": variable.source,
        "rank": variable.rank or None,  # variables of the run itself have rank 0
    }


def table_rows(
    table: Mapping[str, Variable | None], root: str
) -> list[tuple[str, str]]:
    """Return a row for each variable, and below it one without a name for each shadowed value.

    A row has the text `eu  ← .env (rank 4)`, with paths in the installation relative to `root`.
    """
    rows = []
    for name, variable in table.items():
        if variable is None:
            rows.append((name, "is not set"))
            continue
        rows.append((name, _row_text(variable, root)))
        for weaker in variable.shadows:
            rows.append(("", f"shadows {_row_text(weaker, root)}"))
    return rows


def _row_text(variable: Variable, root: str) -> str:
    source = variable.source.removeprefix(f"{root}/")
    text = f"{_text(variable)}{FROM}{source}"
    if variable.rank == FRAMEWORK:
        return text
    return f"{text} (rank {variable.rank:g})"


def _text(variable: Variable) -> str:
    """Return a value as text."""
    if UNKNOWN in variable.value:
        return "…"
    return variable.value or EMPTY


def _place(variable: Variable, session: Session, definition: Definition) -> str:
    """Return a variable's source; a path in the command's folder or installation is relative."""
    if variable.rank == SYSTEM:
        return "your environment"
    command_folder = os.path.join(definition.directory, "")
    root = os.path.join(session.layout.root, "")
    return variable.source.removeprefix(command_folder).removeprefix(root)

"""The variables of a command for `self env`, for `Program` and for its help page.

settings.conf and the providers of plugins are code, so a help page does not run them. The page
shows the names that settings.conf assigns, without values.
"""

import os
import re
from collections.abc import Iterable, Mapping

from host.catalog.catalog import Match
from host.catalog.definition import Definition
from host.errors import HostError, SourceError
from host.files.paths import read_regular
from host.launch.plan import Run
from host.pages.session import Session
from host.record import EnvSource
from host.text import EMPTY, decode
from host.variables.environment import SourceReader
from host.variables.layers import (
    ENV_FILES,
    ENVS,
    SECRETS,
    SETTINGS,
    SYSTEM,
    Layers,
    Variable,
)
from host.variables.masking import declared_secrets, masked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from host.variables.required import RequiredVariable

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
    layers = run.layers
    variables = traced_variables(layers)
    secrets = declared_secrets(definition, variables)
    masked_variables = masked(variables, {}, secrets)

    rows: dict[str, str] = dict.fromkeys(definition.required_envs, "missing")
    for name, variable in variables.items():
        # settings.conf may give a name to every command: it shows only what a command declares.
        assignments = layers.offered.get(name, ())
        ranks = {assignment.rank for assignment in assignments}
        if name not in rows and ranks.isdisjoint((ENVS, ENV_FILES)):
            continue
        value = masked_variables[name].value or EMPTY
        if UNKNOWN in variable.value:
            value = "…"
        rows[name] = f"{value}  ← {_place(variable, session, definition)}"

    for required in definition.required_envs:
        rows[required] += f", {_requirement(required)}"
    return list(rows.items())


def _requirement(variable: "RequiredVariable") -> str:
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
    """Return the variables that a run adds, the required ones and those in `also`, unmasked."""
    layers = run.layers
    names = {*layers.offered, *layers.fixed, *run.definition.required_envs, *also}
    if layers.folders:
        names.add("PATH")

    variables = traced_variables(layers)
    return {name: variables[name] for name in variables if name in names}


def shown_variables(
    run: Run, variables: Mapping[str, Variable], *, show_secrets: bool = False
) -> dict[str, Variable]:
    """Return variables of a run as `self env` shows them.

    Secrets are masked, a reference that nobody has asked for says so, and the source of an argument
    that the caller's environment gives is that variable.
    """
    definition = run.definition
    shown = dict(variables)
    if not show_secrets:
        secrets = declared_secrets(definition, variables)
        shown = masked(variables, run.environ, secrets)
        # A reference is no secret: the user sees where the value would come from.
        for name in definition.secrets:
            reference = variables.get(name)
            if reference is not None and reference.rank == SECRETS:
                source = f"{reference.source}, not asked"
                shown[name] = reference.replaced(source=source)

    for argument in definition.args:
        if argument.env not in run.environ:
            continue
        for name, variable in shown.items():
            if argument.owns(name):
                shown[name] = variable.replaced(source=f"args: {argument.env}")
    return shown


def _place(variable: Variable, session: Session, definition: Definition) -> str:
    """Return a variable's source; a path in the command's folder or installation is relative."""
    if variable.rank == SYSTEM:
        return "your environment"
    command_folder = os.path.join(definition.directory, "")
    root = os.path.join(session.layout.root, "")
    return variable.source.removeprefix(command_folder).removeprefix(root)

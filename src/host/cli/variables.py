"""The variables of a command: traced for `self env`, and shown on its help page.

settings.conf and plugin providers are code, so neither runs for a help page (CONTRACT 7). A page
shows which names settings.conf assigns, without values.
"""

from __future__ import annotations

import re

from host.errors import HostError, SourceError
from host.records import Variable
from host.run import read_regular
from host.run.command import Definition
from host.run.environment import (
    ENV_FILES,
    ENVS,
    FRAMEWORK,
    SETTINGS,
    SYSTEM,
    Assignment,
    Layers,
    SourceReader,
)
from host.run.text import EMPTY, decode, printable
from host.secrets import declared_secrets, masked
from host.text_width import cut, width_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from host.cli.session import Session
    from host.listing_records import Terminal
    from host.run.catalog import Match
    from host.run.lock import Source

_LARGEST = 16 << 20  # bytes of a settings.conf; a larger one is skipped
_SHORTEST_VALUE = 20  # columns of a cut value, at least
UNKNOWN = "\0"  # placeholder value of sources that are code; no real value contains NUL

_ASSIGNED = re.compile(r"(?:^|[\s;&|({])([A-Za-z_][A-Za-z0-9_]*)\+?=")


def page_variables(session: Session, found: Match, definition: Definition) -> list[Variable]:
    """Return the variables that a help page shows: required ones, `envs` and `.env` files.

    The value is `UNKNOWN` if only a run can determine it. The source is a readable text, "" if
    nothing sets the variable. An unreadable source causes a warning.
    """
    layers = session.layers(found.words, definition, session.caller, _Look)
    every = traced_variables(layers)
    shown = masked(every, {}, declared_secrets(definition, every))
    ranks = {name: {one.rank for one in ranked} for name, ranked in layers.offered.items()}
    own = [name for name in ranks if not ranks[name].isdisjoint((ENVS, ENV_FILES))]
    rows = []
    for name in dict.fromkeys([*definition.required_envs, *definition.envs, *own]):
        one = every.get(name) or Variable(name, "", "", SYSTEM)
        value = UNKNOWN if UNKNOWN in one.value else shown[name].value if name in shown else ""
        rows.append(one.replaced(value=value, source=_place(one, session, definition)))
    return rows


class _Look(SourceReader):
    """Reads sources that are data; of settings.conf only the names, of providers nothing."""

    def read(self, source: Source) -> None:
        try:
            super().read(source)
        except HostError as error:
            self.messages.warn(error.problem)

    def settings(self, source: Source) -> None:
        for path in source.files:
            for name in settings_names(path):
                self.offer(name, UNKNOWN, source.rank, path)

    def provided(self, source: Source) -> None:
        pass


def settings_names(path: str) -> dict[str, int]:
    """Return the names that a settings file seems to assign, with their line numbers."""
    try:
        lines = decode(read_regular(path, _LARGEST, SourceError)).splitlines()
    except (OSError, HostError):
        return {}
    code = [(number, line) for number, line in enumerate(lines, 1) if line.lstrip()[:1] != "#"]
    return {name: number for number, line in code for name in _ASSIGNED.findall(line)}


def trace(
    layers: Layers, *, everything: bool = False
) -> Iterator[tuple[Assignment, list[Assignment]]]:
    """Yield each variable's winning assignment and the shadowed ones, strongest first.

    Covers all names that a source or the framework sets, with `everything` also the caller's.
    """
    for name in {**layers.offered, **layers.fixed, **(layers.system if everything else {})}:
        ranked = list(layers.offered.get(name, ()))
        outside, fixed = layers.system.get(name), layers.fixed.get(name)
        if outside is not None and outside != fixed:
            ranked.insert(0, Assignment(name, outside, SYSTEM, "system"))
        if fixed is not None:
            origin = "args" if name.startswith("ARG_") else "framework"
            ranked.insert(0, Assignment(name, fixed, FRAMEWORK, origin))
        yield ranked[0], ranked[1:]


def traced_variables(layers: Layers) -> dict[str, Variable]:
    """Return all variables of a run by name, including the caller's, unmasked.

    Each source includes the line or key. bash does not report the line of an assignment, so
    settings.conf is searched for the name.
    """
    settings: dict[str, dict[str, int]] = {}

    def source(one: Assignment) -> str:
        path = one.origin
        if one.rank == SETTINGS and path not in settings:
            settings[path] = settings_names(path)
        line = settings.get(path, {}).get(one.name)
        return f"{path}:{line}" if line else path

    def variable(one: Assignment, weaker: Iterable[Assignment] = ()) -> Variable:
        return Variable(one.name, one.value, source(one), one.rank, tuple(map(variable, weaker)))

    traced = trace(layers, everything=True)
    return {winner.name: variable(winner, shadowed) for winner, shadowed in traced}


def shown_value(value: str, behind: str, column: int, terminal: Terminal) -> str:
    """Return a value and the text `behind` it; on a terminal the value is cut to fit the width."""
    value = printable(value) or EMPTY
    if terminal.is_interactive:
        value = cut(value, max(terminal.width - column - width_of(behind), _SHORTEST_VALUE))
    return value + behind


def _place(one: Variable, session: Session, definition: Definition) -> str:
    """Return a short description of a value's source."""
    if one.source and one.rank == SYSTEM:
        return "your environment"
    for key in ("envs", "secrets"):
        if one.source.endswith(f": {key}.{one.name}"):
            return key
    for base in (definition.directory, session.layout.root):
        if base and one.source.startswith(f"{base}/"):
            return one.source.removeprefix(f"{base}/")
    return one.source

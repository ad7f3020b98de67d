"""The variables of a command: as a run traced them, and as its help page tells them.

settings.conf is code, and a source of a plugin may be; neither is run to show a page
(CONTRACT 7). What such a file plainly says is read as text, the rest is left open.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

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
from host.secrets import masked
from host.text_width import cut, width_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from host.cli.session import Session
    from host.records import Terminal
    from host.run.catalog import Match
    from host.run.lock import Source

_LARGEST = 16 << 20  # bytes of a settings.conf that is looked at
_SHORTEST_VALUE = 20  # columns of a value that is cut
UNKNOWN = "\0"  # the value of a source that is not asked, as it would run code; none holds a NUL

_ASSIGNED = re.compile(r"(?:^|[\s;&|({])([A-Za-z_][A-Za-z0-9_]*)\+?=")
# A line that does one thing, whatever else the file does: it gives a name this text.
_PLAIN = re.compile(
    r"""\s*(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)=
    (?:"(?P<double>[^"$`\\]*)"|'(?P<single>[^']*)'|(?P<bare>[\w./:@%,+-]*))
    \s*(?:\#.*)?""",
    re.VERBOSE | re.ASCII,
)


class VariableRow(NamedTuple):
    """A variable: `value` is None where only a run knows it, `source` "" where nothing sets it."""

    name: str
    value: str | None
    source: str
    required: bool

    @property
    def missing(self) -> bool:
        """Tell whether the command cannot run without it and nothing sets it."""
        return self.required and self.value == ""


def variable_rows(session: Session, found: Match, definition: Definition) -> list[VariableRow]:
    """Return the variables that a definition speaks of: required ones, `envs`, `.env` files.

    What cannot be read is warned of; the page is shown all the same.
    """
    layers = session.layers(found.words, definition, session.caller, _Look)
    own = [
        winner.name
        for winner, shadowed in trace(layers)
        if any(one.rank in (ENVS, ENV_FILES) for one in (winner, *shadowed))
    ]
    every = traced_variables(layers)
    shown = masked(every, {})
    written = {winner.name for winner, _ in trace(layers) if winner.key}
    needed = frozenset(definition.required_envs)
    rows = []
    for name in dict.fromkeys([*definition.required_envs, *definition.envs, *own]):
        value: str | None = ""
        source = ""
        if name in every:
            value = None if UNKNOWN in every[name].value else shown[name].value
            source = "envs" if name in written else _place(every[name], session, definition)
        rows.append(VariableRow(name, value, source, name in needed))
    return rows


class _Look(SourceReader):
    """Reads what is data; what would have to be run gives its names at most."""

    def read(self, source: Source) -> None:
        try:
            super().read(source)
        except HostError as error:
            self.messages.warn(error.problem)

    def settings(self, source: Source) -> None:
        for path in source.files:
            values = {name: value for name, (_, value) in settings_names(path).items()}
            self.offer_all(source, path, values)

    def provided(self, source: Source) -> dict[str, str]:
        del source
        return {}

    def listed_file(self, source: Source, written: str) -> None:
        if UNKNOWN not in self.expanded(written, self.definition.file, "env_files"):
            super().listed_file(source, written)


def settings_names(path: str) -> dict[str, tuple[int, str]]:
    """Return the names that a settings file assigns, each with its line and value.

    The value is known where the whole file is lines that give names a text.
    """
    try:
        lines = decode(read_regular(path, _LARGEST, SourceError)).splitlines()
    except (OSError, HostError):
        return {}
    found: dict[str, tuple[int, str]] = {}
    plain = True
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        said = _PLAIN.fullmatch(line)
        if said:
            value = said["double"] or said["single"] or said["bare"] or ""
            found[said["name"]] = (number, value)
            continue
        plain = False
        found.update((name, (number, UNKNOWN)) for name in _ASSIGNED.findall(line))
    if plain:
        return found
    return {name: (number, UNKNOWN) for name, (number, _) in found.items()}


def trace(
    layers: Layers, *, everything: bool = False
) -> Iterator[tuple[Assignment, list[Assignment]]]:
    """Yield each variable's winner and what it shadows, strongest first.

    These are the names that a source or the framework set; with `everything` also the caller's.
    """
    by_name: dict[str, list[Assignment]] = {}
    if everything:
        by_name = {name: [] for name in layers.system}
    for assignment in layers.offered:
        by_name.setdefault(assignment.name, []).append(assignment)
    for name, value in layers.fixed.items():
        origin = "args" if name in layers.given else "framework"
        by_name.setdefault(name, []).append(Assignment(name, value, FRAMEWORK, origin))
    for name, assignments in by_name.items():
        value_outside = layers.system.get(name)
        if value_outside is not None and layers.fixed.get(name) != value_outside:
            assignments.insert(0, Assignment(name, value_outside, SYSTEM, "system"))
        assignments.reverse()  # within a rank the later one wins
        assignments.sort(key=lambda one: one.rank)
        yield assignments[0], assignments[1:]


def traced_variables(layers: Layers) -> dict[str, Variable]:
    """Return every variable of a run, the caller's own too, by name: not masked.

    A source is told with its line or key; bash does not say the line of an assignment, so
    settings.conf is read for that.
    """
    settings: dict[str, dict[str, tuple[int, str]]] = {}

    def source(one: Assignment) -> str:
        path = one.origin
        if one.rank == SETTINGS and path not in settings:
            settings[path] = settings_names(path)
        line, _ = settings.get(path, {}).get(one.name, (0, ""))
        return f"{path}:{line}" if line else path

    def variable(one: Assignment, weaker: Iterable[Assignment] = ()) -> Variable:
        rank = int(one.rank) if one.rank == int(one.rank) else one.rank
        return Variable(one.name, one.value, source(one), rank, tuple(map(variable, weaker)))

    traced = trace(layers, everything=True)
    return {winner.name: variable(winner, shadowed) for winner, shadowed in traced}


def shown_value(value: str, behind: str, column: int, terminal: Terminal) -> str:
    """Return a value from `column` on with what stands `behind` it; cut where somebody looks."""
    value = printable(value) or EMPTY
    if terminal.is_interactive:
        value = cut(value, max(terminal.width - column - width_of(behind), _SHORTEST_VALUE))
    return value + behind


def _place(one: Variable, session: Session, definition: Definition) -> str:
    """Return where a value comes from, in few words."""
    if one.rank == SYSTEM:
        return "your environment"
    folder = definition.directory if one.rank != SETTINGS else ""
    for base in filter(None, (folder, session.layout.root)):
        if one.source.startswith(f"{base}/"):
            return one.source.removeprefix(f"{base}/")
    return one.source


def settings_are_left_open(session: Session, told: Iterable[VariableRow]) -> bool:
    """Tell whether a run of settings.conf would say more than the page."""
    open_rows = any(one.value is None or one.missing for one in told)
    return open_rows and os.path.isfile(session.layout.settings_file)

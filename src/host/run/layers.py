"""Pure: ranked layers of variables → one environment, with who won and who lost.

The ranks (SPEC 2.6) decide here and nowhere else. Rank 5, the default in
the script, is the shell's own business: it applies when no layer set the variable.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FRAMEWORK = 0  # CLI_DIR, COMMAND_NAME …: they describe the run, so nothing overrides them
SYSTEM = 1
ENVS = 2
SETTINGS = 3
ENV_FILES = 4


class Assignment:
    """One value that one source gives to one name. `origin` is shown to people."""

    __slots__ = ("name", "origin", "rank", "value")

    def __init__(self, name: str, value: str, rank: float, origin: str) -> None:
        self.name = name
        self.value = value
        self.rank = rank
        self.origin = origin


class Layers:
    """What the sources said so far; the lowest rank number wins, within a rank the later.

    A name in `system` is never changed, even when its value is empty (SPEC 2.6 rule 4).
    `missing` are the files of `env_files` that are not there.
    """

    __slots__ = ("_offered", "_winners", "missing", "system")

    def __init__(self, system: "Mapping[str, str]", framework: "Mapping[str, str]") -> None:
        self.system = system
        self.missing: list[str] = []
        self._winners = {
            name: Assignment(name, value, FRAMEWORK, "framework")
            for name, value in framework.items()
        }
        self._offered: list[Assignment] = []

    def get(self, name: str) -> str | None:
        """Return the value that wins so far, or None when nothing set `name`."""
        winner = self._winners.get(name)
        return self.system.get(name) if winner is None else winner.value

    def offer(self, assignment: Assignment) -> bool:
        """Add what a source says; return whether it wins for now."""
        self._offered.append(assignment)
        name = assignment.name
        winner = self._winners.get(name)
        if name in self.system and winner is None:
            return False
        if winner is not None and winner.rank < assignment.rank:
            return False
        self._winners[name] = assignment
        return True

    def environment(self) -> dict[str, str]:
        """Return the whole environment: the system's, changed only where a layer won."""
        merged = dict(self.system)
        for name, winner in self._winners.items():
            merged[name] = winner.value
        return merged

    def trace(self, everything: bool = False) -> "Iterator[tuple[Assignment, list[Assignment]]]":
        """Yield each variable's winner and what it shadows, strongest first.

        Only names that a source or the framework spoke of, or, with `everything`,
        the caller's others too.
        """
        by_name: dict[str, list[Assignment]] = {}
        if everything:
            by_name = {name: [] for name in self.system}
        for assignment in self._offered:
            by_name.setdefault(assignment.name, []).append(assignment)
        for name, winner in self._winners.items():
            if winner.rank == FRAMEWORK:
                by_name.setdefault(name, []).append(winner)
        for name, assignments in by_name.items():
            if name in self.system and self.system[name] != self._framework_value(name):
                assignments.insert(0, Assignment(name, self.system[name], SYSTEM, "system"))
            assignments.reverse()  # within a rank the later one wins
            assignments.sort(key=_rank)
            yield assignments[0], assignments[1:]

    def _framework_value(self, name: str) -> str | None:
        winner = self._winners.get(name)
        return winner.value if winner is not None and winner.rank == FRAMEWORK else None


def _rank(assignment: Assignment) -> float:
    return assignment.rank

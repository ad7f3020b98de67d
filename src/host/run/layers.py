"""The variables of a run: what each source offers, and which value wins (SPEC 2.6).

Only this module defines the ranks and the load order. `host.run.environment` reads the sources.
"""

from host.errors import Problem
from host.run.caller import FRAMEWORK_NAMES, RUN, from_system, working_directory
from host.run.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from host.run.declarations import SecretScheme
    from host.run.definition import Definition
    from host.run.path_folders import PathFolder

    Report = Callable[[Problem], None]
    RunChain = Callable[[Mapping[str, str], Collection[str], Sequence[str]], str]

# Ranks: 1 is the highest, and the highest wins. A default in a command's script has rank 5.
FRAMEWORK = 0  # CLI_DIR, COMMAND_NAME … describe the run, so nothing overrides them
SYSTEM = 1
ENVS = 2
SETTINGS = 3
ENV_FILES = 4
SECRETS = 4.5  # secrets are resolved last, and only if nothing else sets the variable
RANKS = {"shell": SETTINGS, "env_files": ENV_FILES, "envs": ENVS}
"""Ranks of the built-in readers. A plugin can give its source any rank from ENVS to ENV_FILES."""

# A secret of fewer characters is in too many values to tell that they come from it.
_SHORTEST_INSIDE = 3
BUILT_IN_SCHEMES = ("run", "file")  # reference schemes for secrets
LOAD_ORDER = {"shell": 0, "dotenv": 1, "python": 1, "env_files": 2, "envs": 3}
"""The order of readers: settings.conf first, so plugins can use its values; the definition last."""


class Assignment:
    """A value that a source offers for a variable; `source` names that source in messages.

    The value is `secret` if it was resolved from a reference, whatever the variable's name.
    """

    __slots__ = ("name", "rank", "secret", "source", "value")

    def __init__(
        self, name: str, value: str, rank: float, source: str, *, secret: bool = False
    ) -> None:
        self.name = name
        self.value = value
        self.rank = rank
        self.source = source
        self.secret = secret


class Layers:
    """The variables of all sources.

    The highest rank (smallest number) wins; if ranks are equal, the assignment read last wins.

    fixed    variables that describe the run (FRAMEWORK), including those of declared arguments
    caller   the caller's environment (SYSTEM): never changed, even if a value is empty
    offered  the assignments of all other sources by name, the strongest first
    missing  the `.env` files that do not exist
    secret_names
             the names in `fixed` whose values are secret
    folders  the folders to append to PATH, after everything that the caller and the sources set
    unasked  the references in `env_files` that were not resolved
    """

    def __init__(
        self,
        caller: "Mapping[str, str]",
        fixed: "Mapping[str, str]",
        run_chain: "RunChain | None" = None,
        folders: "Sequence[PathFolder]" = (),
        secret_names: "Collection[str]" = (),
    ) -> None:
        self.caller = caller
        self.fixed = fixed
        self.offered: dict[str, list[Assignment]] = {}
        self.missing: list[str] = []
        self.unasked: list[str] = []
        self.folders = folders
        self.secret_names = secret_names
        self._run_chain = run_chain  # returns CLI_RUN for what this run sets and appends to PATH

    def offer(self, assignment: Assignment) -> None:
        ranked = self.offered.setdefault(assignment.name, [])
        ranked.insert(0, assignment)
        ranked.sort(key=lambda one: one.rank)

    def get(self, name: str) -> str | None:
        """Return the current value of `name`, or None if it is unset."""
        value = self.offered[name][0].value if name in self.offered else None
        for stronger in (self.caller, self.fixed):
            value = stronger.get(name, value)
        if name == "PATH" and self.folders:
            from host.run.path_folders import append_folders

            value, _ = append_folders(value, self.folders)
        return value

    def environment(self) -> dict[str, str]:
        """Return the complete environment: the caller's, and the variables of all sources."""
        found = {**self.caller, **self.fixed}
        won = {name: ranked[0].value for name, ranked in self.offered.items() if name not in found}
        added: list[str] = []
        if self.folders:
            from host.run.path_folders import append_folders

            layer = found if "PATH" in found else won
            layer["PATH"], added = append_folders(layer.get("PATH"), self.folders)
        if self._run_chain is not None:
            values = {**self.fixed, **won}
            own = {name: values[name] for name in values if name not in FRAMEWORK_NAMES}
            found[RUN] = self._run_chain(own, self._secrets_among(own), added)
        return {**found, **won}

    def _secrets_among(self, values: "Mapping[str, str]") -> "set[str]":
        """Return the names of the values that are secret, or that contain one that is secret."""
        names = {name for name in self.secret_names if name in values}
        for name, assignments in self.offered.items():
            strongest = assignments[0]
            if name in values and (strongest.secret or strongest.rank == SECRETS):
                names.add(name)
        texts = [values[name] for name in names if len(values[name]) >= _SHORTEST_INSIDE]
        if texts:
            names |= {name for name, value in values.items() if any(map(value.__contains__, texts))}
        return names

    def ignored(self) -> "Iterator[str]":
        """Yield a line for each assignment that has no effect because the caller set the name."""
        for name, assignments in self.offered.items():
            if name in self.caller:
                for assignment in assignments:
                    yield f"{name}: {assignment.source} is ignored, because the caller set {name}"


class Offers(Record):
    """Takes the values that the sources of one command offer, and adds them to `layers`.

    `report` is called with each problem that does not prevent a run. `schemes` has the plugins'
    schemes of references to secrets. With `resolves`, references to secrets are resolved. With
    `may_ask`, the providers of the secrets can use the terminal. `program` is for messages.
    """

    words: tuple[str, ...]
    definition: "Definition"
    layers: Layers
    report: "Report"
    schemes: "Sequence[SecretScheme]" = ()
    resolves: bool = False
    may_ask: bool = False
    program: str = "cli"
    directory: str = ""

    def offer(
        self,
        name: str,
        value: str,
        rank: float,
        path: str,
        key: str = "",
        line: int = 0,
        *,
        secret: bool = False,
    ) -> None:
        if any(one.owns(name) for one in self.definition.args):
            return  # only an argument may set its own variables
        scheme, colon, _ = value.partition(":")
        if colon and rank in (ENVS, ENV_FILES) and (scheme == "encrypted" or self.knows(scheme)):
            what = (
                f"the value of {name} looks like a reference to a secret, but is not resolved here"
            )
            self.report(Problem(path, what, 'move it to "secrets"', key, line))
        source = f"{path}:{line}" if line else f"{path}: {key}" if path and key else path or key
        self.layers.offer(Assignment(name, value, rank, source, secret=secret))

    def knows(self, scheme: str) -> bool:
        """Return whether `scheme` is a reference scheme for secrets."""
        declared = [declaration.scheme for declaration in self.schemes]
        return scheme in BUILT_IN_SCHEMES or scheme in declared

    def expanded(
        self,
        text: str,
        path: str,
        key: str,
        line: int = 0,
        on_warning: "Report | None" = None,
    ) -> str:
        """Return `text` with its variables expanded; warnings contain `path`, `key` and `line`."""
        if "$" not in text and "\\" not in text:
            return text  # most values have nothing to expand, and the run saves an import
        from host.run.expand import UNSUPPORTED, expand

        warn = on_warning or self.report

        def lookup(name: str) -> str | None:
            value = self.layers.get(name)
            if name == "PWD" and name in self.layers.caller:
                value = self.directory or working_directory(self.layers.caller[name])
            if value is None and name in self.definition.secrets:
                what = f"${name} is empty here, because secrets are resolved last"
                warn(Problem(path, what, "compute the value in the command", key, line))
            return from_system(name) if value is None else value

        return expand(text, lookup, lambda: warn(Problem(path, UNSUPPORTED, key=key, line=line)))

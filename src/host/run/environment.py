"""Merge the sources of variables into the environment of a run (SPEC 2.6, 3).

Only this module defines the ranks and the load order. `SourceReader` reads the sources of one
command. `Layers` stores the variables of each source and decides which value wins.
"""

import posix

from host.errors import Problem
from host.run import Record, from_system, working_directory
from host.run.definition import Definition
from host.run.expand import UNSUPPORTED, expand
from host.run.process import FRAMEWORK_NAMES, RUN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from host.run.installation import OpenInstallation
    from host.run.lock import Source
    from host.run.path_folders import PathFolder

    Report = Callable[[Problem], None]
    RunChain = Callable[[Mapping[str, str], Collection[str], Sequence[str]], str]

REPORT = "CLI_REPORT_FD"  # names a descriptor to which a run writes its variables

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


class SourceReader(Record):
    """Reads the sources of one command into `layers`.

    `report` is called with each problem that does not prevent a run. `schemes` has the plugins'
    schemes of references to secrets. With `resolves`, references to secrets are resolved. With
    `may_ask`, the providers of the secrets can use the terminal. `program` is for messages.
    `directory` is the current directory of a run on another machine.
    """

    words: tuple[str, ...]
    definition: Definition
    layers: Layers
    report: "Report"
    schemes: "Sequence[Sequence[str]]" = ()
    resolves: bool = False
    may_ask: bool = False
    program: str = "cli"
    directory: str = ""

    def read_all(self, sources: "Iterable[Source]") -> None:
        """Add the variables of `sources` to `layers`, unless the command has `"sources": false`."""
        for source in sources if self.definition.reads_sources else ():
            self.read(source)

    def read(self, source: "Source") -> None:
        """Add a source's variables to `layers` if it serves the command. Raises SourceError."""
        if not source.serves(self.words):
            return
        if source.reader == "shell":
            self.read_settings(source)
        elif source.reader == "python":
            self.read_provider(source)
        elif source.reader == "envs":
            self.read_envs(source)
        elif source.files or any(one.env_files for one in self.definition.chain):
            from host.run.dotenv import offer_env_files

            offer_env_files(self, source)

    def read_settings(self, source: "Source") -> None:
        for path in source.files:
            try:
                posix.lstat(path)
            except FileNotFoundError:
                continue
            except OSError:
                pass  # for example, an unreadable folder: capture_settings reports the error
            from host.run.settings import capture_settings

            before = self.layers.environment()
            for name, value in capture_settings(path, before).items():
                if before.get(name) != value:
                    self.offer(name, value.rstrip("\r"), source.rank, path)

    def read_provider(self, source: "Source") -> None:
        from host.run.provider import call_provider

        found = call_provider(source.plugin, source.provider, self.words, self.layers.environment())
        for name, value in found.items():
            self.offer(name, value, source.rank, f"plugin {source.plugin}: {source.name}")

    def read_envs(self, source: "Source") -> None:
        for one in self.definition.chain:
            file = one.file or source.name
            for name, text in one.envs.items():
                key = f"envs.{name}"
                self.offer(name, self.expanded(text, file, key), source.rank, file, key)

    def read_secrets(self) -> None:
        """Add to `layers` the secrets that no other source sets.

        They are added as values or, without `resolves`, as references. Raises SourceError.
        """
        definition = self.definition
        found = {
            f"secrets.{name}": text
            for name, text in definition.secrets.items()
            if self.layers.get(name) is None
        }
        if found and self.resolves:
            from host.run.secret_references import resolve

            found = resolve(found, self, definition)
        for key, value in found.items():
            name = key.removeprefix("secrets.")
            self.offer(name, value, SECRETS, definition.file, key, secret=self.resolves)

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
        return scheme in BUILT_IN_SCHEMES or any(scheme == one[0] for one in self.schemes)

    def expanded(
        self,
        text: str,
        path: str,
        key: str,
        line: int = 0,
        on_warning: "Report | None" = None,
    ) -> str:
        """Return `text` with its variables expanded; warnings contain `path`, `key` and `line`."""
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


def layers_of(
    words: tuple[str, ...],
    definition: Definition,
    installation: "OpenInstallation",
    environ: "Mapping[str, str]",
    given: "Mapping[str, str] | None" = None,
) -> Layers:
    """Return the initial layers of a command's run; a `SourceReader` adds the other sources.

    `environ` is the caller's environment, with CLI_RUN. `given` has the variables of the declared
    arguments, by default those of an empty command line.
    """
    caller = {
        name: value
        for name, value in environ.items()
        if name not in (RUN, REPORT) and not any(one.owns(name) for one in definition.args)
    }
    if definition.args and given is None:
        from host.run.argument_parser import parse

        given = parse(definition.args, None, environ=environ).variables()
    fixed = {**installation.run_variables(words), **(given or {})}
    if definition.project is not None:
        fixed["PROJECT_DIR"] = definition.project.root
    folders: Sequence[PathFolder] = ()
    if definition.path_folders and definition.reads_sources:
        from host.run.path_folders import check_folders

        folders = check_folders(definition)

    def run_chain(
        values: "Mapping[str, str]", secret: "Collection[str]", added: "Sequence[str]"
    ) -> str:
        return installation.run_chain(environ, values, secret, added)

    secret_names = [
        name
        for argument in definition.args
        if argument.secret
        for name in fixed
        if argument.owns(name)
    ]
    return Layers(caller, fixed, run_chain, folders, secret_names)

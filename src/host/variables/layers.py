"""The variables of a run: what each source offers, and which value wins (SPEC 2.6).

Only this module defines the ranks and the load order. `host.variables.read_sources` reads the
sources.
"""

from host.caller import FRAMEWORK_NAMES, RUN, from_system, working_directory
from host.errors import Problem
from host.record_base import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from host.catalog.definition import Definition
    from host.plugin_functions import SecretScheme
    from host.variables.chain_entry import ChainEntry
    from host.variables.path_folders import PathFolder

    Report = Callable[[Problem], None]

# Ranks: the smallest number wins. `Layers.ranked` has them in this order. A default in a command's
# script comes after all of them (rank 5), but only the script knows it.
FRAMEWORK = 0  # CLI_DIR, COMMAND_NAME … describe the run, so nothing overrides them
SYSTEM = 1  # the caller's environment
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


class Variable(Record):
    """One variable of a command's run: its value, its source, and the values that it shadows.

    name      such as "DB_HOST"
    value     the value in the run, unmasked; call `masked` before you show it
    source    a file with its line or key, a plugin with the name of its source, "system" for the
              caller's environment, "args" for a declared argument, or "framework"
    rank      1 for the caller's environment, 2 for `envs`, 3 for settings.conf, 4 for `.env`
              files, 4.5 for `secrets`, and from 2 to 4 for plugins; 0 for variables that describe
              the run, such as COMMAND_NAME (`self env --format json` shows null for 0)
    shadows   the variables of the same name that it overrides, the strongest first
    secret    whether a reference to a secret gave the value; `masked` then hides it, whatever the
              name of the variable
    """

    name: str
    value: str
    source: str
    rank: float
    shadows: "tuple[Variable, ...]" = ()
    secret: bool = False

    # A run makes one for each value of a source; `Record.__init__` would take three times as long.
    def __init__(
        self,
        name: str,
        value: str,
        source: str,
        rank: float,
        shadows: "tuple[Variable, ...]" = (),
        secret: bool = False,
    ) -> None:
        self.name = name
        self.value = value
        self.source = source
        self.rank = rank
        self.shadows = shadows
        self.secret = secret


class Layers:
    """The variables of all sources.

    The smallest rank wins; if ranks are equal, the value read last wins. `ranked` has the order;
    `get` and `environment` are shorter ways to its first value.

    inherited
             what the command inherits from the caller's environment (SYSTEM): never changed, even
             if a value is empty
    fixed    variables that describe the run (FRAMEWORK), including those of declared arguments
    offered  the variables of all other sources by name, the strongest first
    missing  the `.env` files that do not exist
    secret_names
             the names in `fixed` whose values are secret
    entry    the run's entry of CLI_RUN, or None if it exports none
    folders  the folders to append to PATH, after everything that the caller and the sources set
    unasked  the references in `env_files` that were not resolved
    """

    def __init__(
        self,
        inherited: "Mapping[str, str]",
        fixed: "Mapping[str, str]",
        entry: "ChainEntry | None" = None,
        folders: "Sequence[PathFolder]" = (),
        secret_names: "Collection[str]" = (),
    ) -> None:
        self.inherited = inherited
        self.fixed = fixed
        self.offered: dict[str, list[Variable]] = {}
        self.missing: list[str] = []
        self.unasked: list[str] = []
        self.folders = folders
        self.secret_names = secret_names
        self._entry = entry

    def offer(self, variable: Variable) -> None:
        ranked = self.offered.setdefault(variable.name, [])
        ranked.insert(0, variable)  # of equal ranks, the value read last wins
        ranked.sort(key=lambda offered: offered.rank)

    def ranked(self, name: str) -> "Iterator[Variable]":
        """Yield all values of `name`, the strongest first, without the folders of PATH."""
        fixed = self.fixed.get(name)
        if fixed is not None:
            source = "framework"
            if name.startswith("ARG_"):
                source = "args"
            yield Variable(name, fixed, source, FRAMEWORK)

        # In a nested run, both may have the same value: then the caller's is not shadowed.
        inherited = self.inherited.get(name)
        if inherited is not None and inherited != fixed:
            yield Variable(name, inherited, "system", SYSTEM)

        yield from self.offered.get(name, ())

    def get(self, name: str) -> str | None:
        """Return the current value of `name`, or None if it is unset."""
        value: str | None = None
        if name in self.fixed:
            value = self.fixed[name]
        elif name in self.inherited:
            value = self.inherited[name]
        elif name in self.offered:
            value = self.offered[name][0].value

        if name == "PATH" and self.folders:
            from host.variables.path_folders import append_folders

            value, _ = append_folders(value, self.folders)
        return value

    def environment(self) -> dict[str, str]:
        """Return the complete environment: what is inherited, and the variables of all sources."""
        environment = {**self.inherited, **self.fixed}

        won = {}  # what the sources add: nothing that the caller or the run has set
        for name, ranked in self.offered.items():
            if name not in environment:
                won[name] = ranked[0].value

        # last, because a source may set PATH
        added: list[str] = []
        if self.folders:
            from host.variables.path_folders import append_folders

            layer = won
            if "PATH" in environment:
                layer = environment
            layer["PATH"], added = append_folders(layer.get("PATH"), self.folders)

        if self._entry is not None:
            set_here = {}
            for name, value in (*self.fixed.items(), *won.items()):
                if name not in FRAMEWORK_NAMES:
                    set_here[name] = value
            secret = self._secrets_among(set_here)
            environment[RUN] = self._entry.chained(set_here, secret, added)
        return environment | won

    def _secrets_among(self, values: "Mapping[str, str]") -> "set[str]":
        """Return the names of the values that are secret, or that contain one that is secret."""
        names = set()
        for name in self.secret_names:
            if name in values:
                names.add(name)
        for name, ranked in self.offered.items():
            strongest = ranked[0]
            is_secret = strongest.secret or strongest.rank == SECRETS
            if is_secret and name in values:
                names.add(name)

        texts = []
        for name in names:
            if len(values[name]) >= _SHORTEST_INSIDE:
                texts.append(values[name])
        if not texts:
            return names

        # A value such as `https://user:$TOKEN@host` contains a secret.
        for name, value in values.items():
            if any(text in value for text in texts):
                names.add(name)
        return names

    def ignored(self) -> "Iterator[str]":
        """Yield a line for each value that has no effect because the caller set the name."""
        for name, ranked in self.offered.items():
            if name not in self.inherited:
                continue
            for variable in ranked:
                yield f"{name}: {variable.source} is ignored, because the caller set {name}"


class Offers(Record):
    """Takes the values that the sources of one command offer, and adds them to `layers`.

    `report` is called with each problem that does not prevent a run. `schemes` has the plugins'
    schemes of references to secrets. With `resolves`, references to secrets are resolved. With
    `may_ask`, the providers of the secrets can use the terminal. `program` is for messages.
    If the command runs on another machine, `local` has the variables without those of that machine.
    """

    words: tuple[str, ...]
    definition: "Definition"
    layers: Layers
    report: "Report"
    schemes: "Sequence[SecretScheme]" = ()
    resolves: bool = False
    may_ask: bool = False
    program: str = "cli"
    local: Layers | None = None

    @property
    def here(self) -> Layers:
        """The variables for code that is started and files that are chosen on this machine."""
        return self.layers if self.local is None else self.local

    def offer_text(
        self,
        name: str,
        text: str,
        rank: float,
        path: str,
        key: str = "",
        line: int = 0,
        *,
        secret: bool = False,
        on_warning: "Report | None" = None,
    ) -> None:
        """Offer a text after its variables are expanded."""
        value = self.expanded(text, path, key or name, line, on_warning)
        value_here = value
        if self.local is not None:
            value_here = self._expanded(
                text, path, key or name, line, lambda _: None, self.local
            )
        self.offer(
            name, value, rank, path, key, line, secret=secret, value_here=value_here
        )

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
        value_here: str | None = None,
    ) -> None:
        """Offer a value; `value_here` is the one on this machine, if it differs."""
        if any(argument.owns(name) for argument in self.definition.args):
            return  # only an argument may set its own variables

        if rank in (ENVS, ENV_FILES) and self._looks_secret(value):
            what = (
                f"the value of {name} looks like a reference to a secret, but is "
                "not resolved here"
            )
            self.report(Problem(path, what, 'move it to "secrets"', key, line))

        if line:
            source = f"{path}:{line}"
        elif path and key:
            source = f"{path}: {key}"
        else:
            source = path or key
        self.layers.offer(Variable(name, value, source, rank, secret=secret))
        if self.local is not None:
            if value_here is None:
                value_here = value
            self.local.offer(Variable(name, value_here, source, rank, secret=secret))

    def _looks_secret(self, value: str) -> bool:
        """Return whether a value looks like a reference to a secret, or like one of dotenvx."""
        scheme, colon, _ = value.partition(":")
        if not colon:
            return False
        return scheme == "encrypted" or self.knows(scheme)

    def knows(self, scheme: str) -> bool:
        """Return whether `scheme` is a reference scheme for secrets."""
        if scheme in BUILT_IN_SCHEMES:
            return True
        return any(declared.scheme == scheme for declared in self.schemes)

    def expanded(
        self,
        text: str,
        path: str,
        key: str,
        line: int = 0,
        on_warning: "Report | None" = None,
    ) -> str:
        """Return `text` with its variables expanded; warnings contain `path`, `key` and `line`."""
        return self._expanded(text, path, key, line, on_warning, self.layers)

    def expanded_here(self, text: str, path: str, key: str) -> str:
        """Return `text` with its variables expanded, for use on this machine."""
        return self._expanded(text, path, key, 0, None, self.here)

    def _expanded(
        self,
        text: str,
        path: str,
        key: str,
        line: int,
        on_warning: "Report | None",
        layers: Layers,
    ) -> str:
        if "$" not in text and "\\" not in text:
            # most values have nothing to expand, and the run saves an import
            return text
        from host.variables.expand import UNSUPPORTED, expand

        warn = on_warning or self.report

        def lookup(name: str) -> str | None:
            value = self._value_for(name, layers)
            if value is None and name in self.definition.secrets:
                what = f"${name} is empty here, because secrets are resolved last"
                warn(Problem(path, what, "compute the value in the command", key, line))
            if value is None:
                value = from_system(name)
            return value

        def warn_unsupported() -> None:
            warn(Problem(path, UNSUPPORTED, key=key, line=line))

        return expand(text, lookup, warn_unsupported)

    def _value_for(self, name: str, layers: Layers) -> str | None:
        """Return the value of `$name` in a text, or None if it is unset."""
        if name == "PWD" and name in layers.inherited:
            pwd = layers.inherited[name]
            if layers is not self.here:
                return pwd  # a directory on another machine
            # The caller's PWD may name another directory.
            return working_directory(pwd)
        return layers.get(name)

"""The environment of a run: layers of variables in, one mapping out (SPEC 2.6, 3).

The ranks and the load order are written here and nowhere else.
"""

import _imp
import posix

from host.errors import CannotStartError, Problem, SourceError
from host.run import Record, join
from host.run.command import Definition
from host.run.expand import expand
from host.run.text import Messages, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from host.run.installation import OpenInstallation
    from host.run.lock import Lock, Source

RUN = "CLI_RUN"  # what each run exports for the runs inside it: see `host.run.nested`
REPORT = "CLI_REPORT_FD"  # a descriptor to which a run writes its variables
FRAMEWORK_NAMES = (
    *("CLI_DIR", "CORE_DIR", "LIB_DIR", "PLUGINS_DIR", "GLOBAL_CONFIG_FILE"),
    *("COMMAND_NAME", "COMMAND_CATEGORY"),
)
"""Variables that describe a run; `OpenInstallation.run_variables` has their values."""

# The lowest rank wins. Rank 5, the default in the script, applies if no layer sets the variable.
FRAMEWORK = 0  # CLI_DIR, COMMAND_NAME …: they describe the run, so nothing overrides them
SYSTEM = 1
ENVS = 2
SETTINGS = 3
ENV_FILES = 4
SECRETS = 4.5  # of references: resolved last, and only if nothing else sets the variable
RANKS = {"shell": SETTINGS, "env_files": ENV_FILES, "envs": ENVS}
"""Ranks of the program's own readers; any other source has a rank from ENVS to ENV_FILES."""

BUILT_IN_SCHEMES = ("run", "file")  # of references to secrets

LOAD_ORDER = {"shell": 0, "dotenv": 1, "python": 1, "env_files": 2, "envs": 3}
"""When each reader reads: settings.conf first, so that plugins can use it; the definition last."""

_LARGEST = 16 << 20  # characters of all expanded values; no program starts with so many

_NOTHING: "Mapping[str, str]" = {}

_HASH_KEY = 1  # any number
_HASH_SIZE = 4  # bytes


class Assignment:
    """One value that one source gives to one name. `origin` is shown to people.

    `key` is where it is in the command's definition, "" if it comes from elsewhere.
    """

    __slots__ = ("key", "name", "origin", "rank", "value")

    def __init__(self, name: str, value: str, rank: float, origin: str, key: str = "") -> None:
        self.name = name
        self.value = value
        self.rank = rank
        self.origin = f"{origin}: {key}" if key else origin
        self.key = key


class Layers:
    """What the sources said so far; the lowest rank number wins, within a rank the later.

    A name in `system` is never changed, even if its value is empty (SPEC 2.6 rule 4); `fixed` goes
    before all, and `given` is the part of it that declared arguments set. `offered` is what the
    sources said, in order. `missing` are the files of `env_files` that are not there. `describe`
    makes CLI_RUN of what was set so far.
    """

    __slots__ = ("_describe", "_winners", "fixed", "given", "missing", "offered", "system")

    def __init__(
        self,
        system: "Mapping[str, str]",
        framework: "Mapping[str, str]",
        given: "Mapping[str, str]" = _NOTHING,
        describe: "Callable[[Mapping[str, str]], str] | None" = None,
    ) -> None:
        self.system = system
        self.missing: list[str] = []
        self.given = given
        self._describe = describe
        self.fixed = {**framework, **given}
        self._winners: dict[str, Assignment] = {}
        self.offered: list[Assignment] = []

    def get(self, name: str) -> str | None:
        """Return the value that wins so far, or None when nothing set `name`."""
        if name in self.fixed:
            return self.fixed[name]
        winner = self._winners.get(name)
        return self.system.get(name) if winner is None else winner.value

    def offer(self, assignment: Assignment) -> bool:
        """Add what a source says; return whether it wins for now."""
        self.offered.append(assignment)
        name = assignment.name
        winner = self._winners.get(name)
        wins = winner is None or winner.rank >= assignment.rank
        if name in self.fixed or name in self.system or not wins:
            return False
        self._winners[name] = assignment
        return True

    def environment(self) -> dict[str, str]:
        """Return the whole environment: the system's, changed only where a layer won."""
        won = {name: winner.value for name, winner in self._winners.items()}
        found = {**self.system, **self.fixed, **won}
        if self._describe is not None:
            found[RUN] = self._describe({**self.given, **won})
        return found


_STAYS = (
    "a ${…} stays as written; only ${NAME} with :- - := = :+ + is expanded, and with :? ? "
    "if NAME is set"
)


class SourceReader(Record):
    """One pass over the sources of one command: `layers` so far, and where messages go.

    `schemes` are those of plugins for references to secrets. This reader resolves none.
    """

    resolves = False
    may_ask = False  # whether providers of secrets keep the terminal

    words: tuple[str, ...]
    definition: Definition
    layers: Layers
    messages: Messages
    schemes: "Sequence[Sequence[str]]" = ()
    expanded_size: int = 0

    def read(self, source: "Source") -> None:
        """Offer what `source` says to the layers; raises SourceError."""
        if not source.serves(self.words):
            return
        if source.reader == "envs":
            self.envs(source)
        elif source.reader == "env_files":
            for one in (*self.definition.above, self.definition):
                for written in one.env_files:
                    self.listed_file(source, written, one)
        elif source.reader == "dotenv":
            for path in source.files:
                self.env_file(source, path)
        elif source.reader == "shell":
            self.settings(source)
        else:
            self.offer_all(source, f"plugin {source.plugin}: {source.name}", self.provided(source))

    def envs(self, source: "Source") -> None:
        for one in (*self.definition.above, self.definition):
            file = one.file or source.name
            for name, text in one.envs.items():
                key = f"envs.{name}"
                value = self.expanded(text, file, key)
                self.offer(name, value, source.rank, file, key)

    def settings(self, source: "Source") -> None:
        for path in source.files:
            if _may_be_there(path):
                from host.run.settings import capture_settings

                before = self.layers.environment()
                values = capture_settings(path, before)
                changed = {name: text for name, text in values.items() if before.get(name) != text}
                self.offer_all(source, path, changed)

    def listed_file(self, source: "Source", written: str, definition: Definition) -> None:
        """Read an entry of a definition's `env_files`; one that expands to nothing is no file."""
        if ":" in written and self.is_reference(written, definition):
            self.referenced_file(source, written, definition)
            return
        path = self.expanded(written, definition.file, "env_files")
        if not path:
            return
        if self.definition.project is not None:
            self.definition.project.check(join(definition.directory, path))
        try:
            self.env_file(source, join(definition.directory, path))
        except SourceError as failure:
            if path == written:
                raise
            problem = failure.problem
            text = f'{problem.text} (env_files: "{written}")'
            raise SourceError(problem.replaced(problem.path, text)) from None

    def is_reference(self, text: str, definition: Definition) -> bool:
        """Return whether an entry of `env_files` is no path: an unknown scheme counts, too."""
        scheme = text.partition(":")[0]
        if scheme in BUILT_IN_SCHEMES or any(scheme == one[0] for one in self.schemes):
            return True
        is_scheme = scheme.isascii() and scheme.isalnum() and scheme.islower()
        return is_scheme and not _may_be_there(join(definition.directory, text))

    def referenced_file(self, source: "Source", written: str, definition: Definition) -> None:
        if not self.resolves:
            return
        from host.run.dotenv import offer_text
        from host.run.secret_references import resolve

        text = resolve({"env_files": written}, self, definition)["env_files"]
        offer_text(self, source, written, text)

    def env_file(self, source: "Source", path: str) -> None:
        from host.run.dotenv import offer_env_file

        offer_env_file(self, source, path)

    def offer(self, name: str, value: str, rank: float, origin: str, key: str = "") -> None:
        args = self.definition.args
        if args and any(one.owns(name) for one in args):
            return  # a command line alone gives these
        if ":" in value and rank in (ENVS, ENV_FILES):
            self._warn_of_reference(name, value, origin, key)
        offered = self.layers.offer(Assignment(name, value, rank, origin, key))
        if not offered and name in self.layers.system:
            self.messages.debug(f"{name}: {origin} is ignored, the caller has set it")

    def _warn_of_reference(self, name: str, value: str, origin: str, key: str) -> None:
        scheme = value.partition(":")[0]
        if scheme == "encrypted":
            what = f"{name} looks encrypted, and nothing decrypts it here"
        elif scheme in BUILT_IN_SCHEMES or any(scheme == one[0] for one in self.schemes):
            what = f"{name} looks like a reference to a secret, and nothing resolves it here"
        else:
            return
        self.messages.warn(Problem(origin, what, 'references belong in "secrets"', key))

    def offer_all(self, source: "Source", origin: str, values: "Mapping[str, str]") -> None:
        for name, value in values.items():
            self.offer(name, value, source.rank, origin)

    def provided(self, source: "Source") -> dict[str, str]:
        from host.run.provider import ask_provider

        environ = self.layers.environment()
        return ask_provider(source.plugin, source.provider, self.words, environ)

    def expanded(
        self,
        text: str,
        path: str,
        key: str,
        on_warning: "Callable[[Problem], None] | None" = None,
        line: int = 0,
    ) -> str:
        """Return `text` with its references replaced; `path`, `key` and `line` are its place."""

        def warn() -> None:
            (on_warning or self.messages.warn)(Problem(path, _STAYS, key=key, line=line))

        lookup = self.lookup
        if self.definition.secrets:

            def lookup(name: str) -> str | None:
                found = self.lookup(name)
                if found is None and name in self.definition.secrets:
                    what = f"${name} is empty here, as secrets are resolved last"
                    remedy = "let the command itself combine them"
                    (on_warning or self.messages.warn)(Problem(path, what, remedy, key, line))
                return found

        value = expand(text, lookup, warn)
        self.expanded_size += len(value)
        if self.expanded_size > _LARGEST:  # a few lines of doubling would fill the memory
            what = f"the expanded values have more than {_LARGEST} characters"
            raise CannotStartError(Problem(path, what, key=key, line=line))
        return value

    def lookup(self, name: str) -> str | None:
        value = self.layers.get(name)
        return _from_system(name) if value is None else value


class RunReader(SourceReader):
    """The reader of a run, which resolves references to secrets."""

    resolves = True


class AttendedReader(RunReader):
    """The reader of a run that may ask its user."""

    may_ask = True


def value_hash(value: str) -> str:
    """Return a short hash of a variable's value: the interpreter's own, which needs no import."""
    return _imp.source_hash(_HASH_KEY, encode(value))[:_HASH_SIZE].hex()


def _may_be_there(path: str) -> bool:
    """Return whether there is something at `path`, or its folder cannot be read."""
    try:
        posix.lstat(path)
    except OSError as failure:
        return not isinstance(failure, FileNotFoundError | NotADirectoryError)
    return True


def _from_system(name: str) -> str | None:
    """Return HOME, USER, PWD or HOSTNAME where the environment lacks it (SPEC 2.5)."""
    try:
        if name == "PWD":
            return posix.getcwd()
        if name == "HOSTNAME":
            return posix.uname().nodename
        if name in ("HOME", "USER"):
            import pwd

            account = pwd.getpwuid(posix.getuid())
            return account.pw_dir if name == "HOME" else account.pw_name
    except (OSError, KeyError):
        pass
    return None


def layers_of(
    words: tuple[str, ...],
    definition: Definition,
    installation: "OpenInstallation",
    lock: "Lock",
    environ: "Mapping[str, str]",
    messages: Messages,
    given: "Mapping[str, str] | None" = None,
    *,
    reading: "type[SourceReader]" = SourceReader,
) -> Layers:
    """Return what all sources say for one command, in load order; raises SourceError.

    `environ` is the caller's; `given` are the variables of the declared arguments, by default
    those of a command line without words. Nothing overrides these and those that describe
    the run. A Python command with `"sources": false` has no sources.
    """
    system = {name: value for name, value in environ.items() if name not in (RUN, REPORT)}
    if definition.args:
        from host.run.argument_parser import parse, without

        system = without(definition.args, system)
        given = (
            parse(definition.args, None, environ=environ).variables() if given is None else given
        )

    project = {"PROJECT_DIR": definition.project.root} if definition.project else {}

    def describe(values: "Mapping[str, str]") -> str:
        return installation.run_entry(environ, {**values, **project})

    framework = installation.run_variables(words) | project
    layers = Layers(system, framework, given or {}, describe)
    reader = reading(words, definition, layers, messages, lock.schemes)
    for source in lock.sources if definition.sources else ():
        reader.read(source)
    return layers


def offer_secrets(reader: SourceReader) -> None:
    """Give the secrets that no other source gives: values, or references if it resolves none.

    Raises SourceError.
    """
    definition, layers = reader.definition, reader.layers
    found = {
        f"secrets.{name}": text
        for name, text in definition.secrets.items()
        if layers.get(name) is None
    }
    if found and reader.resolves:
        from host.run.secret_references import resolve

        found = resolve(found, reader, definition)
    for key, value in found.items():
        name = key.removeprefix("secrets.")
        layers.offer(Assignment(name, value, SECRETS, definition.file, key))


def check_required(definition: Definition, layers: Layers, pending: "Collection[str]" = ()) -> None:
    """Raise SourceError if a name in `required_envs` is unset, empty or not of its type.

    Names that are `pending` are not checked: their secrets are not resolved yet.
    """
    for name in definition.required_envs:
        if name in pending:
            continue
        if name.type or not layers.get(name):
            from host.run.required_variables import refuse

            refuse(definition, layers, pending)
            return

"""Resolve references to secrets: `op://prod/db/password`, `run:pass show deploy`.

Providers are called in parallel in a child process, and only in a run. A run loads this module only
if a definition has `secrets`, or an item with a colon in `env_files`.
"""

import posix

from host.errors import DefinitionError, HostError, Problem, SourceError
from host.run.caller import from_system
from host.run.files import is_there, join, read_regular
from host.run.importing import complete_import_path, enter_plugin, load_reference
from host.run.record import Record
from host.run.supervise import supervise, supervise_call
from host.run.text import decode
from host.run.watch import limit_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from concurrent.futures import Future
    from typing import Any

    from host.run.definition import Definition
    from host.run.layers import Offers

    # A provider ("run", "file" or a Python reference), the folders with the packages of its plugin,
    # and its references by key
    Call = tuple[str, tuple[str, ...], Mapping[str, Any]]
    # What a reference in `env_files` gives: the text of a `.env` file, or variables by name
    Content = str | Mapping[str, str]

ENV_FILES = "env_files"  # the key of references whose value may be a mapping
SECRETS_TIMEOUT = "CLI_SECRETS_TIMEOUT"
_PROVIDER_SECONDS = (30.0, 120.0)  # time limits of providers, without and with a terminal
_GRACE_SECONDS = 1.0  # extra time, in which the child reports providers that are late


def is_secret_reference(item: str, reader: "Offers", definition: "Definition") -> bool:
    """Return whether an item of `env_files` refers to a secret, even with an unknown scheme."""
    scheme = item.partition(":")[0]
    is_scheme = scheme.isascii() and scheme.isalnum() and scheme.islower()
    return reader.knows(scheme) or (is_scheme and not is_there(join(definition.directory, item)))


def resolve(
    references: "Mapping[str, str]", reader: "Offers", definition: "Definition"
) -> dict[str, str]:
    """Return the value of each reference by its key, such as `secrets.TOKEN`.

    If references fail, the last failure is raised as SourceError; its `others` has the other ones.
    An optional reference that fails causes a warning, and its value is missing in the result.
    """
    found = _resolve(references, reader, definition)
    return {key: value for key, value in found.items() if isinstance(value, str)}


def resolve_variables(reference: str, reader: "Offers", definition: "Definition") -> "Content":
    """Return what a reference in `env_files` gives. Raises SourceError."""
    return _resolve({ENV_FILES: reference}, reader, definition)[ENV_FILES]


def _resolve(
    references: "Mapping[str, str]", reader: "Offers", definition: "Definition"
) -> "dict[str, Content]":
    calls = _calls(references, reader, definition)
    if not calls:  # only optional references, of variables that are not set
        return {}
    terminal = reader.may_ask and _has_terminal()
    seconds = limit_from(reader.layers.caller, SECRETS_TIMEOUT, _PROVIDER_SECONDS[terminal])
    environ = reader.layers.environment()
    providers = _Providers(environ, definition.directory, seconds, terminal)
    limit = seconds + 2 * _GRACE_SECONDS
    try:
        found = supervise_call(lambda: providers.call_all(calls), limit, keeps_terminal=terminal)
    except (TimeoutError, ChildProcessError) as failure:
        found = dict.fromkeys(references, ("", str(failure)))
    problems = []
    for key, (value, failure_reason) in found.items():
        reference = references[key]
        is_empty = value == "" and key != ENV_FILES
        reason = failure_reason or ("its value is empty" if is_empty else "")
        if not reason:
            continue
        problem = Problem(definition.file, f"{reference}: {reason}", key=key)
        if is_optional(reference):
            reader.report(problem)
        else:
            problems.append(problem)
    if problems:
        error = SourceError(problems[-1])
        error.others = tuple(problems[:-1])
        raise error
    return {
        key: value
        for key, (value, reason) in found.items()
        if not reason and (value or key == ENV_FILES)
    }


def is_optional(reference: str) -> bool:
    """Return whether a run goes on without the value of a reference."""
    return bool(getattr(reference, "optional", False))


def _unset(text: str, reader: "Offers") -> list[str]:
    """Return the variables in a reference that are not set and have no default."""
    if "$" not in text:
        return []
    import re

    from host.run.expand import expand

    names: dict[str, None] = {}
    expand(text, names.setdefault)
    with_default = re.findall(r"\$\{([A-Za-z_][A-Za-z0-9_]*):?[-=+]", text)
    return [
        name
        for name in names
        if name not in with_default
        and reader.layers.get(name) is None
        and from_system(name) is None
    ]


def _expanded_words(
    text: str, reader: "Offers", definition: "Definition", key: str
) -> "list[str] | None":
    """Return what follows the scheme of a reference; the words of a program after `run:`.

    None stands for an optional reference with a variable that is not set. Raises SourceError.
    """
    scheme, _, rest = text.partition(":")
    words = [rest]
    if scheme == "run":
        import shlex

        try:
            words = shlex.split(rest)
        except ValueError as failure:
            what = f"{text}: {str(failure).lower()}"
            raise SourceError(Problem(definition.file, what, key=key)) from None
    unset = [name for word in words for name in _unset(word, reader)]
    if not unset:
        return [reader.expanded(word, definition.file, key) for word in words]
    problem = Problem(definition.file, f"{text}: ${unset[0]} is not set", key=key)
    if not is_optional(text):
        raise SourceError(problem)
    reader.report(problem)
    return None


def _calls(
    references: "Mapping[str, str]", reader: "Offers", definition: "Definition"
) -> "list[Call]":
    """Group the references into calls: one for each plugin scheme, each program and each file."""
    providers: dict[str, tuple[str, tuple[str, ...]]] = {}
    for declared in reversed(reader.schemes):
        provider = declared.provider
        if ENV_FILES in references and declared.file_provider:
            provider = declared.file_provider
        providers[declared.scheme] = (provider, tuple(declared.folders))
    calls: dict[tuple[Any, ...], dict[str, Any]] = {}
    for key, text in references.items():
        scheme = text.partition(":")[0]
        words = _expanded_words(text, reader, definition, key)
        if words is None:
            continue
        if scheme == "run":
            calls.setdefault(("run", (), *words), {})[key] = tuple(words)
        elif scheme == "file":
            path = join(definition.directory, words[0])
            if definition.project is not None:
                definition.project.check(path)
            calls.setdefault(("file", (), path), {})[key] = path
        elif scheme in providers:
            provider, folders = providers[scheme]
            call = (provider, folders, scheme)
            calls.setdefault(call, {})[key] = f"{scheme}:{words[0]}"
        else:
            known = ", ".join(sorted({"file", "run", *providers}))
            what = f"{text}: unknown scheme {scheme}; known schemes: {known}"
            remedy = "for more schemes, add a plugin such as pip:cli-host-secrets"
            raise SourceError(Problem(definition.file, what, remedy, key))
    return [(provider, folders, arguments) for (provider, folders, *_), arguments in calls.items()]


def _has_terminal() -> bool:
    """Return whether this process is in the foreground of a terminal."""
    try:
        with open("/dev/tty", "rb") as terminal:  # /dev/tty, because stderr may be a file
            return posix.tcgetpgrp(terminal.fileno()) == posix.getpgrp()
    except OSError:
        return False


class _Providers(Record):
    """Calls providers in child processes, side by side, with a time limit of `seconds`.

    The providers of one plugin share a process, because each plugin has packages of its own. Each
    provider has a thread.
    """

    environ: "Mapping[str, str]"
    directory: str  # base of relative paths in references
    seconds: float
    terminal: bool

    _caller: str | None = None  # current directory of `run:` programs; None if it is deleted

    @property
    def late(self) -> str:
        return f"did not answer within {self.seconds:g} s; to wait longer, set {SECRETS_TIMEOUT}"

    def call_all(self, calls: "Sequence[Call]") -> "dict[str, tuple[Content, str]]":
        """Make all `calls`; return (value, "") or ("", reason) by the key of each reference."""
        complete_import_path()
        plugins: dict[tuple[str, ...], list[Call]] = {}
        for call in calls:
            plugins.setdefault(call[1], []).append(call)
        *others, (folders, own_calls) = plugins.items()
        reports = [self.start(*other) for other in others]
        found = self.call_plugin(folders, own_calls)
        for report, (_, other_calls) in zip(reports, others, strict=True):
            found |= _answers(report, other_calls)
        return found

    def start(self, folders: "Sequence[str]", calls: "Sequence[Call]") -> int:
        """Call the providers of one plugin in a new child process.

        Returns the descriptor from which `_answers` reads the result. `call_plugin` limits the
        child's time, and the end of this process ends its group.
        """
        import marshal

        reading, writing = posix.pipe()
        if posix.fork():
            posix.close(writing)
            return reading
        try:
            report = marshal.dumps(self.call_plugin(folders, calls))
            while report:
                report = report[posix.write(writing, report) :]
        finally:
            posix._exit(0)  # noqa: SLF001 - a provider may have replaced os._exit

    def call_plugin(
        self, folders: "Sequence[str]", calls: "Sequence[Call]"
    ) -> "dict[str, tuple[Content, str]]":
        """Do the same as `call_all` in this process, which then belongs to one plugin."""
        from concurrent.futures import ThreadPoolExecutor, wait
        from contextlib import suppress

        enter_plugin(folders)
        with suppress(OSError):
            self._caller = posix.getcwd()
            posix.chdir(self.directory)
        if not self.terminal:  # nobody reads what a provider prints
            nothing = posix.open("/dev/null", posix.O_WRONLY)
            posix.dup2(nothing, 1)
            posix.dup2(nothing, 2)
        threads = ThreadPoolExecutor(len(calls))
        answers = [threads.submit(self.call, provider, asked) for provider, _, asked in calls]
        wait(answers, self.seconds + _GRACE_SECONDS)
        return {
            key: self.outcome(answer, reference, may_map=key == ENV_FILES)
            for (_, _, asked), answer in zip(calls, answers, strict=True)
            for key, reference in asked.items()
        }

    def call(self, provider: str, asked: "Mapping[str, Any]") -> "dict[Any, Any]":
        """Call `provider`; return the value of each reference, or an exception with the reason."""
        references = list(dict.fromkeys(asked.values()))
        if provider in ("run", "file"):
            read = self.output if provider == "run" else _content
            return {
                one: decode(read(one)).removesuffix("\n").removesuffix("\r") for one in references
            }
        return dict(load_reference(provider)(references, dict(self.environ)))

    def outcome(
        self, answer: "Future[dict[Any, Any]]", reference: "Any", *, may_map: bool = False
    ) -> "tuple[Content, str]":
        """Return a reference's value and "", or "" and the reason why it has none.

        With `may_map`, the value may also be a mapping of names to values.
        """
        from collections.abc import Mapping

        if not answer.done():
            return "", self.late
        value = answer.exception() or answer.result().get(reference)
        if isinstance(value, str) and "\0" not in value:
            return value, ""
        if isinstance(value, Mapping):
            return _plain_mapping(value) if may_map else ("", "it has several values; name one")
        if isinstance(value, HostError):
            return "", str(value)
        if isinstance(value, BaseException):
            return "", f"{type(value).__name__}: {value}"
        return "", "its value is not a string, or contains a NUL"

    def output(self, words: "Sequence[str]") -> bytes:
        """Run a program and return its stdout; an error contains the last line of its stderr.

        The program stays in this child's session, so that it ends with it.
        """
        if not words:
            raise HostError('expected a program after "run:"')
        try:
            ended = supervise(
                words,
                self.environ,
                self.seconds,
                given=None,
                stderr="show" if self.terminal else "return",
                directory=self._caller,
                own_session=False,
                keeps_background=True,
            )
        except OSError as failure:
            raise HostError(f"{words[0]} cannot start: {failure.strerror}") from None
        if ended.limit:
            raise HostError(self.late)
        if ended.status:
            lines = decode(ended.stderr).split("\n")
            last = next((f": {line}" for line in reversed(lines) if line.strip()), "")
            raise HostError(f"{words[0]} ended with status {ended.status}{last}")
        return ended.stdout


def _plain_mapping(values: "Mapping[Any, Any]") -> "tuple[Content, str]":
    """Return a provider's mapping as a dict and "", or "" and the reason why it is invalid."""
    for name, value in values.items():
        is_text = isinstance(name, str) and isinstance(value, str)
        if not is_text or "\0" in value:
            return "", f"the value of {name} is not a string, or contains a NUL"
    return dict(values), ""


def _answers(report: int, calls: "Sequence[Call]") -> "dict[str, tuple[Content, str]]":
    """Return the result that a child writes to the descriptor `report`."""
    import marshal

    with open(report, "rb") as pipe:
        content = pipe.read()
    try:
        found: dict[str, tuple[Content, str]] = marshal.loads(content)  # noqa: S302 - our child's
    except (ValueError, EOFError, TypeError):
        reason = "ended the process instead of answering"
        found = {key: ("", reason) for _, _, asked in calls for key in asked}
    return found


def _content(path: str) -> bytes:
    try:
        return read_regular(path, DefinitionError)
    except FileNotFoundError:
        raise HostError(f"{path} does not exist") from None

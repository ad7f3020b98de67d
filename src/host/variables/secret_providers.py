"""Call the providers of secrets in child processes, side by side and with a time limit."""

import posix

from host.errors import DefinitionError, HostError
from host.files.paths import read_regular
from host.processes.bounded_child import supervise
from host.processes.importing import complete_import_path, enter_plugin, load_reference
from host.record_base import Record
from host.text import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future
    from typing import Any, Literal

    # A provider ("run", "file" or a Python reference), the folders with the packages of its plugin,
    # and its references by key
    Call = tuple[str, tuple[str, ...], Mapping[str, Any]]
    # What a reference in `env_files` gives: the text of a `.env` file, or variables by name
    Content = str | Mapping[str, str]


ENV_FILES = "env_files"  # the key of references whose value may be a mapping
SECRETS_TIMEOUT = "CLI_SECRETS_TIMEOUT"
GRACE_SECONDS = 1.0  # extra time, in which the child reports providers that are late


class Providers(Record):
    """Calls providers in child processes, side by side, with a time limit of `seconds`.

    The providers of one plugin share a process, because each plugin has packages of its own. Each
    provider has a thread.
    """

    environ: "Mapping[str, str]"
    directory: str  # base of relative paths in references
    seconds: float
    terminal: bool

    # current directory of `run:` programs; None if it is deleted
    _caller: str | None = None

    @property
    def late(self) -> str:
        return f"did not answer within {self.seconds:g} s; to wait longer, set {SECRETS_TIMEOUT}"

    def call_all(self, calls: "Sequence[Call]") -> "dict[str, tuple[Content, str]]":
        """Make all `calls`; return (value, "") or ("", reason) by the key of each reference."""
        complete_import_path()
        plugins: dict[tuple[str, ...], list[Call]] = {}
        for call in calls:
            _, folders, _ = call
            plugins.setdefault(folders, []).append(call)

        # This process becomes that of the last plugin; the others get a child each.
        last_folders, last_calls = plugins.popitem()
        children = []
        for folders, other_calls in plugins.items():
            report = self.start(folders, other_calls)
            children.append((report, other_calls))

        answers = self.call_plugin(last_folders, last_calls)
        for report, other_calls in children:
            answers |= _answers(report, other_calls)
        return answers

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
                written = posix.write(writing, report)
                report = report[written:]
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
        answers = []
        for provider, _, references in calls:
            answers.append(threads.submit(self.call, provider, references))
        wait(answers, self.seconds + GRACE_SECONDS)

        outcomes = {}
        for (_, _, references), answer in zip(calls, answers, strict=True):
            for key, reference in references.items():
                may_map = key == ENV_FILES
                outcomes[key] = self.outcome(answer, reference, may_map=may_map)
        return outcomes

    def call(self, provider: str, asked: "Mapping[str, Any]") -> "dict[Any, Any]":
        """Call `provider`; return the value of each reference, or an exception with the reason."""
        references = [*dict.fromkeys(asked.values())]  # each once
        if provider not in ("run", "file"):
            resolve = load_reference(provider)
            return dict(resolve(references, dict(self.environ)))

        read: Callable[[Any], bytes] = _content
        if provider == "run":
            read = self.output
        values = {}
        for reference in references:
            text = decode(read(reference))
            values[reference] = text.removesuffix("\n").removesuffix("\r")
        return values

    def outcome(
        self,
        answer: "Future[dict[Any, Any]]",
        reference: "Any",
        *,
        may_map: bool = False,
    ) -> "tuple[Content, str]":
        """Return a reference's value and "", or "" and the reason why it has none.

        With `may_map`, the value may also be a mapping of names to values.
        """
        from collections.abc import Mapping

        if not answer.done():
            return "", self.late

        # A provider may fail as a whole, or give an exception for one reference.
        failure = answer.exception()
        if failure is not None:
            return "", _reason_of(failure)
        value: Any = answer.result().get(reference)
        if _is_text(value):
            return value, ""
        if isinstance(value, Mapping):
            if may_map:
                return _plain_mapping(value)
            return "", "it has several values; name one"
        return "", _reason_of(value)

    def output(self, words: "Sequence[str]") -> bytes:
        """Run a program and return its stdout; an error contains the last line of its stderr.

        The program stays in this child's session, so that it ends with it.
        """
        if not words:
            raise HostError('expected a program after "run:"')

        stderr: Literal["show", "return"] = "return"
        if self.terminal:
            stderr = "show"
        try:
            ended = supervise(
                words,
                self.environ,
                self.seconds,
                given=None,
                stderr=stderr,
                directory=self._caller,
                own_session=False,
                keeps_background=True,
            )
        except OSError as failure:
            raise HostError(f"{words[0]} cannot start: {failure.strerror}") from None

        if ended.limit:
            raise HostError(self.late)
        if ended.status:
            what = f"{words[0]} ended with status {ended.status}"
            # The last line usually has the reason; on a terminal, the user has seen all of them.
            reason = _last_line(decode(ended.stderr))
            if reason:
                what = f"{what}: {reason}"
            raise HostError(what)
        return ended.stdout


def _last_line(text: str) -> str:
    """Return the last line that is not blank, or ""."""
    for line in reversed(text.split("\n")):
        if line.strip():
            return line
    return ""


def _is_text(value: "Any") -> bool:
    return isinstance(value, str) and "\0" not in value


def _reason_of(value: "Any") -> str:
    """Return why an answer of a provider is no value."""
    if isinstance(value, HostError):
        return str(value)
    if isinstance(value, BaseException):
        return f"{type(value).__name__}: {value}"
    return "its value is not a string, or contains a NUL"


def _plain_mapping(values: "Mapping[Any, Any]") -> "tuple[Content, str]":
    """Return a provider's mapping as a dict and "", or "" and the reason why it is invalid."""
    for name, value in values.items():
        if not isinstance(name, str) or not _is_text(value):
            return "", f"the value of {name} is not a string, or contains a NUL"
    return dict(values), ""


def _answers(report: int, calls: "Sequence[Call]") -> "dict[str, tuple[Content, str]]":
    """Return the result that a child writes to the descriptor `report`."""
    import marshal

    with open(report, "rb") as pipe:
        content = pipe.read()
    try:
        answers: dict[str, tuple[Content, str]] = marshal.loads(content)  # noqa: S302 - our child's
    except (ValueError, EOFError, TypeError):
        answers = {}
        reason = "ended the process instead of answering"
        for _, _, references in calls:
            answers |= dict.fromkeys(references, ("", reason))
    return answers


def _content(path: str) -> bytes:
    try:
        return read_regular(path, DefinitionError)
    except FileNotFoundError:
        raise HostError(f"{path} does not exist") from None

"""Resolve references to secrets (CONTRACT 17): `op://prod/db/password`, `run:pass show deploy`.

Providers are called in parallel in a child process, and only in a run. A run loads this only if a
definition has `secrets`, or `env_files` with a colon.
"""

import posix

from host.errors import DefinitionError, HostError, Problem, SourceError
from host.run import is_there, join, read_regular
from host.run.child_process import fork_and_read, time_limit
from host.run.text import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from host.run.command import Definition
    from host.run.environment import SourceReader

    # "run", "file" or a Python reference, and its arguments by key
    Call = tuple[str, Mapping[str, Any]]

TIMEOUT_VARIABLE = "CLI_SECRETS_TIMEOUT"
_TIMEOUTS = (30.0, 120.0)  # seconds, without and with a terminal
_GRACE = 1.0  # seconds for the child to report the late providers
_LARGEST = 1 << 20  # bytes of a value
_LONGEST_REASON = 200  # characters


def is_reference(entry: str, reader: "SourceReader", definition: "Definition") -> bool:
    """Return whether an entry of `env_files` is a reference, even with an unknown scheme."""
    scheme = entry.partition(":")[0]
    is_scheme = scheme.isascii() and scheme.isalnum() and scheme.islower()
    return reader.knows(scheme) or (is_scheme and not is_there(join(definition.directory, entry)))


def resolve(
    references: "Mapping[str, str]", reader: "SourceReader", definition: "Definition"
) -> dict[str, str]:
    """Return the value of each reference by its key, such as `secrets.TOKEN`.

    Raises SourceError for the last failing reference; earlier ones are printed.
    """
    calls = _calls(references, reader, definition)
    terminal = reader.may_ask and _has_terminal()
    seconds = time_limit(reader.layers.system, TIMEOUT_VARIABLE, _TIMEOUTS[terminal])
    environ = reader.layers.environment()
    providers = _Providers(environ, definition.directory, seconds, terminal)
    found: dict[str, tuple[str, str]] = {}
    if calls:
        limit = seconds + 2 * _GRACE
        try:
            found = fork_and_read(lambda: providers.ask(calls), limit, keeps_terminal=terminal)
        except (TimeoutError, ChildProcessError) as failure:
            found = {key: ("", str(failure)) for _, arguments in calls for key in arguments}
    known = ", ".join(sorted({"file", "run", *(row[0] for row in reader.schemes)}))
    failures = []
    for key, text in references.items():
        _, reason = found.get(key, ("", providers.late))
        if all(key not in arguments for _, arguments in calls):
            scheme = text.partition(":")[0]
            more = "a plugin adds others, such as pip:cli-host-secrets"
            reason = f"unknown scheme {scheme}; known schemes: {known}; {more}"
        if reason:
            failures.append(Problem(definition.file, f"{text}: {reason}", key=key))
    for problem in failures[:-1]:
        reader.messages.error(problem.what)
    for problem in failures[-1:]:
        raise SourceError(problem)
    return {key: value for key, (value, _) in found.items()}


def _calls(
    references: "Mapping[str, str]", reader: "SourceReader", definition: "Definition"
) -> "list[Call]":
    """Return the calls: one for each scheme of a plugin, each program and each file."""
    providers = {row[0]: row[1] for row in reversed(reader.schemes)}
    asked: dict[tuple[str, ...], dict[str, Any]] = {}
    for key, text in references.items():
        scheme, _, rest = text.partition(":")
        if scheme == "run":
            import shlex

            try:
                words = shlex.split(rest)
            except ValueError as failure:
                what = f"{text}: {str(failure).lower()}"
                raise SourceError(Problem(definition.file, what, key=key)) from None
            expanded = [reader.expanded(one, definition.file, key) for one in words]
            asked.setdefault(("run", *expanded), {})[key] = expanded
            continue
        argument = reader.expanded(rest, definition.file, key)
        if scheme == "file":
            path = join(definition.directory, argument)
            if definition.project is not None:
                definition.project.check(path)
            asked.setdefault(("file", path), {})[key] = path
        elif scheme in providers:
            asked.setdefault((providers[scheme], scheme), {})[key] = f"{scheme}:{argument}"
    return [(provider, arguments) for (provider, *_), arguments in asked.items()]


def _has_terminal() -> bool:
    """Return whether this process is in the foreground of a terminal."""
    try:
        with open("/dev/tty", "rb") as terminal:  # not stderr, which may be a file
            return posix.tcgetpgrp(terminal.fileno()) == posix.getpgrp()
    except OSError:
        return False


class _Providers:
    """Calls the providers, in a child process: each in a thread, with a limit of `seconds`."""

    def __init__(
        self, environ: "Mapping[str, str]", directory: str, seconds: float, terminal: bool
    ) -> None:
        self.environ = environ
        self.directory = directory  # base of relative paths in references
        self.caller: str | None = None  # current directory of programs, if it exists
        self.seconds = seconds
        self.terminal = terminal
        self.late = f"did not answer within {seconds:g} s; {TIMEOUT_VARIABLE} sets more seconds"

    def ask(self, calls: "Sequence[Call]") -> dict[str, tuple[str, str]]:
        """Return (value, reason of a failure) by key, for all calls that end in time."""
        import threading
        import time
        from contextlib import suppress

        from host.run.importing import complete_import_path

        complete_import_path()
        with suppress(OSError):
            self.caller = posix.getcwd()
            posix.chdir(self.directory)
        if not self.terminal:  # nobody reads what a provider prints
            nothing = posix.open("/dev/null", posix.O_WRONLY)
            posix.dup2(nothing, 1)
            posix.dup2(nothing, 2)
        found: dict[str, tuple[str, str]] = {}

        def ask_one(provider: str, arguments: "Mapping[str, Any]") -> None:
            try:
                values = self.answer(provider, arguments)
            except HostError as failure:
                values = dict.fromkeys(arguments, failure)
            except (Exception, SystemExit) as failure:  # noqa: BLE001 - may be anything
                reason = f"{provider} raised {type(failure).__name__}: {failure}"
                values = dict.fromkeys(arguments, HostError(reason))
            for key in arguments:
                reason = _fault(provider, values.get(key))
                found[key] = ("", reason) if reason else (values[key], "")

        threads = [threading.Thread(target=ask_one, args=call, daemon=True) for call in calls]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + self.seconds + _GRACE
        for thread in threads:
            thread.join(max(deadline - time.monotonic(), 0))
        return dict(found)

    def answer(self, provider: str, arguments: "Mapping[str, Any]") -> "dict[str, Any]":
        """Return the results of a provider by key: a text, or an exception with the reason."""
        if provider in ("run", "file"):
            read = self.output if provider == "run" else _content
            value = decode(read(next(iter(arguments.values())))).removesuffix("\n")
            return dict.fromkeys(arguments, value.removesuffix("\r"))
        from host.run.importing import load_reference

        ask = load_reference(provider)
        answer = ask(list(dict.fromkeys(arguments.values())), dict(self.environ))
        if not isinstance(answer, dict):
            what = f"{provider} returned {type(answer).__name__}, not a dict of strings"
            raise HostError(what)
        return {key: answer.get(reference) for key, reference in arguments.items()}

    def output(self, words: "Sequence[str]") -> bytes:
        """Return the stdout of a program; a failure is reported with the last line of stderr.

        stderr goes to the terminal or a file: a daemonised child (ssh ControlPersist) would keep a
        pipe open.
        """
        import subprocess
        import tempfile

        if not words:
            raise HostError("names no program")
        env = {encode(name): encode(value) for name, value in self.environ.items()}
        with tempfile.TemporaryFile() as file:
            errors = None if self.terminal else file
            try:
                done = subprocess.run(
                    words,
                    check=False,
                    cwd=self.caller,
                    env=env,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    timeout=self.seconds,
                )
            except subprocess.TimeoutExpired:
                raise HostError(self.late) from None
            except OSError as failure:
                missing = isinstance(failure, FileNotFoundError) and "/" not in words[0]
                reason = "is not on PATH" if missing else f"cannot start: {failure.strerror}"
                raise HostError(f"{words[0]} {reason}") from None
            file.seek(0)
            lines = [line for line in decode(file.read()).splitlines() if line.strip()]
        if status := done.returncode:
            how = f"ended with status {status}" if status > 0 else f"was killed by signal {-status}"
            last = f": {lines[-1].strip()[:_LONGEST_REASON]}" if lines else ""
            raise HostError(f"{words[0]} {how}{last}")
        return done.stdout


def _fault(provider: str, value: "Any") -> str:
    """Return why a provider's result is no value, "" if it is one."""
    if isinstance(value, Exception):
        return str(value) or type(value).__name__
    if not isinstance(value, str):
        return f"{provider} returned no string for it"
    if "\0" in value:
        return "its value holds a NUL"
    return "its value is too large" if len(encode(value)) > _LARGEST else ""


def _content(path: str) -> bytes:
    try:
        return read_regular(path, _LARGEST, DefinitionError)
    except FileNotFoundError:
        raise HostError(f"there is no {path}") from None

"""References to secrets → values (CONTRACT 17): `op://prod/db/password`, `run:pass show deploy`.

Providers are asked in a child process, the schemes side by side, and only in a run. A run loads
this only if a definition has `secrets`, or `env_files` with a reference.
"""

import posix
import sys

from host.errors import DefinitionError, HostError, Problem, SourceError
from host.run import join
from host.run.child_process import fork_and_read, time_limit
from host.run.text import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from host.run.command import Definition
    from host.run.environment import SourceReader

TIMEOUT_VARIABLE = "CLI_SECRETS_TIMEOUT"
_TIMEOUTS = (30.0, 120.0)  # seconds without and with a terminal
_GRACE = 2.0  # seconds that the child has to report who did not answer
_LARGEST = 1 << 20  # bytes of a value
_LONGEST_REASON = 200  # characters


class Reference:
    """A reference: `text` as written, its `scheme`, and its expanded `argument`.

    The argument is a list of words for `run`, a path for `file`, and the reference for others.
    """

    __slots__ = ("argument", "scheme", "text")

    def __init__(
        self, text: str, reader: "SourceReader", definition: "Definition", key: str
    ) -> None:
        def expanded(part: str) -> str:
            return reader.expanded(part, definition.file, key)

        self.text = text
        self.scheme, _, rest = text.partition(":")
        self.argument: Any = f"{self.scheme}:{expanded(rest)}"
        if self.scheme == "file":
            self.argument = join(definition.directory, expanded(rest))
            if definition.project is not None:
                definition.project.check(self.argument)
        elif self.scheme == "run":
            import shlex

            try:
                self.argument = [expanded(word) for word in shlex.split(rest)]
            except ValueError as failure:
                what = f"{text}: {str(failure).lower()}"
                raise SourceError(Problem(definition.file, what, key=key)) from None


def resolve(
    texts: "Mapping[str, str]", reader: "SourceReader", definition: "Definition"
) -> dict[str, str]:
    """Return the value of each reference by its key, which is where the definition has it.

    Each scheme is asked once. Raises SourceError for the last failing reference; the others
    before it are reported.
    """
    references = {key: Reference(text, reader, definition, key) for key, text in texts.items()}
    environ = reader.layers.environment()
    providers = {row[0]: row[1] for row in reversed(reader.schemes)}
    failures: list[SourceError] = []
    calls: dict[str, dict[str, Any]] = {}
    for name, one in references.items():
        if one.scheme in ("run", "file") or one.scheme in providers:
            calls.setdefault(one.scheme, {})[name] = one.argument
        else:
            known = ", ".join(sorted({"run", "file", *providers}))
            remedy = f"known schemes: {known}; a plugin adds others, such as pip:cli-host-secrets"
            failures.append(_failure(definition, name, one, f"unknown scheme {one.scheme}", remedy))
    terminal = reader.may_ask and _has_terminal()
    timeout = time_limit(reader.layers.system, TIMEOUT_VARIABLE, _TIMEOUTS[terminal])
    found: dict[str, str] = {}
    for name, (value, reason) in _asked(
        calls, providers, environ, definition.directory, timeout, terminal
    ).items():
        found[name] = value
        if reason:
            failures.append(_failure(definition, name, references[name], reason))
    for failure in failures[:-1]:
        reader.messages.error(failure.what, failure.remedy)
    for failure in failures[-1:]:
        raise failure
    return found


def _failure(
    definition: "Definition", key: str, reference: Reference, reason: str, remedy: str = ""
) -> SourceError:
    return SourceError(Problem(definition.file, f"{reference.text}: {reason}", remedy, key))


def _has_terminal() -> bool:
    """Return whether this process is in the foreground of a terminal."""
    try:
        descriptor = posix.open("/dev/tty", posix.O_RDWR | posix.O_NOCTTY | posix.O_CLOEXEC)
    except OSError:
        return False
    try:
        return posix.tcgetpgrp(descriptor) == posix.getpgrp()
    except OSError:
        return False
    finally:
        posix.close(descriptor)


def _asked(
    calls: "Mapping[str, Mapping[str, Any]]",
    providers: "Mapping[str, str]",
    environ: "Mapping[str, str]",
    directory: str,
    timeout: float,
    terminal: bool,
) -> "dict[str, tuple[str, str]]":
    """Return the value of each reference by its name, with the reason if there is none."""
    if not calls:
        return {}
    import marshal

    late = f"did not answer within {timeout:g} s; {TIMEOUT_VARIABLE} sets more seconds"

    def question() -> bytes:
        answers = _gathered(calls, providers, environ, directory, timeout, terminal)
        return marshal.dumps(answers).hex().encode()

    report = fork_and_read(question, timeout + _GRACE, keeps_terminal=terminal)
    answers = marshal.loads(bytes.fromhex(report.decode())) if report else {}  # noqa: S302 - our child's
    return {
        name: (decode(value), decode(reason))
        for scheme, names in calls.items()
        for name in names
        for value, reason in [answers.get(scheme, {}).get(name, (b"", encode(late)))]
    }


def _gathered(
    calls: "Mapping[str, Mapping[str, Any]]",
    providers: "Mapping[str, str]",
    environ: "Mapping[str, str]",
    directory: str,
    timeout: float,
    terminal: bool,
) -> "dict[str, dict[str, tuple[bytes, bytes]]]":
    """Return what the providers answered in time, by scheme and name; each has its own process."""
    import marshal
    import select
    import time

    deadline = time.monotonic() + timeout
    pending: dict[int, tuple[str, int, bytearray]] = {}
    for scheme, arguments in calls.items():
        reading, writing = posix.pipe()
        pid = posix.fork()
        if not pid:
            try:
                provider = providers.get(scheme, "")
                answer = marshal.dumps(
                    _answers(scheme, arguments, provider, environ, directory, terminal)
                )
                with open(writing, "wb") as file:
                    file.write(len(answer).to_bytes(8, "big") + answer)
            finally:
                posix._exit(0)  # noqa: SLF001 - it is os._exit
        posix.close(writing)
        pending[reading] = (scheme, pid, bytearray())
    found: dict[str, dict[str, tuple[bytes, bytes]]] = {}
    poll = select.poll()
    for reading in pending:
        poll.register(reading, select.POLLIN)
    while pending and (left := deadline - time.monotonic()) > 0:
        for reading, _ in poll.poll(left * 1000):
            scheme, pid, data = pending[reading]
            piece = posix.read(reading, 1 << 16)
            data += piece
            if data[8:] and len(data) - 8 >= int.from_bytes(data[:8], "big"):
                found[scheme] = marshal.loads(bytes(data[8:]))  # noqa: S302 - our child's
            elif piece:
                continue
            else:
                reason = (b"", b"its provider ended its process")
                found[scheme] = dict.fromkeys(calls[scheme], reason)
            poll.unregister(reading)
            del pending[reading]
    if terminal:  # otherwise the whole session is ended
        for _, pid, _ in pending.values():
            _end_tree(pid)
    return found


def _end_tree(pid: int) -> None:
    """End a process and all that it started."""
    import signal
    import subprocess
    from contextlib import suppress

    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=False
    ).stdout
    rows = [line.split() for line in listed.splitlines()]
    ended = [pid]
    for one in ended:
        ended += [int(child) for child, parent in rows if int(parent) == one]
    for one in ended:
        with suppress(OSError):
            posix.kill(one, signal.SIGKILL)


def _answers(
    scheme: str,
    arguments: "Mapping[str, Any]",
    provider: str,
    environ: "Mapping[str, str]",
    directory: str,
    terminal: bool,
) -> dict[str, tuple[bytes, bytes]]:
    """Ask one scheme, in its own process; return value and reason by name."""
    if not terminal:  # nobody looks at what it prints; the last line of a failure is shown
        errors = _memory_file()
        for descriptor in (1, 2):
            posix.dup2(errors, descriptor)
    try:
        if scheme == "run":
            found = _run_all(arguments, environ, terminal)
        elif scheme == "file":
            found = {name: _read_file(path) for name, path in arguments.items()}
        else:
            if directory:
                posix.chdir(directory)
            found = _ask_provider(arguments, provider, environ)
    except HostError as failure:
        found = dict.fromkeys(arguments, ("", str(failure)))
    except (Exception, SystemExit, KeyboardInterrupt) as failure:  # noqa: BLE001 - whatever it is
        reason = f"{provider} raised {type(failure).__name__}: {failure}"
        found = dict.fromkeys(arguments, ("", reason))
    return {
        name: (encode(value), encode(reason or _fault(value)))
        for name, (value, reason) in found.items()
    }


def _fault(value: str) -> str:
    if "\0" in value:
        return "its value holds a NUL"
    return "its value is too large" if len(value) > _LARGEST else ""


def _memory_file() -> int:
    """Return a descriptor of a file for messages, which no disk has if the system can do that."""
    import os
    import tempfile

    if hasattr(os, "memfd_create"):
        return os.memfd_create("messages")
    return os.dup(tempfile.TemporaryFile().fileno())


def _run_all(
    commands: "Mapping[str, list[str]]", environ: "Mapping[str, str]", terminal: bool
) -> dict[str, tuple[str, str]]:
    """Run programs side by side; stdout less one line end is the value."""
    import subprocess

    env = {encode(name): encode(value) for name, value in environ.items()}
    found: dict[str, tuple[str, str]] = {}
    running = []
    for name, words in commands.items():
        if not words:
            found[name] = ("", "names no program")
            continue
        errors = None if terminal else _memory_file()
        try:
            process = subprocess.Popen(
                words, env=env, stdout=subprocess.PIPE, stderr=errors, close_fds=True
            )
        except OSError as failure:
            missing = isinstance(failure, FileNotFoundError) and "/" not in words[0]
            reason = "is not on PATH" if missing else f"cannot start: {failure.strerror}"
            found[name] = ("", f"{words[0]} {reason}")
            continue
        running.append((name, words[0], process, errors))
    for name, program, process, errors in running:
        value = decode(process.communicate()[0])
        reason = ""
        if process.returncode:
            ending = process.returncode
            how = f"ended with status {ending}" if ending > 0 else f"was killed by signal {-ending}"
            reason = f"{program} {how}{_last_line(errors)}"
        found[name] = ("" if reason else value.removesuffix("\n").removesuffix("\r"), reason)
    return found


def _last_line(errors: int | None) -> str:
    if errors is None:
        return ""
    posix.lseek(errors, 0, 0)
    lines = decode(posix.read(errors, 1 << 16)).split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f": {last[:_LONGEST_REASON]}" if last else ""


def _read_file(path: str) -> tuple[str, str]:
    from host.run import read_regular

    try:
        content = decode(read_regular(path, _LARGEST, DefinitionError))
    except FileNotFoundError:
        return "", f"there is no {path}"
    return content.removesuffix("\n").removesuffix("\r"), ""


def _ask_provider(
    arguments: "Mapping[str, str]", provider: str, environ: "Mapping[str, str]"
) -> dict[str, tuple[str, str]]:
    from host.run.importing import complete_import_path, load_reference

    complete_import_path()
    references: Sequence[str] = list(dict.fromkeys(arguments.values()))
    answer = load_reference(provider)(references, dict(environ))
    if not isinstance(answer, dict):
        raise SourceError(f"{provider} returned {type(answer).__name__}, not a dict of strings")
    found = {}
    for name, reference in arguments.items():
        value = answer.get(reference)
        if isinstance(value, str):
            found[name] = (value, "")
        elif isinstance(value, Exception):
            found[name] = ("", str(value) or type(value).__name__)
        else:
            found[name] = ("", f"{provider} returned no string for it")
    try:
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):
        pass
    return found

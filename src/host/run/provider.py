"""A plugin's source written in Python, asked in a process of its own."""

import os

from host.errors import HostError, PluginError, SourceError
from host.run.expand import is_name
from host.run.importing import load_reference
from host.run.report import END, TIMEOUT_VARIABLE, descendants, report_of, time_limit
from host.run.text import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, NoReturn

    from host.run.report import Pipes

_ANSWER, _REFUSED, _NOT_LOADED = b"answer", b"refused", b"not loaded"


def ask_provider(
    plugin: str,
    reference: str,
    words: tuple[str, ...],
    environ: "Mapping[str, str]",
    *,
    quiet: bool = False,
) -> dict[str, str]:
    """Return what the provider `reference` of `plugin` answers for the command `words`.

    It gets the words and a copy of the environment so far. Whatever else it does ends with
    its process: directory, umask, signals, output (which goes to stderr) and processes that
    it starts. Raises PluginError when it cannot be imported, SourceError when it fails,
    answers nonsense or takes longer than a settings.conf may.
    """
    owner = f"plugin {plugin}: {reference}"
    timeout = time_limit(environ)

    def start(pipes: "Pipes", mask: "Iterable[int]") -> int:
        return os.fork() or _child(pipes, mask, reference, words, dict(environ))

    report = report_of(start, timeout, _left_running, quiet=quiet)
    if report is None:
        raise SourceError(
            f"{owner}: did not answer within {timeout:g} s",
            f"set {TIMEOUT_VARIABLE} to more seconds if it needs them",
        )
    kind, _, *said = [*report.removesuffix(END).split(b"\0"), b""]
    said = said[:-1]
    if kind == _ANSWER and report.endswith(END):
        texts = [decode(one[1:]) for one in said]
        return dict(zip(texts[::2], texts[1::2], strict=True))
    if kind == _NOT_LOADED and said:
        raise PluginError(f"plugin {plugin}: {decode(said[0][1:])}")
    if kind == _REFUSED and said:
        raise SourceError(f"{owner}: {decode(said[0][1:])}")
    raise SourceError(f"{owner}: ended its process instead of answering")


def _child(
    pipes: "Pipes",
    mask: "Iterable[int]",
    reference: str,
    words: tuple[str, ...],
    environ: dict[str, str],
) -> "NoReturn":
    """Answer for the provider in the forked process, which ends here."""
    import sys

    own = os.getpid()
    try:
        import _signal

        os.setsid()
        report = pipes.enter()
        _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)
        kind, said = _answer(reference, words, environ)
        jobs = " ".join(map(str, descendants([own])[1:]))
        answer = b"\0".join([kind, b"=" + jobs.encode(), *said]) + END
        if sys.stdout is not None:
            sys.stdout.flush()
        while answer and os.getpid() == own:  # a fork in the provider comes back here, too
            answer = answer[os.write(report, answer) :]
    finally:
        os._exit(0)


def _left_running(report: bytes) -> list[int]:
    """Return the processes that the report says the provider leaves running."""
    return [int(one) for one in report.partition(b"\0=")[2].partition(b"\0")[0].split()]


def _answer(
    reference: str, words: tuple[str, ...], environ: dict[str, str]
) -> tuple[bytes, list[bytes]]:
    try:
        return _ANSWER, list(_checked(load_reference(reference)(words, environ)))
    except PluginError as failure:
        kind, told = _NOT_LOADED, str(failure)
    except HostError as failure:
        kind, told = _REFUSED, str(failure)
    except (Exception, SystemExit, KeyboardInterrupt) as failure:  # noqa: BLE001 - whatever it is
        kind, told = _REFUSED, f"raised {type(failure).__name__}: {failure}"
    return kind, [b"=" + told.replace("\0", " ").encode("utf-8", "backslashreplace")]


def _checked(values: "Any") -> "Iterable[bytes]":
    if not isinstance(values, dict):
        raise SourceError("expected a dict of strings")
    for name, value in values.items():
        if not (isinstance(name, str) and is_name(name) and isinstance(value, str)):
            raise SourceError("expected names of variables with strings as values")
        if "\0" in value:
            raise SourceError(f"{name} holds a NUL")
        try:
            yield from (b"=" + encode(name), b"=" + encode(value))  # so that no END comes early
        except UnicodeEncodeError:
            raise SourceError(f"{name} holds half a character, which is no text") from None

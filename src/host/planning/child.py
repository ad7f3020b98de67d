"""Asking third-party plugins, in a child process with a deadline.

What a plugin does at import or in a hook (exit, print, hang, crash, fork, change this
process) stays in the child; what it answers comes back as JSON and is checked.
"""

from __future__ import annotations

import json
import os
import select
import signal
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from typing import Any

from host.errors import PluginError
from host.planning.loading import Candidate, load, worded
from host.records import CommandDeclaration, CommandTree, EnvSource, Installation, Watch

DEADLINE = 3.0  # seconds for the import and the hooks of one plugin

_RECORDS: dict[str, Callable[..., Any]] = {
    record.__name__: record for record in (CommandDeclaration, CommandTree, EnvSource, Watch)
}
_PLANNING = ("discover_commands", "env_sources")
_LONGEST = 16 << 20  # bytes of one answer
_CHUNK = 1 << 16
_NO_ANSWER = "what it answers cannot be understood"


@dataclass(slots=True)
class Report:
    """What one plugin said: records by hook, the hooks that it implements, its source files.

    `reason` says why it is broken, "" when it is not.
    """

    candidate: Candidate
    records: dict[str, list[Any]] = field(default_factory=dict)
    hooks: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    reason: str = ""


def survey(
    candidates: Sequence[Candidate], installation: Installation, deadline: float = DEADLINE
) -> Iterator[Report]:
    """Yield a report for each candidate, in order; one that fails harms no other."""
    left = list(candidates)
    while left:  # a child for all that are left, as long as none of them ends it
        questions = [lambda one=one: _said(one, installation) for one in left]
        try:
            with closing(answers(questions, deadline)) as found:
                for said in found:
                    yield _report(left[0], said)
                    del left[0]
        except PluginError as failure:
            yield Report(left.pop(0), reason=str(failure))


def asked(
    candidate: Candidate, hook: str, calls: Sequence[Mapping[str, Any]], deadline: float = DEADLINE
) -> list[Any]:
    """Return what a plugin's listing hook answers to each of `calls`.

    That is a text or None for `render_listing`, True, False or None for
    `is_installed`. Raises PluginError with the reason when it does not answer so.
    """
    [found] = answers([lambda: _heard(candidate, hook, calls)], deadline)
    if isinstance(found, str):
        raise PluginError(found)
    if not isinstance(found, list) or len(found) != len(calls):
        raise PluginError(_NO_ANSWER)
    return found


def answers(questions: Sequence[Callable[[], Any]], deadline: float) -> Generator[Any, None, None]:
    """Yield what each question returns in a child process, as JSON has it.

    Raises PluginError for the first one that ends the process, takes longer than
    `deadline` seconds or answers with something else than JSON.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        _answer(questions, writer)
    os.close(writer)
    try:
        lines = _Lines(reader)
        for _ in questions:
            yield lines.next(deadline)
    finally:
        os.close(reader)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


class _Lines:
    """Lines of JSON from a pipe, waited for no longer than agreed."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = bytearray()

    def next(self, seconds: float) -> Any:
        """Return the next line's value; raises PluginError when there is none in time."""
        until = time.monotonic() + seconds
        end = self._rest.find(b"\n")
        while end < 0:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._descriptor], [], [], left)[0]:
                raise PluginError(
                    f"not imported and asked within {seconds:g} seconds; self lock tries again"
                )
            chunk = os.read(self._descriptor, _CHUNK)
            if not chunk:
                raise PluginError("it ended the process that imported it")
            end = chunk.find(b"\n")
            end = end if end < 0 else len(self._rest) + end
            self._rest += chunk
            if len(self._rest) > _LONGEST:
                raise PluginError(f"it answers with more than {_LONGEST >> 20} MiB")
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        try:
            return json.loads(line)
        except ValueError:
            raise PluginError(_NO_ANSWER) from None


def _answer(questions: Sequence[Callable[[], Any]], writer: int) -> None:
    """Be the child: answer each question, one line each; never returns."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        own = os.getpid()
        for question in questions:
            line = json.dumps(question()).encode() + b"\n"
            if os.getpid() != own:
                break  # a copy that the plugin forked: only one of us answers
            while line:
                line = line[os.write(writer, line) :]
        status = 0
    finally:
        os._exit(status)


def _said(candidate: Candidate, installation: Installation) -> dict[str, Any]:
    loaded = load([candidate])
    records: dict[str, list[Any]] = {}
    hooks: list[str] = []
    if candidate.name in loaded.names:
        hooks = loaded.hooks_of(candidate.name)
        for hook in _PLANNING:
            for _, found in loaded.call_each(hook, installation=installation):
                try:
                    records[hook] = [_plain(one) for one in found]
                except BaseException as failure:  # noqa: BLE001 - its objects may do anything
                    loaded.broken[candidate.name] = f"{hook}: {worded(failure)}"
    reason = loaded.broken.get(candidate.name, "")
    return {"records": records, "hooks": hooks, "files": sorted(loaded.files), "reason": reason}


def _plain(record: Any) -> list[Any]:
    kind = type(record).__name__
    if record.__class__ not in _RECORDS.values():
        raise TypeError(f"expected one of {', '.join(_RECORDS)}, not {record!r}")
    return [kind, json.loads(json.dumps(asdict(record)))]


def _report(candidate: Candidate, said: Any) -> Report:
    try:
        report = Report(candidate, hooks=said["hooks"], files=said["files"], reason=said["reason"])
        for hook, records in said["records"].items():
            report.records[hook] = [_RECORDS[kind](**fields) for kind, fields in records]
    except (LookupError, TypeError, ValueError, AttributeError):
        raise PluginError(_NO_ANSWER) from None
    return report


def _heard(candidate: Candidate, hook: str, calls: Sequence[Mapping[str, Any]]) -> Any:
    """Return the answers to `calls`, or the reason why there are none."""
    loaded = load([candidate])
    expected = str if hook == "render_listing" else bool
    found = [loaded.first(hook, **call) for call in calls]
    for one in found:
        if one is not None and type(one) is not expected:
            return f"{hook}: expected {expected.__name__} or None, not {type(one).__name__}"
    return loaded.broken.get(candidate.name) or found

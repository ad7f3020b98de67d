"""Asking third-party plugins what there is, in a child process with a deadline.

What a plugin does at import or in a hook (exit, print, hang, crash, change this
process) stays in the child; the records that it returns come back as JSON.
"""

from __future__ import annotations

import json
import os
import select
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from host.plugins import Candidate, Loaded, load, worded
from host.records import CommandDeclaration, CommandTree, EnvSource, Installation, Watch

DEADLINE = 3.0  # seconds for the import and the hooks of one plugin

_RECORDS: dict[str, Callable[..., Any]] = {
    record.__name__: record for record in (CommandDeclaration, CommandTree, EnvSource, Watch)
}
_HOOKS = ("discover_commands", "env_sources")


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
    while left:
        for report in _ask(tuple(left), installation, deadline):
            left.pop(0)
            yield report


def _ask(
    candidates: Sequence[Candidate], installation: Installation, deadline: float
) -> Iterator[Report]:
    """Yield the reports of one child; the last is on the plugin that ended it, if one did."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        _answer(candidates, installation, writer)
    os.close(writer)
    try:
        lines = _Lines(reader)
        for candidate in candidates:
            line = lines.next(time.monotonic() + deadline)
            if line is None:
                yield Report(candidate, reason=_took_too_long(deadline))
                return
            if not line:
                yield Report(candidate, reason="it ended the process that imported it")
                return
            yield _report(candidate, json.loads(line))
    finally:
        os.close(reader)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _took_too_long(deadline: float) -> str:
    return f"not imported and asked within {deadline:g} seconds; self lock tries again"


class _Lines:
    """Lines from a pipe, waited for no longer than agreed."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = b""

    def next(self, until: float) -> bytes | None:
        """Return the next line, b"" at the end, None when it does not come in time."""
        while b"\n" not in self._rest:
            if not select.select([self._descriptor], [], [], max(until - time.monotonic(), 0))[0]:
                return None
            chunk = os.read(self._descriptor, 1 << 16)
            if not chunk:
                return b""
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        return line


def _report(candidate: Candidate, said: Mapping[str, Any]) -> Report:
    report = Report(candidate, hooks=said["hooks"], files=said["files"], reason=said["reason"])
    for hook, records in said["records"].items():
        report.records[hook] = [_RECORDS[kind](**fields) for kind, fields in records]
    return report


def _answer(candidates: Sequence[Candidate], installation: Installation, writer: int) -> None:
    """Be the child: report on each candidate, one line each; never returns."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        for candidate in candidates:
            line = json.dumps(_said(candidate, installation)).encode() + b"\n"
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
        for hook in _HOOKS:
            for _, found in loaded.call_each(hook, installation=installation):
                records[hook] = _plain(loaded, candidate.name, hook, found)
    reason = loaded.broken.get(candidate.name, "")
    return {"records": records, "hooks": hooks, "files": sorted(loaded.files), "reason": reason}


def _plain(loaded: Loaded, name: str, hook: str, found: Sequence[Any]) -> list[Any]:
    plain: list[list[Any]] = []
    for record in found:
        try:
            kind = type(record).__name__
            if record.__class__ not in _RECORDS.values():
                raise TypeError(f"expected one of {', '.join(_RECORDS)}, not {record!r}")  # noqa: TRY301
            plain.append([kind, json.loads(json.dumps(asdict(record)))])
        except BaseException as failure:  # noqa: BLE001 - a plugin's objects may do anything
            loaded.broken[name] = f"{hook}: {worded(failure)}"
    return plain

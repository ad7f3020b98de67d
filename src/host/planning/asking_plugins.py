"""Asking third-party plugins, in a child process with a deadline.

What a plugin does at import or in a hook (exit, print, hang, crash, fork, change this
process) stays in the child, which has a session and streams of its own; what it answers
comes back as JSON and is checked. One child asks all, as that is quick; a plugin that
fails there may be the victim of another one, so it is asked once more, alone.
"""

from __future__ import annotations

import json
import os
import select
import signal
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from host.errors import PluginError
from host.planning.loading import load, reason_of
from host.records import CommandDeclaration, CommandTree, EnvSource, Installation, Watch
from host.run.interrupts import RaisedInterrupts
from host.run.lock import Plugin, stamp

DEADLINE = 3.0  # seconds for the import and the hooks of one plugin

_exit = os._exit  # a plugin may have put something else there by the time it is needed

_RECORDS: dict[str, Callable[..., Any]] = {
    record.__name__: record for record in (CommandDeclaration, CommandTree, EnvSource, Watch)
}
_PLANNING = ("discover_commands", "env_sources")
_LONGEST = 16 << 20  # bytes of one answer
_MOST_PRINTED = 1 << 16  # bytes of what plugins print
_CHUNK = 1 << 16
_NO_ANSWER = "what it answers cannot be understood"


@dataclass(slots=True)
class PluginAnswer:
    """What one plugin said: records by hook, the hooks that it implements, its source files.

    `stamps` are of the paths to watch, taken as it named them. `reason` says why it is
    broken, "" when it is not.
    """

    plugin: Plugin
    records: dict[str, list[Any]] = field(default_factory=dict)
    hooks: dict[str, int] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    stamps: dict[str, str] = field(default_factory=dict)
    reason: str = ""


def survey(
    plugins: Sequence[Plugin], installation: Installation, deadline: float = DEADLINE
) -> Iterator[PluginAnswer]:
    """Yield an answer for each plugin, in order; one that fails harms no other."""
    done = 0
    while done < len(plugins):  # a child for all that are left, until one of them ends it
        with closing(_together(plugins[done:], installation, deadline)) as said:
            for place, answer in enumerate(said):
                if place and answer.reason:  # maybe as the victim of another: once more, alone
                    yield from _together([answer.plugin], installation, deadline)
                else:
                    yield answer
                done += 1


def _together(
    plugins: Sequence[Plugin], installation: Installation, deadline: float
) -> Generator[PluginAnswer, None, None]:
    """Yield what plugins say in one child, up to the one that ends it."""
    questions = [lambda one=one: _said(one, installation) for one in plugins]
    with closing(answers(questions, installation.program, deadline)) as found:
        for plugin in plugins:
            try:
                answer = _understood(plugin, next(found))
            except PluginError as failure:
                yield PluginAnswer(plugin, reason=str(failure))
                return
            yield answer


def asked(
    plugin: Plugin,
    hook: str,
    calls: Sequence[Mapping[str, Any]],
    program: str,
    deadline: float = DEADLINE,
) -> list[Any]:
    """Return what a plugin's listing hook answers to each of `calls`.

    That is a text or None for `render_listing`, True, False or None for
    `is_installed`. Raises PluginError with the reason when it does not answer so.
    """
    [found] = answers([lambda: _heard(plugin, hook, calls)], program, deadline)
    if isinstance(found, str):
        raise PluginError(found)
    if not isinstance(found, list) or len(found) != len(calls):
        raise PluginError(_NO_ANSWER)
    return found


def answers(
    questions: Sequence[Callable[[], Any]], program: str, deadline: float
) -> Generator[Any, None, None]:
    """Yield what each question returns in a child process, as JSON has it.

    Raises PluginError for the first one that ends the process, takes longer than
    `deadline` seconds or answers with something else than JSON; `program` is in its remedy.
    """
    reader, writer = os.pipe()
    with RaisedInterrupts(), tempfile.TemporaryFile() as printed:
        child = os.fork()
        if not child:
            os.close(reader)
            _answer(questions, writer, printed.fileno())
        os.close(writer)
        try:
            lines = _Lines(reader, program)
            for _ in questions:
                yield lines.next(deadline)
        finally:
            os.close(reader)
            _end(child)
            printed.seek(0)
            with suppress(OSError):  # stderr is closed or full
                os.write(2, printed.read(_MOST_PRINTED))


def _end(child: int) -> None:
    """End the child and whatever it left in its session."""
    try:
        os.killpg(child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        os.kill(child, signal.SIGKILL)  # it did not come as far as a session
    os.waitpid(child, 0)


class _Lines:
    """Lines of JSON from a pipe, waited for no longer than agreed."""

    def __init__(self, descriptor: int, program: str) -> None:
        self._program = program
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
                    f"not imported and asked within {seconds:g} seconds",
                    f"{self._program} self lock asks it again",
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


def _answer(questions: Sequence[Callable[[], Any]], writer: int, printed: int) -> None:
    """Be the child: answer each question, one line each; never returns."""
    status = 1
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        own = os.getpid()
        for question in questions:
            line = json.dumps(question()).encode() + b"\n"
            if os.getpid() != own:
                break  # a copy that the plugin forked: only one of us answers
            while line:
                line = line[os.write(writer, line) :]
        status = 0
    finally:
        _exit(status)


def _said(plugin: Plugin, installation: Installation) -> dict[str, Any]:
    loaded = load([plugin])
    records: dict[str, list[Any]] = {hook: [] for hook in _PLANNING}
    stamps: dict[str, str] = {}

    def take(hook: str, _: str, record: Any) -> None:
        try:
            records[hook].append(_plain(record))
        except BaseException as failure:  # noqa: BLE001 - its objects may do anything
            raise TypeError(reason_of(failure)) from None
        if isinstance(record, Watch) and str(record.path).startswith("/"):
            stamps.setdefault(record.path, stamp(record.path))

    hooks: dict[str, int] = {}
    if plugin.name in loaded.packages:
        hooks = loaded.hooks_of(plugin.name)
        for hook in _PLANNING:
            loaded.call_each(hook, partial(take, hook), installation=installation)
    reason = loaded.broken.get(plugin.name, "")
    return {
        "records": records,
        "hooks": hooks,
        "files": sorted(loaded.files),
        "stamps": stamps,
        "reason": reason,
    }


def _plain(record: Any) -> list[Any]:
    kind = type(record).__name__
    if record.__class__ not in _RECORDS.values():
        raise TypeError(f"expected one of {', '.join(_RECORDS)}, not {record!r}")
    return [kind, json.loads(json.dumps(record.values()))]


def _understood(plugin: Plugin, said: Any) -> PluginAnswer:
    try:
        answer = PluginAnswer(plugin, **{**said, "records": {}})
        for hook, records in said["records"].items():
            answer.records[hook] = [_RECORDS[kind](**fields) for kind, fields in records]
    except (LookupError, TypeError, ValueError, AttributeError):
        raise PluginError(_NO_ANSWER) from None
    return answer


def _heard(plugin: Plugin, hook: str, calls: Sequence[Mapping[str, Any]]) -> Any:
    """Return the answers to `calls`, or the reason why there are none."""
    loaded = load([plugin])
    expected = str if hook == "render_listing" else bool
    found = [loaded.answer(plugin.name, hook, **call) for call in calls]
    for one in found:
        if one is not None and type(one) is not expected:
            return f"{hook}: expected {expected.__name__} or None, not {type(one).__name__}"
    return loaded.broken.get(plugin.name) or found

"""Asking third-party plugins, in a child process with a deadline.

What a plugin does at import or in a hook (exit, print, hang, crash, fork, change this
process) stays in the child, which has a session and streams of its own; what it answers
comes back as JSON and is checked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from host.errors import PluginError
from host.planning.loading import load, reason_of
from host.records import (
    CategoryDeclaration,
    CommandDeclaration,
    CommandTree,
    EnvSource,
    Installation,
    Watch,
)
from host.run.child_process import fork_and_read
from host.run.lock import Plugin, stamp

DEADLINE = 3.0  # seconds for the import and the hooks of one plugin

_RECORDS: dict[str, Callable[..., Any]] = {
    record.__name__: record
    for record in (CategoryDeclaration, CommandDeclaration, CommandTree, EnvSource, Watch)
}
_PLANNING = ("discover_commands", "env_sources")
_LONGEST = 16 << 20  # bytes of one answer
_NO_ANSWER = "what it answers cannot be understood"


@dataclass(slots=True)
class PluginAnswer:
    """What one plugin said: records with their hook, and the hooks that it implements.

    `stamps` are of its source files and of the paths to watch, taken as it named them. `reason`
    says why it is broken, "" when it is not.
    """

    plugin: Plugin
    records: Sequence[tuple[str, Any]] = ()
    hooks: dict[str, int] = field(default_factory=dict)
    stamps: dict[str, str] = field(default_factory=dict)
    reason: str = ""


def survey(
    plugins: Sequence[Plugin], installation: Installation, deadline: float = DEADLINE
) -> Iterator[PluginAnswer]:
    """Yield an answer for each plugin, in order; one that fails harms no other.

    One child asks all, as that is quick. Who fails there may be the victim of another one, and
    so may all be where the child fails: these are asked once more, each alone.
    """

    def ask(asked: Sequence[Plugin], seconds: float) -> list[PluginAnswer]:
        said = _ask(
            lambda: [_said(one, installation) for one in asked], installation.program, seconds
        )
        return _understood(asked, said)

    answers = {}
    if len(plugins) > 1:
        with suppress(PluginError):
            answers = {one.plugin.name: one for one in ask(plugins, deadline / 3)}
    for plugin in plugins:
        answer = answers.get(plugin.name)
        if answer is None or answer.reason:
            try:
                [answer] = ask([plugin], deadline)
            except PluginError as failure:
                answer = PluginAnswer(plugin, reason=str(failure))
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
    found = _ask(partial(_heard, plugin, hook, calls), program, deadline)
    if isinstance(found, str):
        raise PluginError(found)
    if not isinstance(found, list) or len(found) != len(calls):
        raise PluginError(_NO_ANSWER)
    return found


def _ask(question: Callable[[], Any], program: str, deadline: float) -> Any:
    """Return what a question returns in a child process, as JSON has it.

    Raises PluginError where that ends the process, takes longer than `deadline` seconds or is
    no answer; `program` is in its remedy.
    """
    said = fork_and_read(lambda: json.dumps(question()).encode(), deadline)
    if said is None:
        raise PluginError(
            f"not imported and asked within {deadline:g} seconds",
            f"{program} self lock asks it again",
        )
    if not said:
        raise PluginError("it ended the process that imported it")
    if len(said) > _LONGEST:
        raise PluginError(f"it answers with more than {_LONGEST >> 20} MiB")
    try:
        return json.loads(said)
    except ValueError:
        raise PluginError(_NO_ANSWER) from None


def _said(plugin: Plugin, installation: Installation) -> list[Any]:
    """Return what makes a `PluginAnswer` of the plugin, in order, as JSON can have it."""
    loaded = load([plugin])
    records: list[list[Any]] = []
    stamps = {path: stamp(path) for path in sorted(loaded.files)}

    def take(hook: str, _: str, record: Any) -> None:
        try:
            records.append([hook, *_plain(record)])
        except BaseException as failure:  # noqa: BLE001 - its objects may do anything
            raise TypeError(reason_of(failure)) from None
        if isinstance(record, Watch) and str(record.path).startswith("/"):
            stamps.setdefault(record.path, stamp(record.path))

    for hook in _PLANNING:
        loaded.call_each(hook, partial(take, hook), installation=installation)
    reason = loaded.broken.get(plugin.name, "")
    return [records, loaded.hooks_of(plugin.name), stamps, reason]


def _plain(record: Any) -> list[Any]:
    kind = type(record).__name__
    if record.__class__ not in _RECORDS.values():
        raise TypeError(f"expected one of {', '.join(_RECORDS)}, not {record!r}")
    return [kind, json.loads(json.dumps(record.values()))]


def _understood(plugins: Sequence[Plugin], said: Any) -> list[PluginAnswer]:
    answers = []
    try:
        for plugin, [records, *others] in zip(plugins, said, strict=True):
            made = [(hook, _RECORDS[kind](**fields)) for hook, kind, fields in records]
            answers.append(PluginAnswer(plugin, made, *others))
    except (LookupError, TypeError, ValueError, AttributeError):
        raise PluginError(_NO_ANSWER) from None
    return answers


def _heard(plugin: Plugin, hook: str, calls: Sequence[Mapping[str, Any]]) -> Any:
    """Return the answers to `calls`, or the reason why there are none."""
    loaded = load([plugin])
    expected = str if hook == "render_listing" else bool
    found = [loaded.answer(plugin.name, hook, **call) for call in calls]
    for one in found:
        if one is not None and type(one) is not expected:
            return f"{hook}: expected {expected.__name__} or None, not {type(one).__name__}"
    return loaded.broken.get(plugin.name) or found

"""Load third-party plugins and call their hooks in a child process, within a time limit.

Plugin code that exits, prints, hangs, crashes, forks or changes the process affects only the
child. The child returns the values of the records, and the parent process checks them.
"""

import importlib.util
import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from host.arguments.click_tree import json_of
from host.catalog.declared_commands import CLICK
from host.catalog.definition import is_reference
from host.click.click_commands import tree_of
from host.errors import PluginError
from host.lock import broken
from host.lock.checked_records import CHECKED
from host.lock.loading import LoadedPlugin, package_of, plugin_manager
from host.lock.lock import stamp
from host.lock.plugin import Plugin
from host.processes.bounded_child import supervise_call
from host.processes.importing import click_command, enter_plugin, load_reference
from host.records import CommandDeclaration, Installation, Watch

# time limit for importing a plugin and its commands, and for its hooks
_HOOK_SECONDS = 10.0

_RECORDS = {record.__name__: record for record in (*CHECKED, Watch)}
_COMMAND = CommandDeclaration.__name__
PLANNING_HOOKS = (
    "discover_commands",
    "env_sources",
    "secret_schemes",
    "before_run",
    "after_run",
)


class PluginAnswer(NamedTuple):
    """A plugin's records, each with the name of its hook, and the hooks that the plugin implements.

    `stamps` maps each source file of the plugin and each watched path to a stamp, a string that
    changes with the file. `reason` is why the plugin is broken, or "" if it is not.
    """

    records: Sequence[tuple[str, Any]]
    hooks: dict[str, int]
    stamps: dict[str, str]
    reason: str


def query(
    plugin: Plugin, installation: Installation, limit: float = _HOOK_SECONDS
) -> PluginAnswer:
    """Call a plugin's hooks in a child process, to build the lock; return the records."""
    function = partial(_serialize, plugin, installation)
    try:
        answer = _in_child(function, installation.program, limit)
    except PluginError as failure:
        return PluginAnswer((), {}, {}, str(failure))

    rows, hooks, stamps, reason = answer
    records = []
    for hook, kind, values in rows:
        record = _RECORDS[kind](**values)
        records.append((hook, record))
    return PluginAnswer(records, hooks, stamps, reason)


def call_hook(
    plugin: Plugin, hook: str, calls: Sequence[Mapping[str, Any]], program: str
) -> list[Any]:
    """Call a plugin's listing hook once for each of `calls`; return the results.

    A call has the hook's arguments by name. The results are strings or None for
    `render_listing`, and True, False or None for `is_installed`. Raises PluginError if the hook
    fails or returns anything else.
    """
    function = partial(_call, plugin, hook, calls)
    results: list[Any] = _in_child(function, program)
    return results


def _in_child(
    function: Callable[[], Any], program: str, limit: float = _HOOK_SECONDS
) -> Any:
    """Call `function` in a child process and return its result.

    Raises PluginError if `function` ends the process or takes longer than `limit` seconds.
    `program` is the program's name, for the command in the error's remedy.
    """
    try:
        return supervise_call(function, limit)
    except TimeoutError:
        raise PluginError(
            broken.too_slow(limit), f"to try again: {program} self lock"
        ) from None
    except ChildProcessError as failure:
        raise PluginError(str(failure)) from None


def _serialize(plugin: Plugin, installation: Installation) -> list[Any]:
    """Load a plugin and return the values of its `PluginAnswer`, in order, as JSON values."""
    enter_plugin(plugin.folders)
    loaded = LoadedPlugin(plugin, plugin_manager())
    records: list[list[Any]] = []
    stamps = {path: stamp(path) for path in loaded.files}

    def take(hook: str, record: Any) -> None:
        kind = type(record).__name__
        values = _json_values(record)
        records.append([hook, kind, values])

        # Taken now, because the file may change while other hooks run.
        if isinstance(record, Watch) and type(record.path) is str:
            stamps.setdefault(record.path, stamp(record.path))

    for hook in PLANNING_HOOKS:
        loaded.collect(hook, partial(take, hook), installation=installation)
    records = _with_click_trees(plugin, records, installation.program)

    # Hooks and commands import further modules of the plugin.
    for path in loaded.files:
        if path not in stamps:
            stamps[path] = stamp(path)
    return [records, plugin.hooks, stamps, plugin.broken]


def _json_values(record: Any) -> Any:
    """Return the values of a record as JSON has them. Raises TypeError if it is no record."""
    if record.__class__ not in _RECORDS.values():
        kinds = ", ".join(_RECORDS)
        raise TypeError(f"expected one of {kinds}, not {record!r}")
    text = json.dumps(record.values())
    return json.loads(text)


def _with_click_trees(
    plugin: Plugin, records: list[list[Any]], program: str
) -> list[list[Any]]:
    """Return the records, with the key CLICK in the definitions of click commands.

    A reference that cannot be imported marks the plugin as broken, like a hook that fails. A
    command whose entrypoint is in the hooks file could never run, so it is left out.
    """
    complete: list[list[Any]] = []
    for hook, kind, values in records:
        if kind == _COMMAND and _has_reference(values["definition"]):
            words = " ".join(values["words"])
            reference = values["definition"]["entrypoint"]
            if _is_in_hooks_file(plugin, reference):
                _mark(
                    plugin, broken.entrypoint_in_hooks_file(words, reference, program)
                )
                continue
            _add_click_tree(plugin, words, values["definition"], program)
        complete.append([hook, kind, values])
    return complete


def _add_click_tree(
    plugin: Plugin, words: str, definition: dict[str, Any], program: str
) -> None:
    """Add the key CLICK if the entrypoint is a click command, and nothing declares `args`."""
    definition.pop(CLICK, None)
    if definition.get("args") is not None:
        return
    try:
        command = click_command(load_reference(definition["entrypoint"]))
        if command is None:
            return
        tree, faults = tree_of(command, f"{program} {words}")
    except Exception as failure:  # noqa: BLE001 - a command may do anything when it is read
        _mark(plugin, broken.click_command_fails(words, failure))
        return

    definition[CLICK] = json_of(tree)
    for fault in faults:
        part = " ".join([words, *fault.words])
        _mark(plugin, broken.subcommand_fails(part, fault))


def _mark(plugin: Plugin, reason: str) -> None:
    """Mark a plugin as broken; the first reason stays."""
    if not plugin.broken:
        plugin.broken = reason


def _has_reference(definition: Any) -> bool:
    """Return whether what a plugin gives as a definition names an object in Python."""
    if not isinstance(definition, dict):
        return False
    entrypoint = definition.get("entrypoint")
    return isinstance(entrypoint, str) and is_reference(entrypoint)


def _is_in_hooks_file(plugin: Plugin, reference: str) -> bool:
    """Return whether a reference names an object in the plugin's hooks file.

    Only this process imports that file, under a name of its own (`__name__` in the file).
    """
    if not plugin.file:
        return False

    module, _, _ = reference.partition(":")
    if module == package_of(plugin):
        return True
    name_of_file = os.path.basename(plugin.file).removesuffix(".py")
    if module != name_of_file:
        return False
    # A package may have the same name as the file, and can be imported.
    return importlib.util.find_spec(module) is None


def _call(plugin: Plugin, hook: str, calls: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Call the hook once for each of `calls`; return the results. Raises PluginError."""
    enter_plugin(plugin.folders)
    loaded = LoadedPlugin(plugin, plugin_manager())
    results = [loaded.call(hook, **arguments) for arguments in calls]
    for result in results:
        _check_result(hook, result)

    # A hook that failed has marked the plugin, and its result is None.
    if plugin.broken:
        raise PluginError(plugin.broken)
    return results


def _check_result(hook: str, result: object) -> None:
    """Raise PluginError if a hook must not return `result`, which the parent gets as JSON."""
    expected = str if hook == "render_listing" else bool
    if result is not None and type(result) is not expected:
        raise PluginError(broken.wrong_result(hook, expected, result))

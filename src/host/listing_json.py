"""Commands and categories as JSON text, as `--format json` shows them.

The index of definitions keeps the text of what one file says (`own_json`), so a large listing is
mostly joined from ready texts. The other fields depend on the tree that has the command, on the
categories above it, or on the disk.
"""

from __future__ import annotations

from _json import encode_basestring_ascii as _text

from host.files.json_line import json_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from host.arguments.spec import Argument
    from host.catalog.definition import Definition
    from host.listing import Category, Command
    from host.variables.required import RequiredVariable

_CONSTANTS = {True: "true", False: "false", None: "null"}
# The text of `_inherited_json` for most commands.
_NOTHING_INHERITED = (
    '"group": null, "required_envs": [], "requires": [], "path_folders": [], '
    '"record": null, "timeout": null, "exclusive": null'
)


def category_json(category: Category) -> str:
    """Return a category as the text of a JSON object."""
    fields = {
        "path": category.words,
        "name": category.name,
        "description": category.description,
    }
    return json_line(fields)


def command_json(command: Command, realpath: Callable[[str], str]) -> str:
    """Return a command as the text of a JSON object.

    `realpath` is for its folders on PATH; all commands of a plugin have the same ones, so that a
    caller can remember the results of `os.path.realpath`.
    """
    definition = command.definition

    # A definition from the index has the text of its own fields.
    own_fields = getattr(definition, "own_json", "") or own_json(definition)
    path = ", ".join(map(_text, command.words))
    plugin = "null"
    if command.plugin:
        plugin = _text(command.plugin)

    # Written by hand, because an encoder would need more time than everything else here.
    place = (
        f'"path": [{path}], "name": {_text(definition.name)}, '
        f'"entrypoint": {_text(definition.entrypoint)}, "origin": "{command.origin}", '
        f'"plugin": {plugin}, "dev": {_CONSTANTS[command.dev]}, '
        f'"installed": {_CONSTANTS[command.installed]}'
    )
    inherited = _inherited_json(definition, realpath)
    description = _text(definition.description)
    subcommands = "[]"
    if definition.click is not None:
        rows = [subcommand.values() for subcommand in definition.click.subcommands]
        subcommands = json_line(rows)
    return (
        f'{{{place}, {inherited}, "description": {description}, {own_fields}, '
        f'"subcommands": {subcommands}}}'
    )


def own_json(definition: Definition) -> str:
    """Return the fields that only the definition's own file decides, without the braces.

    A node may add the name and the entrypoint, so these are not among them. Nor is the
    description: without it, most definitions have the same text.
    """
    fields = {
        "sudo": definition.sudo,
        "os": definition.os,
        "compatible": definition.compatible,
        "aliases": definition.aliases,
        "hidden": definition.hidden,
        "args": tuple(map(_argument, definition.args)),
        "examples": tuple(map(_nulled, definition.examples)),
        "effects": definition.effects,
        "starts_commands": definition.starts_commands,
        "deprecated": definition.deprecated or None,
        "moved_to": definition.moved_to or None,
        "shell": definition.shell,
        "output": definition.output or None,
        "schema": definition.schema or None,
    }
    return _fields_text(fields)


def _inherited_json(definition: Definition, realpath: Callable[[str], str]) -> str:
    """Return the fields that the categories above a command, or its plugin, may decide, too."""
    has_fields = (
        definition.above
        or definition.group
        or definition.own_required_envs
        or definition.own_requires
        or definition.own_supervisions
        or definition.path
        or definition.plugin_path
    )
    if not has_fields:
        return _NOTHING_INHERITED

    requires = []
    for requirement in definition.requires:
        requires.append(_nulled(requirement.values()))
    fields = {
        "group": definition.group or None,
        "required_envs": list(map(_required, definition.required_envs)),
        "requires": requires,
        "path_folders": list(map(realpath, definition.path_folders)),
        **definition.supervision.values(),
    }
    return _fields_text(fields)


def _fields_text(fields: Mapping[str, Any]) -> str:
    """Return the fields of a JSON object without its braces."""
    return json_line(fields)[1:-1]


def _argument(argument: Argument) -> dict[str, Any]:
    """Return a declared argument with all its keys; absent ones are null."""
    values = _nulled(argument.values())
    values["default"] = argument.default  # an empty default is a value, too
    program = values.pop("choices_from")
    if program:
        values["choices"] = {"program": program}
    return values


def _required(name: RequiredVariable) -> dict[str, Any]:
    facts = _nulled({"name": name, "hint": name.hint, "type": name.type})
    facts["secret"] = name.secret
    return facts


def _nulled(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with None in place of each empty one."""
    nulled = dict(values)
    for key, value in values.items():
        if value in ("", ()):
            nulled[key] = None
    return nulled

"""Makes the table of what may follow `self …` from the click commands themselves.

`python -m testing.completion_table` (in tests/) writes it anew.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import click

import builtin_plugins.self_commands as home
from builtin_plugins.self_commands import hooks
from host.cli.plain_command import PlainCommand

FILE = Path(home.__file__).with_name("completion_table.json")
_PLUGINS = {"name", "names"}
_COMMANDS = {"words"}
_FOLDERS = {"directory", "folder", "target"}


def made() -> str:
    """Return what the file has to be."""
    table: dict[str, str] = {}
    for one in hooks.discover_commands():
        module, _, attribute = one.definition["entrypoint"].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        if isinstance(command, PlainCommand):
            command = command.for_click()
        _add(table, one.words[1:], command, one.definition["description"])
    rows = [f"{json.dumps(words)}: {row}" for words, row in table.items()]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _add(table: dict[str, str], words: tuple[str, ...], command: click.Command, about: str) -> None:
    arguments = [one for one in command.params if isinstance(one, click.Argument)]
    options = [one for one in command.params if isinstance(one, click.Option)]
    row = {
        "help": about,
        "options": {
            name: {"help": one.help or "", "values": None if one.is_flag else _kind(one)}
            for one in options
            for name in [*one.opts, *one.secondary_opts]
        },
        "words": _kind(arguments[0], words) if arguments else "none",
    }
    table[" ".join(words)] = json.dumps(row)
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            inner = command.get_command(context, word)
            if inner is not None and not inner.hidden:
                _add(table, (*words, word), inner, inner.get_short_help_str(90))


def _kind(parameter: click.Parameter, words: tuple[str, ...] = ()) -> Any:
    if isinstance(parameter.type, click.Choice):
        return tuple(parameter.type.choices)
    if parameter.name == "format":
        return ("text", "json", "tree")
    if parameter.name in _PLUGINS and words[:1] == ("plugin",) and words != ("plugin", "add"):
        return "plugins"
    if parameter.name in _COMMANDS and words[:1] != ("new",):
        return "commands"
    if parameter.name in _FOLDERS:
        return "directories"
    is_path = isinstance(parameter.type, click.Path) or parameter.name in {"source", "file"}
    return "files" if is_path else "none"


if __name__ == "__main__":
    FILE.write_text(made())

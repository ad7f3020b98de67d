"""Makes the table of what may follow `self …` from the click commands themselves.

`python -m testing.completion_table` (in tests/) writes it anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

import builtin_plugins.self_commands as home
from builtin_plugins.self_commands import hooks
from host.cli.plain_command import Group, PlainCommand
from host.run.importing import load_reference

FILE = Path(home.__file__).with_name("completion_table.json")
_PLUGINS = {"name", "names"}
_COMMANDS = {"words"}
_FOLDERS = {"directory", "folder", "target"}


def made() -> str:
    """Return what the file has to be."""
    table: dict[str, str] = {}
    for one in hooks.discover_commands():
        command = load_reference(one.definition["entrypoint"])
        _add(table, one.words[1:], command, one.definition["description"])
    rows = [f"{json.dumps(words)}: {row}" for words, row in table.items()]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _add(table: dict[str, str], words: tuple[str, ...], command: Any, about: str) -> None:
    if isinstance(command, Group):
        table[" ".join(words)] = json.dumps({"help": about, "options": {}, "words": "none"})
        for word, (reference, _) in command.words.items():
            _add(table, (*words, word), load_reference(reference), "")
        return
    if isinstance(command, PlainCommand):
        command = command.for_click()
    arguments = [one for one in command.params if isinstance(one, click.Argument)]
    options = [one for one in command.params if isinstance(one, click.Option)]
    row = {
        "help": about or command.get_short_help_str(90),
        "options": {
            name: {"help": one.help or "", "values": None if one.is_flag else _kind(one)}
            for one in options
            for name in [*one.opts, *one.secondary_opts]
        },
        "words": _kind(arguments[0], words) if arguments else "none",
    }
    table[" ".join(words)] = json.dumps(row)


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

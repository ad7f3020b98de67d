"""Which tool this run is about: its word, and what its command.json says of it."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from host.definition import Definition, read_command, read_config
from host.errors import HostError, OperationError


@dataclass(frozen=True)
class Tool:
    """A tool: `word` as on the command line, its display name, description and systems."""

    word: str
    name: str
    description: str = ""
    systems: tuple[str, ...] = ()
    envs: Mapping[str, str] = field(default_factory=dict)


def find_tool(environ: Mapping[str, str]) -> Tool:
    """Return the tool that COMMAND_NAME names; raises OperationError when nothing does."""
    word = environ.get("COMMAND_NAME", "")
    if not word:
        raise OperationError("COMMAND_NAME is not set; start it as a command")
    definition = _find_definition(word, environ)
    if definition is None:
        return Tool(word, word.title())
    return Tool(word, definition.name, definition.description, definition.os, definition.envs)


def _find_definition(word: str, environ: Mapping[str, str]) -> Definition | None:
    for directory in _directories(environ):
        path = os.path.join(directory, environ.get("COMMAND_CATEGORY", "setup"), word)
        try:
            return read_command(os.path.join(path, "command.json"))
        except (FileNotFoundError, HostError):
            continue
    return None


def _directories(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield where the categories of this installation may be: commands, then plugins."""
    root = environ.get("CLI_DIR", "")
    if not root:
        return
    try:
        config = environ.get("GLOBAL_CONFIG_FILE") or os.path.join(root, "core", "cli.json")
        commands = read_config(config).commands_dir
    except HostError:
        commands = "commands"
    yield os.path.join(root, commands)
    plugins = environ.get("PLUGINS_DIR") or os.path.join(root, "plugins")
    if os.path.isdir(plugins):
        for name in sorted(os.listdir(plugins)):
            yield os.path.join(plugins, name)

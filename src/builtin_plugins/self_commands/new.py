"""`self new`: something that works at once, to be changed into one's own."""

from __future__ import annotations

import os
from pathlib import Path

import click

from builtin_plugins.plugin_directories.registry import is_plugin_name
from builtin_plugins.self_commands.staged import write_directory
from builtin_plugins.self_commands.templates import directory_files, package_files
from host import OperationError, UsageError
from host.cli.lazy_group import LazyGroup
from host.cli.session import Session

_HERE = "builtin_plugins.self_commands."

command = LazyGroup(
    "new",
    "Make something new that works at once.",
    {
        "command": (f"{_HERE}new_command:new_command", "Make a command, with a script that runs"),
        "category": (f"{_HERE}new_command:new_category", "Make a category, for commands to come"),
        "plugin": (f"{_HERE}new:new_plugin", "Make a plugin in a new directory, here"),
    },
    {"task": "command", "script": "command", "group": "category", "package": "plugin"},
)


@click.command
@click.argument("name")
@click.option("--python", is_flag=True, help="A pip package with hooks in Python and tests.")
@click.pass_obj
def new_plugin(session: Session, name: str, python: bool) -> None:
    """Make the plugin NAME in a new directory of that name, here.

    It has one command that works; add the plugin to try it.
    """
    if not is_plugin_name(name) or not name.replace("-", "_").isidentifier():
        raise UsageError(f"{name} cannot name a plugin", "use a-z, 0-9 and -")
    files = package_files(name) if python else directory_files(name)
    target = Path(os.path.abspath(name))
    if os.path.lexists(target):
        raise OperationError(f"{target}: is there already", "choose another name")
    try:
        write_directory(target, files)
    except OSError as failure:
        raise OperationError(f"{failure.filename or target}: {failure.strerror}") from None
    made = [f"  {name}/{path}" for path in sorted(files)]
    session.show_lines("made", *made, *_next(session.program, name, python=python))


def _next(program: str, name: str, *, python: bool) -> list[str]:
    if python:
        return [
            f"build it:  python3 -m pip wheel --no-deps --wheel-dir dist ./{name}",
            f"add it:    {program} self plugin add dist/{name.replace('-', '_')}-0.1.0-*.whl",
            f"try it:    {program} {name} hello",
        ]
    return [f"add it:  {program} self plugin add ./{name}", f"try it:  {program} {name} hello"]

"""The default hook that checks whether the tool of a `setup` command is installed."""

from __future__ import annotations

import os

from host import expand, find_program, hookimpl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from host import Command


@hookimpl
def is_installed(command: Command) -> bool | None:
    """Return whether the path or program in the command's `installed_when` exists.

    The default is the program on PATH that has the name of the command.
    """
    condition = command.definition.installed_when
    if "path" in condition:
        path = expand(condition["path"], os.environ.get)
        return os.path.exists(path)

    program = condition.get("command", command.words[-1])
    return find_program(program, os.environ) is not None

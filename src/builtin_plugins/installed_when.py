"""The default for "is it installed?" of a `setup` command, if no other plugin answers."""

from __future__ import annotations

import os

from host import expand, find_program, hookimpl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from host import Command


@hookimpl
def is_installed(command: Command) -> bool | None:
    """Evaluate `installed_when`, else look for a program of the command's name on PATH."""
    condition = command.definition.installed_when
    if "path" in condition:
        return os.path.exists(expand(condition["path"], os.environ.get))
    return find_program(condition.get("command", command.words[-1]), os.environ) is not None

"""The hook of `setup`, which reports whether the tool of a `setup` command is installed."""

import os
import sys

from host import expand, hookimpl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from builtin_plugins.setup.tool_settings import ToolSettings

ENTRYPOINT = "builtin_plugins.setup:main"


@hookimpl
def is_installed(command: "Any") -> bool | None:
    """Return whether the tool's files are installed, or None if this is not a `setup` command."""
    if command.definition.entrypoint != ENTRYPOINT:
        return None

    settings = tool_settings_of(command, os.environ)
    if sys.platform == "darwin":
        from builtin_plugins.setup import macos

        return macos.is_installed(settings)

    from builtin_plugins.setup import linux

    return linux.is_installed(settings.paths)


def tool_settings_of(command: "Any", environ: "Mapping[str, str]") -> "ToolSettings":
    """Return the settings from the command's `envs` and the caller's variables.

    A listing does not read settings.conf or `.env` files, so it ignores an install directory that
    is set only there.
    """
    from builtin_plugins.setup.tool_settings import ToolSettings

    definition = command.definition

    # The caller's variables win over `envs`, as in a run.
    variables = dict(environ)
    for name, text in definition.envs.items():
        if name not in environ:
            variables[name] = expand(text, variables.get)

    return ToolSettings.read(command.words[-1], definition.name, variables)

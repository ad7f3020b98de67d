"""The hook of `setup`: whether the tool of a command is installed."""

import os
import sys

from host import expand, hookimpl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

ENTRYPOINT = "builtin_plugins.setup:main"
_LARGEST = 256 << 10  # characters of all expanded values; more are cut off


@hookimpl
def is_installed(command: "Any") -> bool | None:
    """Answer for the commands of this installer, by looking at files only."""
    if command.definition.entrypoint != ENTRYPOINT:
        return None
    return look(command.words[-1], command.definition.envs, os.environ, sys.platform)


def look(tool: str, envs: "Mapping[str, str]", environ: "Mapping[str, str]", platform: str) -> bool:
    """Return whether `tool` is installed, by `envs` and the caller's variables alone.

    A listing sources no settings.conf and reads no `.env` file, so it does not see an install
    directory that only those name.
    """
    from builtin_plugins.setup.linux import state
    from builtin_plugins.setup.tool_settings import Places, variable

    merged = merged_variables(envs, environ)
    if platform == "darwin":
        from builtin_plugins.setup import macos

        cask = merged.get(variable(tool, "HOMEBREW_CASK")) or tool.lower()
        return macos.is_installed(cask, merged)
    return state.is_installed(Places.read(tool, merged))


def merged_variables(envs: "Mapping[str, str]", environ: "Mapping[str, str]") -> "dict[str, str]":
    """Return the caller's variables with a command's `envs`."""
    merged = dict(environ)
    room = _LARGEST
    for name, text in envs.items():
        if name not in environ:
            merged[name] = expand(text, merged.get)[:room]
            room -= len(merged[name])
    return merged

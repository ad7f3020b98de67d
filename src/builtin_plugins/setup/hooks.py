"""The hook of `setup`: whether the tool of a command is installed."""

import os
import sys

from host import expand, hookimpl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_MOST = 1 << 20  # characters of all variables together, once they are expanded
ENTRYPOINT = "builtin_plugins.setup:main"


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
    if merged is None:
        return False
    if platform == "darwin":
        from builtin_plugins.setup import macos

        cask = merged.get(variable(tool, "HOMEBREW_CASK")) or tool.lower()
        return macos.is_installed(cask, merged)
    return state.is_installed(Places.read(tool, merged))


def merged_variables(
    envs: "Mapping[str, str]", environ: "Mapping[str, str]"
) -> "dict[str, str] | None":
    """Return the caller's variables with a command's `envs`, None if they grow too large."""
    merged = dict(environ)
    left = _MOST
    for name, text in envs.items():
        if name not in environ:
            try:
                merged[name] = expand(text, merged.get, limit=max(left, 1))
            except OverflowError:
                return None
            left -= len(merged[name])
    return merged

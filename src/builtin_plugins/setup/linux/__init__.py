"""`setup` on Linux: `install` prepares a version, `swap` activates it, `ownership` checks files.

The functions here are those that a listing calls, so they import little.
"""

import os

from builtin_plugins.setup.tool_settings import ToolPaths


def is_installed(paths: ToolPaths) -> bool:
    """Return whether the link resolves to an executable in the install directory (CONTRACT 10)."""
    if not os.path.islink(paths.link):
        return False
    return is_program(paths.install_dir, paths.link)


def is_program(directory: str, inside: str) -> bool:
    """Return whether the path `inside` resolves to an executable file in `directory`."""
    if not is_file(directory, inside):
        return False
    path = os.path.join(directory, inside)
    return os.access(path, os.X_OK)


def is_file(directory: str, inside: str) -> bool:
    """Return whether the path `inside` resolves to a file in `directory`."""
    root = os.path.realpath(directory)
    path = os.path.join(directory, inside)
    real = os.path.realpath(path)
    if not real.startswith(f"{root}/"):
        return False
    return os.path.isfile(real)

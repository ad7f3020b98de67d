"""Where the library is, and which shells there are to try it in."""

import shutil
from typing import NamedTuple

import pytest

from testing.installation import PROJECT

LIB = PROJECT / "core" / "lib"
LIBRARIES = [
    "color",
    "logger",
    "string",
    "os",
    "sudo",
    "config",
    "cli",
    "shell",
    "git",
    "dependencies",
]


class Result(NamedTuple):
    """What a script left: exit status, standard output, standard error."""

    status: int
    out: str
    err: str


def shell_path(name: str) -> str:
    """Return the path of a program, or skip the test by its name."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path

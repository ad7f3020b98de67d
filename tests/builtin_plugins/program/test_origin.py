"""A program that something else brought is not updated; the error names what updates it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.installation import Made

Install = Callable[..., Made]

# A package manager that owns the program, and the command that updates it.
MANAGERS = {
    "dpkg-query": (
        'echo "python3-cli-host: $2"',
        "sudo apt-get install --only-upgrade python3-cli-host",
    ),
    "rpm": ("printf cli-host", "sudo dnf upgrade cli-host"),
    "pacman": ("echo cli-host", "sudo pacman -S cli-host"),
}


@pytest.mark.parametrize("manager", MANAGERS)
def test_a_package_managers_program(
    install: Install, tmp_path: Path, manager: str
) -> None:
    says, remedy = MANAGERS[manager]
    tools = tmp_path / "tools"
    tools.mkdir()
    # The other managers of this machine do not own the program.
    for name in MANAGERS:
        (tools / name).write_text(
            f"#!/bin/sh\n{says if name == manager else 'exit 1'}\n"
        )
        (tools / name).chmod(0o755)
    made = install()
    refused = made.run("self", "update", env={"PATH": f"{tools}:{os.environ['PATH']}"})
    assert (refused.status, refused.stdout) == (1, "")
    assert refused.stderr.endswith(
        f"__init__.py: a package manager installed this program; {remedy}\n"
    )

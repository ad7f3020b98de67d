"""Virtual environments with this program in them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from testing.installation import PROJECT


def build_wheel(source: Path, target: Path) -> Path:
    """Build the wheel of a project into the folder `target`; return its path."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", target, source]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return target / done.stdout.split()[-1]


def make_environment(root: Path) -> None:
    """Make `venv` below `root` with pip, this program's wheel and what that needs."""
    own = build_wheel(PROJECT, root / "own")
    subprocess.run([sys.executable, "-m", "venv", root / "venv"], check=True)
    install = ["-m", "pip", "-q", "--disable-pip-version-check", "install", own]
    subprocess.run([root / "venv/bin/python", *install], check=True, capture_output=True)


def copy_environment(venv: Path, target: Path) -> Path:
    """Copy a venv; its programs start the copy's interpreter. Returns `target`."""
    subprocess.run(["cp", "-a", venv, target], check=True)
    for program in (target / "bin").iterdir():
        if not program.is_symlink():
            text = program.read_bytes()
            program.write_bytes(text.replace(os.fsencode(venv), os.fsencode(target)))
    return target

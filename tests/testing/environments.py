"""Virtual environments with this program in them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from testing.installation import PROJECT


def make_environment(root: Path) -> Path:
    """Make a venv below `root` that has pip, this program's wheel and what that needs."""
    subprocess.run([sys.executable, "-m", "venv", root / "venv"], check=True)
    build = ["-m", "build", "--wheel", "--no-isolation", "-o", root / "own", PROJECT]
    subprocess.run([sys.executable, *build], check=True, capture_output=True)
    [own] = (root / "own").glob("*.whl")
    install = ["-m", "pip", "-q", "--disable-pip-version-check", "install", own]
    subprocess.run([root / "venv/bin/python", *install], check=True, capture_output=True)
    return root / "venv"

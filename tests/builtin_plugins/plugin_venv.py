"""A virtual environment with this program in it, which tests may change."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from installation import PROJECT


@pytest.fixture(scope="session")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a venv that has pip, this program's wheel and what that needs."""
    root = tmp_path_factory.mktemp("pip")
    subprocess.run([sys.executable, "-m", "venv", root / "venv"], check=True)
    build = ["-m", "build", "--wheel", "--no-isolation", "-o", root / "own", PROJECT]
    subprocess.run([sys.executable, *build], check=True, capture_output=True)
    [own] = (root / "own").glob("*.whl")
    install = ["-m", "pip", "-q", "--disable-pip-version-check", "install", own]
    subprocess.run([root / "venv/bin/python", *install], check=True, capture_output=True)
    return root / "venv"

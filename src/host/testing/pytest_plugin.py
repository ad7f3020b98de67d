"""The fixture `install` for pytest; conftest.py names this module in `pytest_plugins`."""

from collections.abc import Callable
from pathlib import Path

import pytest

from host.testing.installations import InstalledProgram, installer


def _install(tmp_path: Path) -> Callable[..., InstalledProgram]:
    """Return `install(files, program="cli")`, which makes a new installation on each call."""
    return installer(tmp_path)


install = pytest.fixture(_install)

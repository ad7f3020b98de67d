"""The fixtures of the whole suite."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from installation import Made, builder


@pytest.fixture
def install(tmp_path: Path) -> Callable[..., Made]:
    """Return `install(files, program="cli")`, which makes an installation of its own each time."""
    return builder(tmp_path)


@pytest.fixture(scope="module")
def shared_install(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Made]:
    """Return what `install` does, for installations that the tests of one module share."""
    return builder(tmp_path_factory.mktemp("shared"))

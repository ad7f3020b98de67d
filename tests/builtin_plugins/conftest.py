"""A server for the tests of this directory, and the modules that stand beside them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import httpserver
from applications import application


@pytest.fixture
def site() -> Iterator[httpserver.Site]:
    """A running server that offers three versions of an application."""
    with httpserver.running() as running:
        running.add("/one", application("one"))
        running.add("/two", application("two"))
        running.add("/moved", application("moved", "Moved"))
        yield running

"""The one builder of the suite, which is public: see `host.testing`."""

from __future__ import annotations

import sysconfig
from pathlib import Path

from host.testing import InstalledProgram as Made
from host.testing import RunResult as Result
from host.testing import command
from host.testing import installer as builder
from host.testing.installations import CLI

__all__ = ["CLI", "IMPORTABLE", "PROJECT", "Made", "Result", "builder", "command"]

PROJECT = Path(__file__).parents[2]

# Modules of tests that runs import. To put one beside it would change what every lock is stamped
# with, also those that other workers just look at.
IMPORTABLE = Path(sysconfig.get_path("purelib"), "cli_host_tests")

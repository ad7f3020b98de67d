"""What Linux says of a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from host.processes.process_stat import process_stat
from testing.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def test_a_name_with_parentheses_and_blanks(tmp_path: Path) -> None:
    program = tmp_path / "a) S 1 (b"
    program.symlink_to("/bin/cat")
    process = subprocess.Popen([program], stdin=subprocess.PIPE)
    try:
        stat = process_stat(process.pid)
        assert stat is not None
        assert (stat.name, stat.parent) == (program.name, os.getpid())
        assert stat.is_alive
    finally:
        process.communicate()
    assert process_stat(process.pid) is None


def test_a_zombie_is_not_alive() -> None:
    process = subprocess.Popen(["true"])

    def has_ended() -> bool:
        stat = process_stat(process.pid)
        return stat is not None and not stat.is_alive

    wait_until(has_ended)
    process.wait()

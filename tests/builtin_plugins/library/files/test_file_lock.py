"""OnWait for somebody else's change."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from builtin_plugins.library.files import file_lock
from builtin_plugins.library.files.file_lock import take_file_lock

_HOLD = """
import fcntl, os, sys
fcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_EX)
print(flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
def test_waiting_for_a_lock_is_reported_after_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD, tmp_path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdin
    assert holder.stdout
    holder.stdout.readline()
    descriptor = os.open(tmp_path, os.O_RDONLY)
    assert not take_file_lock(descriptor)
    monkeypatch.setattr(file_lock, "_WAIT_SECONDS", 0.5)
    assert not take_file_lock(descriptor, said.append)
    assert said == []
    monkeypatch.setattr(file_lock, "_WAIT_SECONDS", 1.5)
    assert not take_file_lock(descriptor, said.append)
    assert said == ["waiting for another process to finish its change"]
    holder.communicate(b"")
    assert take_file_lock(descriptor)

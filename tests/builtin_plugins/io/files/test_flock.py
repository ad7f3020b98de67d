"""Waiting for somebody else's change."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from builtin_plugins.io.files.flock import take_lock

_HOLD = """
import fcntl, os, sys
fcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_EX)
print(flush=True)
sys.stdin.read()
"""


def test_who_waits_says_for_whom_after_a_second(tmp_path: Path) -> None:
    said: list[str] = []
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdin
    assert holder.stdout
    holder.stdout.readline()
    descriptor = os.open(tmp_path, os.O_RDONLY)
    assert not take_lock(descriptor)
    assert not take_lock(descriptor, 0.5, said.append)
    assert said == []
    assert not take_lock(descriptor, 1.5, said.append)
    who = f"process {holder.pid}, at work since "
    assert re.fullmatch(rf"waiting for {who}\d\d:\d\d:\d\d, to end its change", said[0])
    assert len(said) == 1
    holder.communicate(b"")
    assert take_lock(descriptor)

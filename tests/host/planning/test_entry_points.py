"""Which plugins installed distributions register."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ASK = """from host.planning.discovery import entry_points
for one in entry_points():
    print(one.name)
"""


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["FIFO", "directory"])
def test_metadata_that_is_no_file_stops_nobody(make, tmp_path: Path) -> None:
    for name, odd in (("a", "entry_points.txt"), ("b", "METADATA"), ("c", "")):
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        if odd != "METADATA":
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        if odd != "entry_points.txt":
            (info / "entry_points.txt").write_text(f"[cli_host]\n{name} = {name}\n")
        if odd:
            make(info / odd)
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        env={"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    names = done.stdout.split()
    assert ("a" in names, "b" in names, "c" in names) == (False, False, True)

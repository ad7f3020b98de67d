"""Run every command that docs/assistants.md shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Cli

_PAGE = Path(__file__).parents[3] / "docs" / "assistants.md"
_BLOCK = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(not _PAGE.exists(), reason="docs/assistants.md is the project's")
def test_commands_of_the_page(tmp_path: Path) -> None:
    commands = [
        line
        for block in _BLOCK.findall(_PAGE.read_text())
        for line in block.splitlines()
    ]
    assert len(commands) == 4
    cli = Cli(tmp_path / "acme", tmp_path)
    subprocess.run(
        [sys.executable, "-m", "host", "self", "init", cli.root, "--name", "cli"],
        env=cli.environ,
        check=True,
        capture_output=True,
    )
    env = {**cli.environ, "PATH": f"{cli.root}/core:{os.environ['PATH']}"}
    for command in commands:
        done = subprocess.run(
            ["bash", "-c", command],
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"$ {command}\n{done.stdout}{done.stderr}"
    assert done.stderr == (
        "cursor has no command for this; "
        f"add the entry to {tmp_path}/.cursor/mcp.json:\n"
    )
    assert '"--read-only"' in done.stdout

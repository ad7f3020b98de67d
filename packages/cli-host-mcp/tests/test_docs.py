"""Run every command that docs/assistants.md shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from conftest import made

_PAGE = Path(__file__).parents[3] / "docs" / "assistants.md"
_BLOCK = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(not _PAGE.exists(), reason="docs/assistants.md is the project's")
def test_commands_of_the_page(tmp_path: Path) -> None:
    """As a shell would run them in a new installation."""
    commands = [
        line
        for block in _BLOCK.findall(_PAGE.read_text())
        for line in block.splitlines()
    ]
    assert len(commands) == 4
    cli = made(tmp_path)
    for words in ("demo hello", "demo files largest"):
        cli.command(words, "true\n", effects="read")
    for command in commands:
        program, *words = shlex.split(command)
        assert program == "cli"
        done = cli.run(*words)
        assert done.returncode == 0, f"$ {command}\n{done.stdout}{done.stderr}"
    assert done.stderr == (
        "cursor has no command for this; "
        f"add the entry to {cli.home}/.cursor/mcp.json:\n"
    )
    assert '"--read-only"' in done.stdout

"""The commands and the outputs that docs/testing.md shows."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from conftest import Cli, rare

_PAGE = Path(__file__).parents[3] / "docs" / "testing.md"
_BLOCK = re.compile(r"^```(bash|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@rare
@pytest.mark.skipif(not _PAGE.exists(), reason="docs/testing.md is the project's")
def test_commands_of_the_page(cli: Cli) -> None:
    page = _PAGE.read_text()
    blocks = _BLOCK.findall(page)
    commands = "".join(text for language, text in blocks if language == "bash")
    [passing, failing] = [text for language, text in blocks if "ok 1" in text]

    done = bash(cli, commands)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(passing)
    assert (cli.root / "report.xml").read_text().startswith("<?xml")

    script = cli.root / "commands/db/backup/main.sh"
    script.write_text(script.read_text().replace("-Fc ", ""))
    broken = bash(cli, "acme test db backup")
    assert broken.returncode == 1
    head, rest = failing.split("…\n")
    assert head in broken.stdout
    assert rest in broken.stdout

    library = Path(__file__).parents[1] / "src/cli_host_test/lib/test.sh"
    for function in re.findall(r"^([a-z]\w*)\(\)", library.read_text(), re.MULTILINE):
        assert f"`{function}" in page


def bash(cli: Cli, commands: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-ec", commands],
        env=cli.environ,
        cwd=cli.root,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )

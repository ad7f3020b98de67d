"""Run every command that docs/fleet.md shows."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from conftest import Cli, rare

_PAGE = Path(__file__).parents[3] / "docs" / "fleet.md"
_README = Path(__file__).parents[1] / "README.md"
_BLOCK = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@rare
@pytest.mark.skipif(not _PAGE.exists(), reason="docs/fleet.md is the project's")
def test_commands_of_the_page(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    commands = [
        line
        for block in _BLOCK.findall(_PAGE.read_text())
        for line in block.splitlines()
    ]
    assert len(commands) > 10
    cli: Cli = request.getfixturevalue("cli")
    config = tmp_path / "ssh_config"
    config.write_text(
        "\n".join(_block(cli, f"web{number:02}") for number in range(1, 5))
    )
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "cli").symlink_to(cli.root / "core" / "cli")
    env = cli.environ()
    env["PATH"] = f"{tools}:{env['PATH']}"
    for command in commands:
        done = subprocess.run(
            [
                "bash",
                "-c",
                re.sub(r"(cli fleet \w+)", rf"\1 --ssh-config {config}", command),
            ],
            env=env,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"$ {command}\n{done.stdout}{done.stderr}"
        if " demo hello Ada" in command and "--dry-run" not in command:
            assert "Hello, Ada!" in done.stdout


def _block(cli: Cli, name: str) -> str:
    """Return the block of ssh_config for a machine; no other machine is known to the page."""
    directory = cli.rig.directory
    return f"""
Host {name}
  HostName 127.0.0.1
  Port {cli.rig.machines[name].port}
  User root
  IdentityFile {directory}/key
  IdentitiesOnly yes
  UserKnownHostsFile {directory}/known_hosts
"""


def test_the_readme_names_every_option(cli: Cli) -> None:
    words = ("run", "exec", "hosts", "check")
    shown = "".join(cli.fleet(word, "--help").stdout.decode() for word in words)
    options = set(re.findall(r"--[a-z][a-z-]+", shown)) - {"--help"}
    assert [
        option for option in sorted(options) if option not in _README.read_text()
    ] == []

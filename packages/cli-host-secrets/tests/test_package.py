"""The package itself: its schemes, and the examples in its page and README."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

import host
from cli_host_secrets.plugin import secret_schemes
from conftest import STAND_INS, Cli, needs, rare

_README = Path(__file__).parents[1] / "README.md"
_PAGE = Path(__file__).parents[3] / "docs" / "password-managers.md"
_BLOCK = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SCHEMES = ["pass", "op", "vault", "bao", "sops", "age", "keyring", "aws-sm", "gcp-sm"]


def test_the_schemes(cli: Cli) -> None:
    installation = host.Installation(*[""] * len(host.Installation.__annotations__))
    assert [scheme.scheme for scheme in secret_schemes(installation)] == _SCHEMES
    cli.show({"A": "none:x"})
    assert (
        f"known schemes: {', '.join(sorted([*_SCHEMES, 'file', 'run']))};"
        in cli.run("try", "show")[2]
    )


@pytest.mark.parametrize("page", [_README, _PAGE], ids=["README", "page"])
def test_pages_name_the_schemes_and_the_stand_ins(page: Path) -> None:
    if not page.exists():
        pytest.skip("docs/password-managers.md is the project's")
    text = page.read_text()
    assert [scheme for scheme in _SCHEMES if f"`{scheme}:" not in text] == []

    (paragraph,) = (part for part in text.split("\n\n") if "The tests replace" in part)
    tools = ["pass", "age", "sops", "keyring"]
    for path in STAND_INS.iterdir():
        if path.is_file() and not path.suffix:
            tools.append(path.name)
    assert [tool for tool in tools if f"`{tool}`" not in paragraph] == []


@rare
@needs("pass", "gpg", "age", "sops")
@pytest.mark.skipif(
    not _PAGE.exists(), reason="docs/password-managers.md is the project's"
)
def test_commands_of_the_page(store: Cli) -> None:
    """In one shell, each command of the page succeeds and prints the text after `# prints`."""
    commands = "".join(_BLOCK.findall(_PAGE.read_text()))
    assert commands.count("acme app deploy") >= 3
    path = f"{store.root}/core:{store.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-ec", commands],
        env={**store.environ, "PATH": path, "TERM": os.environ.get("TERM", "dumb")},
        cwd=store.root,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    expected = re.findall(r"  # prints (.*)$", commands, re.MULTILINE)
    assert expected
    printed = [line for line in done.stdout.splitlines() if line in expected]
    assert printed == expected

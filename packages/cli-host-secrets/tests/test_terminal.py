"""A tool that prompts: age, for the passphrase of a file."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import time
from collections.abc import Mapping, Sequence

import pytest

from conftest import Cli, needs, rare

pytestmark = needs("age")
_PASSPHRASE = "open sesame"


def on_terminal(
    words: Sequence[str], env: Mapping[str, str], cwd: str
) -> tuple[int, str]:
    """Run a program on a terminal and type the passphrase at prompts; return status and text."""
    near, far = pty.openpty()
    process = subprocess.Popen(
        ["setsid", "--ctty", "--wait", *words],
        env=env,
        cwd=cwd,
        stdin=far,
        stdout=far,
        stderr=far,
    )
    os.close(far)
    text, answered, end = "", 0, time.monotonic() + 30
    while time.monotonic() < end:
        if select.select([near], [], [], 0.1)[0]:
            try:
                text += os.read(near, 1 << 16).decode()
            except OSError:
                break
        prompts = len(re.findall(r"passphrase[^:\n]*: ", text))
        if prompts > answered:
            answered = prompts
            os.write(near, _PASSPHRASE.encode() + b"\n")
    os.close(near)
    return process.wait(30), text


@pytest.mark.parametrize(
    "armor", [[], pytest.param(["--armor"], marks=rare)], ids=["binary", "armor"]
)
def test_a_passphrase(cli: Cli, recipient: str, armor: list[str]) -> None:
    """The key file of `recipient` exists; age refuses it for a file with a passphrase."""
    cli.show({"TOKEN": "age:token.age"})
    (cli.home / "plain").write_text("hush\n")
    encrypted = f"{cli.folder}/token.age"
    words = ["age", "--passphrase", *armor, "--output", encrypted, "plain"]
    assert on_terminal(words, cli.environ, str(cli.home))[0] == 0
    command = [f"{cli.root}/core/acme", "try", "show"]
    status, text = on_terminal(command, cli.environ, str(cli.home))
    assert status == 0
    assert text.endswith("TOKEN=hush\r\n")
    status, out, err = cli.run("try", "show")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert "age ended with status 1: age: error: " in err
    assert f"; try: age --decrypt {encrypted}" in err

"""A tool that prompts: age, for the passphrase of a file."""

from __future__ import annotations

import base64
import os
import pty
import re
import select
import subprocess
import time
from collections.abc import Mapping, Sequence

import pytest

from conftest import Cli, needs

pytestmark = needs("age")
_PASSPHRASE = "open sesame"
# "hush", encrypted with this passphrase, but with the lowest work factor: age's own takes a second.
_ENCRYPTED = """\
YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNjcnlwdCBsVnpUVGZFMXJ1akFteWN5
cWRHSG93IDEKUjNHeEdjNjJMMlNIZTNGazJoVTR6WnVRZHd3YUZmbTNOUFJHMFZ5
bkQ3OAotLS0gZVYraUc5S05YaDNMV2NjM0EwMlVxWGZ2KzNqdHdSaWVSMHA3VDND
N3kyQQryqqOYg94VTGrN8TZ3ThThJFhGPDGcdNf8LJ/xMJBsHAxwqWsG
"""


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


_FILES = {
    "binary": base64.b64decode(_ENCRYPTED),
    "armor": (
        f"-----BEGIN AGE ENCRYPTED FILE-----\n{_ENCRYPTED}-----END AGE ENCRYPTED FILE-----\n"
    ).encode(),
}


@pytest.mark.parametrize("content", _FILES.values(), ids=_FILES)
def test_a_passphrase(cli: Cli, recipient: str, content: bytes) -> None:
    """The key file of `recipient` exists; age refuses it for a file with a passphrase."""
    cli.show({"TOKEN": "age:token.age"})
    encrypted = cli.folder / "token.age"
    encrypted.write_bytes(content)
    command = [f"{cli.root}/core/acme", "try", "show"]
    status, text = on_terminal(command, cli.environ, str(cli.home))
    assert status == 0
    assert text.endswith("TOKEN=hush\r\n")
    status, out, err = cli.run("try", "show")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert "age ended with status 1: age: error: " in err
    assert f"; try: age --decrypt {encrypted}" in err

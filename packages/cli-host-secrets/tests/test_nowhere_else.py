"""Under strace: a value is only in the command's environment, and in pipes from its tool."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Cli, needs

pytestmark = needs("strace", "pass", "gpg", "age", "sops")

_VALUE = "Xq7-hush-9Zk"
_WRITES = "write,pwrite64,writev,pwritev,pwritev2,sendto,sendmsg,sendmmsg,splice,copy_file_range"
_NAMES = "open,openat,openat2,creat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,mkdir"
_TRACED = f"execve,execveat,{_WRITES},{_NAMES}"
_PIPE = re.compile(r"(write|writev|sendto|sendmsg)\(\d+<(pipe:|socket:|UNIX|TCP|unix)")


_SECRETS = {
    "A": "pass:token",
    "B": "age:token.age",
    "C": "sops:token.yaml#key",
    "D": "keyring:service/ada",
}


@pytest.fixture
def tools(store: Cli, recipient: str) -> Cli:
    """Four tools that store the same value."""
    store.tool("pass", "insert", "--multiline", "token", stdin=f"{_VALUE}\n")
    store.folder.mkdir(parents=True)
    words = ["age", "--recipient", recipient, "--output", f"{store.folder}/token.age"]
    store.tool(*words, stdin=f"{_VALUE}\n")
    encrypt = ["sops", "--encrypt", "--in-place", "--age", recipient]
    for name, text in (
        ("token.yaml", f"key: {_VALUE}\n"),
        ("variables.env", f"A={_VALUE}\n"),
    ):
        (store.folder / name).write_text(text)
        store.tool(*encrypt, f"{store.folder}/{name}")
    store.more["PYTHON_KEYRING_BACKEND"] = "keyrings.alt.file.PlaintextKeyring"
    store.tool(sys.executable, "-m", "keyring", "set", "service", "ada", stdin=_VALUE)
    return store


def test_a_value_is_nowhere_else(tools: Cli, tmp_path: Path) -> None:
    tools.show(_SECRETS)
    check_run(tools, list(_SECRETS), tmp_path / "strace")
    tools.show({}, env_files=["sops:variables.env"])
    check_run(tools, ["A"], tmp_path / "strace")


def check_run(tools: Cli, names: list[str], log: Path) -> None:
    """Trace a run of the command, whose variables `names` have the value."""
    lengths = " ".join(f"${{#{name}}}" for name in names)
    (tools.folder / "main.sh").write_text(f"echo {lengths}\n")
    before = holders(tools)
    words = [
        "strace",
        "-f",
        "-y",
        "-v",
        "-s",
        "1000000",
        "-e",
        f"trace={_TRACED}",
        "-o",
        str(log),
    ]
    done = subprocess.run(
        [*words, f"{tools.root}/core/acme", "try", "show"],
        env=tools.environ | {"DEBUG": "true"},
        cwd=tools.home,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert (done.returncode, done.stdout.split()) == (
        0,
        [str(len(_VALUE)) for _ in names],
    )
    assert _VALUE not in done.stderr
    shown = []
    for line in log.read_text(errors="replace").splitlines():
        _, call = line.split(maxsplit=1)  # the first word is the process
        if _VALUE in call:
            shown.append(call)
    started = [call for call in shown if call.startswith("execve")]
    piped = [call for call in shown if _PIPE.match(call)]
    assert piped  # strace shows what a tool prints
    assert [call for call in shown if call not in started + piped] == []
    assert len(started) == 1
    start = re.match(r'execve\("[^"]*/bash", (\[.*?\]), \[', started[0])
    assert start is not None
    argv = start[1]
    assert "/main.sh" in argv
    assert _VALUE not in argv
    assert holders(tools) == before


def holders(cli: Cli) -> list[Path]:
    """Return the files of the installation and the home that hold the value."""
    files = []
    for folder in (cli.root, cli.home):
        for path in folder.rglob("*"):
            if path.is_file() and _VALUE.encode() in path.read_bytes():
                files.append(path)
    return files

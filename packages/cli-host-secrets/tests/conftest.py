"""An installation in a temporary directory, the tools that keep secrets, and stand-ins for them.

`pass` with gpg, `age`, `sops` and `keyring` are the real ones. `op`, `vault`, `bao`, `aws` and
`gcloud` need an account or a server: the programs in `stand_ins` replace them, and print what
their documentation describes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from testing.fork_server import import_too
from testing.installation import Installed, builder

import_too("click", "keyring")


rare = pytest.mark.skipif(
    os.environ.get("FULL_SWEEP") != "1", reason="a rare case; set FULL_SWEEP=1"
)
STAND_INS = Path(__file__).parent / "stand_ins"


def needs(*programs: str) -> pytest.MarkDecorator:
    """Skip the test if a program that it needs is missing."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    missing = [program for program in programs if not shutil.which(program, path=path)]
    return pytest.mark.skipif(bool(missing), reason=f"needs {', '.join(missing)}")


@dataclass
class Cli(Installed):
    """An installation and its user's home."""

    more: dict[str, str] = field(default_factory=dict)

    @property
    def environ(self) -> dict[str, str]:
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        log = str(self.home / "calls.jsonl")
        return {"PATH": path, "HOME": str(self.home), "STAND_IN_LOG": log, **self.more}

    @property
    def folder(self) -> Path:
        """The folder of the command `show`."""
        return self.root / "commands" / "try" / "show"

    def show(self, secrets: dict[str, str], **definition: object) -> None:
        """Write the command `try show`, which prints the variables of `secrets` or `names`."""
        self.folder.mkdir(parents=True, exist_ok=True)
        names = definition.pop("names", secrets)
        usual = {"name": "Show", "description": "Show secrets", "entrypoint": "main.sh"}
        whole = {**usual, "secrets": secrets, **definition}
        (self.folder / "command.json").write_text(json.dumps(whole))
        assert isinstance(names, dict | list)
        (self.folder / "main.sh").write_text(
            "".join(f'printf "%s=%s\\n" {name} "${name}"\n' for name in names)
        )

    def run(self, *words: str, **env: str) -> tuple[int, str, str]:
        """Return status, stdout and stderr; there is no terminal."""
        done = self.installed.run(*words, env=self.environ | env, cwd=self.home)
        return done.all

    def tool(self, *words: str, stdin: str = "", **env: str) -> str:
        """Return the output of a tool that prepares a test."""
        done = subprocess.run(
            words,
            env=self.environ | env,
            cwd=self.home,
            capture_output=True,
            text=True,
            check=False,
            input=stdin,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def stand_in(self) -> None:
        """Put the stand-ins first on PATH."""
        self.more["PATH"] = f"{STAND_INS}:{self.environ['PATH']}"

    def calls(self) -> list[list[str]]:
        """Return the argv of each call of a stand-in."""
        log = Path(self.environ["STAND_IN_LOG"])
        return (
            [json.loads(line) for line in log.read_text().splitlines()]
            if log.exists()
            else []
        )


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """An installation without commands, of a user with an empty home."""
    return Cli(builder(tmp_path)(program="acme"))


@pytest.fixture
def store(cli: Cli) -> Iterator[Cli]:
    """A password store with a key that needs no passphrase."""
    with tempfile.TemporaryDirectory(dir="/tmp") as gnupg:  # a socket's path is short
        cli.more["GNUPGHOME"] = gnupg
        make_key(cli, "someone@example.org", "")
        cli.tool("pass", "init", "someone@example.org")
        yield cli
        cli.tool("gpgconf", "--kill", "all")


def make_key(cli: Cli, name: str, passphrase: str) -> None:
    words = ["--batch", "--pinentry-mode", "loopback", "--passphrase", passphrase]
    cli.tool("gpg", *words, "--quick-generate-key", name, "default", "default", "never")


@pytest.fixture
def recipient(cli: Cli) -> str:
    """The public half of an age key, whose file age and sops find."""
    keys = cli.home / "keys.txt"
    cli.tool("age-keygen", "--output", str(keys))
    cli.more |= {"AGE_IDENTITY_FILE": str(keys), "SOPS_AGE_KEY_FILE": str(keys)}
    return cli.tool("age-keygen", "-y", str(keys)).strip()

"""An installation in a temporary directory, with commands and tests of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

BATS_LOAD = 'load "$CLI_TEST_LIB"\n'


@dataclass
class Cli:
    """An installation and its user's home."""

    root: Path
    home: Path
    program: str = "acme"

    @property
    def environ(self) -> dict[str, str]:
        path = f"{self.root}/core:{Path(sys.executable).parent}:{os.environ['PATH']}"
        return {"PATH": path, "HOME": str(self.home), "LC_ALL": "C.UTF-8"}

    def write(self, name: str, text: str) -> Path:
        """Write a file below the root; what starts with `#!` becomes executable."""
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        if text.startswith("#!"):
            file.chmod(0o755)
        return file

    def command(self, words: str, text: str, **keys: object) -> None:
        """Write a command with a folder of its own."""
        folder = f"commands/{words.replace(' ', '/')}"
        definition = {"name": words, "description": words, "entrypoint": "main.sh", **keys}
        self.write(f"{folder}/command.json", json.dumps(definition))
        self.write(f"{folder}/main.sh", f"#!/bin/bash\n{text}\n")

    def tests(self, name: str, text: str) -> Path:
        """Write a .bats file that loads the library."""
        return self.write(name, BATS_LOAD + text)

    def run(self, *words: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.root / "core" / self.program, *words],
            env=self.environ | env,
            cwd=self.home,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=300,
        )

    def outcome(self, *words: str | Path, **env: str) -> tuple[int, list[str]]:
        """Run `test`; return the status and the lines of its tests, without numbers."""
        done = self.run("test", *words, **env)
        lines = done.stdout.splitlines()
        results = [line for line in lines if line.startswith(("ok ", "not ok "))]
        outcomes = []
        for line in results:
            result, _, rest = line.partition("ok ")
            outcomes.append(f"{result}ok {rest.partition(' ')[2]}")
        return done.returncode, outcomes


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation without commands, made once."""
    made = tmp_path_factory.mktemp("once")
    subprocess.run(
        [sys.executable, "-m", "host", "self", "init", made / "acme", "--name", "acme"],
        env={"PATH": os.environ["PATH"], "HOME": str(made)},
        check=True,
        capture_output=True,
    )
    subprocess.run(["rm", "-r", made / "acme/commands/demo"], check=True)
    return made / "acme"


@pytest.fixture
def cli(tmp_path: Path, empty: Path) -> Cli:
    made = Cli(tmp_path / "acme", tmp_path / "home")
    made.home.mkdir()
    subprocess.run(["cp", "-RPp", empty, made.root], check=True)
    return made

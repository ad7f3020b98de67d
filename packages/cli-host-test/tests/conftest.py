"""An installation in a temporary directory, with commands and tests of them."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from cli_host_test.selection import chosen_files
from host import Program
from testing.fork_server import import_too
from testing.installation import Installed, Result, builder, variables_of

import_too("click")


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A job in the background ignores Ctrl-C; what tests start must not.
    signal.signal(signal.SIGINT, lambda *_: None)

FULL = os.environ.get("FULL_SWEEP") == "1"
rare = pytest.mark.skipif(not FULL, reason="a rare case; set FULL_SWEEP=1")
_LOAD = 'load "$CLI_TEST_LIB"\n'


class Cli(Installed):
    """An installation; its own program and those of this Python are on PATH."""

    @property
    def environ(self) -> dict[str, str]:
        path = f"{self.root}/core:{Path(sys.executable).parent}:{os.environ['PATH']}"
        return {"PATH": path, "HOME": str(self.home)}

    def command(self, words: str, text: str) -> None:
        """Write a command with a folder of its own."""
        folder = f"commands/{words.replace(' ', '/')}"
        definition = {"name": words, "description": words, "entrypoint": "main.sh"}
        files = {
            f"{folder}/command.json": json.dumps(definition),
            f"{folder}/main.sh": f"#!/bin/bash\n{text}\n",
        }
        self.installed.write(files)

    def write(self, name: str, text: str) -> None:
        """Write a file below the root; what starts with `#!` becomes executable."""
        self.installed.write({name: text})

    def tests(self, name: str, text: str) -> None:
        """Write a .bats file that loads the library."""
        self.write(name, _LOAD + text)

    def run(self, *words: str, **env: str) -> Result:
        return self.installed.run(*words, env=self.environ | env, cwd=self.home)

    @property
    def program(self) -> Program:
        """The installation as the command `test` sees it."""
        ours = variables_of(self.root, "test")
        return Program.current({**self.environ, **ours})

    def chosen(self, *words: str) -> list[str]:
        """Return the test files that `test WORDS` runs: paths from the root, without `.bats`."""
        files = chosen_files(self.program, words)
        return [
            os.path.relpath(file, self.root).removesuffix(".bats") for file in files
        ]

    def outcome(self, *words: str, **env: str) -> tuple[int, list[str]]:
        """Run `test`; return the status and the lines of its tests, without numbers."""
        done = self.run("test", *words, **env)
        outcomes = []
        for line in done.stdout.splitlines():
            if line.startswith(("ok ", "not ok ")):
                result, _, rest = line.partition("ok ")
                outcomes.append(f"{result}ok {rest.partition(' ')[2]}")
        return done.status, outcomes


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(builder(tmp_path)(program="acme"))

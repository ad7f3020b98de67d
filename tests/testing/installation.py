"""The one builder of the suite, which is public (see `host.testing`), with runs that are forks."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from host.testing import InstalledProgram, command, installer
from host.testing import RunResult as Result
from host.testing.installations import CLI, SECONDS, Files
from testing.fork_server import server_for

__all__ = [
    "CLI",
    "IMPORTABLE",
    "PROJECT",
    "Installed",
    "Made",
    "Result",
    "builder",
    "command",
    "variables_of",
]

PROJECT = Path(__file__).parents[2]

# Modules of tests that runs import. To put one beside it would change what every lock is stamped
# with, also those that other workers just look at.
IMPORTABLE = Path(sysconfig.get_path("purelib"), "cli_host_tests")


class Made(InstalledProgram):
    """An installation whose runs start no interpreter, if that makes no difference."""

    def run(
        self,
        *words: str | bytes,
        env: Mapping[str, str] | None = None,
        executable: Path | None = None,
        **options: Any,
    ) -> Result:
        environ = self.environment(env)
        is_plain = options.keys() <= {
            "input",
            "stdin",
            "cwd",
            "timeout",
            "start_new_session",
        }
        started = Path(executable or self.launcher)
        server = server_for(started, environ) if is_plain else None
        if server is None:
            return super().run(*words, env=env, executable=executable, **options)
        done = server.run(
            [os.fspath(started), *words],
            environ,
            data=options.get("input"),
            stdin=options.get("stdin", subprocess.DEVNULL),
            directory=os.fspath(options.get("cwd") or Path.cwd()),
            seconds=options.get("timeout", SECONDS),
            session=options.get("start_new_session", False),
        )
        return Result.of(done)


def builder(directory: Path) -> Callable[..., Made]:
    """Return `install(files, program="cli")`, as `host.testing.installer` does."""
    install = installer(directory)

    def make(files: Files | None = None, program: str = "cli") -> Made:
        return Made(**vars(install(files, program)))

    return make


def variables_of(root: Path, *words: str) -> dict[str, str]:
    """Return the variables by which the command `words` of an installation finds its program."""
    *category, name = words
    return {
        "CLI_DIR": str(root),
        "COMMAND_CATEGORY": " ".join(category),
        "COMMAND_NAME": name,
    }


@dataclass
class Installed:
    """An installation and its user's home; the tests of a package add what they do with it."""

    installed: Made

    @property
    def root(self) -> Path:
        return self.installed.root

    @property
    def home(self) -> Path:
        return self.installed.home

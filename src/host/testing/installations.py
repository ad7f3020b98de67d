"""Installations in a temporary directory, and their runs."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from builtin_plugins.program.launcher import write_launcher
from builtin_plugins.program.shipped_files import shipped_library
from host.lock.lock import FORMAT, checksum, stamp
from host.program import Program

CLI = {"name": "Test CLI", "description": "For tests", "version": "1.2.3"}

SECONDS = 300  # time limit of a run, which no test should need
# Files that change what the lock of an installation contains.
_IN_LOCK = ("plugins/", "core/", "cli.lock")

Files = Mapping[str, "str | bytes | dict[str, Any]"]


@dataclass(frozen=True)
class RunResult:
    """How a run ended.

    status   the exit status, or minus the number of the signal that killed the run
    stdout   what it printed
    stderr   its errors and warnings
    """

    status: int
    stdout: str
    stderr: str

    @classmethod
    def of(cls, done: subprocess.CompletedProcess[bytes]) -> RunResult:
        """Return the result of a process whose output is bytes."""
        stdout = done.stdout.decode("utf-8", "surrogateescape")
        return cls(
            done.returncode, stdout, done.stderr.decode("utf-8", "surrogateescape")
        )

    @property
    def all(self) -> tuple[int, str, str]:
        """Status, stdout and stderr, to compare all three at once."""
        return self.status, self.stdout, self.stderr


@dataclass(frozen=True)
class InstalledProgram:
    """An installation in a temporary directory.

    root       its directory, with `core`, `commands` and `plugins`
    launcher   the program itself, `core/NAME`
    home       HOME of its runs
    environ    variables of all its runs, beside PATH and HOME
    """

    root: Path
    launcher: Path
    home: Path
    environ: Mapping[str, str] = field(default_factory=dict)

    def write(self, files: Files) -> None:
        """Write files below the root.

        A dict is written as JSON. A file that begins with `#!` becomes executable.
        """
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            data = _bytes_of(content)
            path.write_bytes(data)
            if data.startswith(b"#!"):
                path.chmod(0o755)

    def run(
        self,
        *words: str | bytes,
        env: Mapping[str, str] | None = None,
        executable: Path | None = None,
        **options: Any,
    ) -> RunResult:
        """Run the program and return how that ended.

        The run has PATH, HOME, `environ` and `env`, and no other variables. `options` are those of
        `subprocess.run`, such as `cwd`; without `input`, stdin is empty. `executable` replaces the
        launcher.
        """
        if "input" not in options:
            options.setdefault("stdin", subprocess.DEVNULL)

        done = subprocess.run(
            [executable or self.launcher, *words],
            env=self.environment(env),
            capture_output=True,
            timeout=options.pop("timeout", SECONDS),
            check=False,
            **options,
        )
        return RunResult.of(done)

    def environment(self, env: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return all variables of a run with `env`."""
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.home)}
        environ.update(self.environ)
        environ.update(env or {})
        return environ

    @property
    def program(self) -> Program:
        """The installation as a `Program`, which looks commands up without running them."""
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.home)}
        return Program.at(self.root, environ)


def _bytes_of(content: str | bytes | dict[str, Any]) -> bytes:
    if isinstance(content, bytes):
        return content
    if isinstance(content, dict):
        return json.dumps(content).encode()
    return content.encode("utf-8", "surrogateescape")


def installer(directory: Path) -> Callable[..., InstalledProgram]:
    """Return a function `install(files, program="cli")` that makes installations below `directory`.

    Each call makes an installation of its own; all have the same HOME. An installation has the
    shell library, but no commands except those in `files`. Plugins that are installed as packages
    beside this program work in it.
    """
    count = 0

    def install(files: Files | None = None, program: str = "cli") -> InstalledProgram:
        nonlocal count
        count += 1
        root = directory / f"installation{count}"
        home = directory / "home"
        home.mkdir(parents=True, exist_ok=True)

        made = InstalledProgram(root, root / "core" / program, home)
        made.write({"core/cli.json": CLI})
        (root / "core" / "lib").symlink_to(shipped_library())
        (root / "commands").mkdir()
        (root / "plugins").mkdir()
        made.write(files or {})
        write_launcher(str(made.launcher))

        # A first run takes time, so its lock is copied where it would be the same.
        has_own_lock = any(name.startswith(_IN_LOCK) for name in files or {})
        if not has_own_lock:
            _write_lock(made)
        return made

    return install


def _write_lock(made: InstalledProgram) -> None:
    """Write the lock that the first run of an installation without plugins writes."""
    root, content = _lock_of_a_first_run()
    root_in_json = json.dumps(str(made.root))[1:-1]
    _, first, *others = content.replace(root, root_in_json).split("\n")

    values = json.loads(first)
    plugins = os.fspath(made.root / "plugins")
    os.utime(plugins, (0, 0))  # so that a change in the same tick of the clock shows
    values["stamps"][plugins] = stamp(plugins)

    body = "\n".join([json.dumps(values), *others]).encode()
    lock = made.root / "cli.lock"
    lock.write_bytes(FORMAT + checksum(body) + b"\n" + body)


@cache
def _lock_of_a_first_run() -> tuple[str, str]:
    """Return the root of an installation, and the lock that the program writes there."""
    with TemporaryDirectory() as directory:
        root = Path(directory)
        made = InstalledProgram(root, root / "core/cli", root)
        made.write({"core/cli.json": CLI})
        for name in ("commands", "plugins"):
            (root / name).mkdir()
        write_launcher(str(made.launcher))
        done = made.run("self", "lock")
        if done.status:
            raise AssertionError(f"self lock failed: {done.stderr}")
        return directory, (root / "cli.lock").read_text()


def command(**fields: Any) -> dict[str, Any]:
    """Return the content of a valid command.json whose script is main.sh.

    `fields` are further keys, or replace these::

        {"commands/greet/hello/command.json": command(envs={"GREETING": "Hello"})}
    """
    return {
        "name": "Name",
        "description": "Description",
        "entrypoint": "main.sh",
        **fields,
    }

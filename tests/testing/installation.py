"""The one builder of the suite: an installation made from a dict of files, and its runs."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from builtin_plugins.administration.program.launcher import write_launcher
from host.run.lock import FORMAT, checksum, stamp

PROJECT = Path(__file__).parents[2]
CLI = {"name": "Test CLI", "description": "For tests", "version": "1.2.3"}

# Modules of tests that runs import. To put one beside it would change what every lock is stamped
# with, also those that other workers just look at.
IMPORTABLE = Path(sysconfig.get_path("purelib"), "cli_host_tests")

Files = Mapping[str, "str | bytes | dict[str, Any]"]


@dataclass(frozen=True)
class Result:
    """What a run of the real executable gave."""

    status: int
    stdout: str
    stderr: str

    @property
    def all(self) -> tuple[int, str, str]:
        return self.status, self.stdout, self.stderr


@dataclass(frozen=True)
class Made:
    """An installation in a temporary directory, started through its own launcher."""

    root: Path
    launcher: Path
    home: Path
    environ: Mapping[str, str] = field(default_factory=dict)

    def write(self, files: Files) -> None:
        """Write files below the root; a dict is JSON, what starts with `#!` becomes executable."""
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps(content) if isinstance(content, dict) else content
            data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
            path.write_bytes(data)
            if data.startswith(b"#!"):
                path.chmod(0o755)

    def run(
        self,
        *words: str | bytes,
        env: Mapping[str, str] | None = None,
        executable: Path | None = None,
        **options: Any,
    ) -> Result:
        """Run the program with a bare environment plus `env`; stdin is empty without `input`."""
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            **self.environ,
            **(env or {}),
        }
        if "input" not in options:
            options.setdefault("stdin", subprocess.DEVNULL)
        done = subprocess.run(
            [executable or self.launcher, *words],
            env=environ,
            capture_output=True,
            timeout=options.pop("timeout", 300),
            check=False,
            **options,
        )
        return Result(
            done.returncode,
            done.stdout.decode("utf-8", "surrogateescape"),
            done.stderr.decode("utf-8", "surrogateescape"),
        )


def builder(directory: Path) -> Callable[..., Made]:
    """Return `make(files, program="cli")`, which makes an installation below `directory`.

    It has been run before, so that it has a lock; with files of `plugins` or `core` it has not.
    """
    count = 0

    def make(files: Files | None = None, program: str = "cli") -> Made:
        nonlocal count
        count += 1
        root = directory / f"installation{count}"
        home = directory / "home"
        home.mkdir(parents=True, exist_ok=True)
        made = Made(root, root / "core" / program, home)
        made.write({"core/cli.json": CLI})
        (root / "core" / "lib").symlink_to(PROJECT / "core" / "lib")
        (root / "commands").mkdir()
        (root / "plugins").mkdir()
        made.write(files or {})
        write_launcher(str(made.launcher))
        if not any(name.startswith(("plugins/", "core/", "cli.lock")) for name in files or {}):
            _write_lock(made)
        return made

    return make


def _write_lock(made: Made) -> None:
    """Write the lock that the first run of an installation without plugins writes."""
    root, content = _lock_of_a_first_run()
    _, first, *others = content.replace(root, json.dumps(str(made.root))[1:-1]).split("\n")
    body = json.loads(first)
    plugins = os.fspath(made.root / "plugins")
    os.utime(plugins, (0, 0))  # so that a change in the same tick of the clock shows
    body["stamps"][plugins] = stamp(plugins)
    text = "\n".join([json.dumps(body), *others]).encode()
    (made.root / "cli.lock").write_bytes(FORMAT + checksum(text) + b"\n" + text)


@cache
def _lock_of_a_first_run() -> tuple[str, str]:
    """Return the root of an installation, and the lock that the program writes there."""
    with TemporaryDirectory() as directory:
        root = Path(directory)
        made = Made(root, root / "core/cli", root)
        made.write({"core/cli.json": CLI})
        for name in ("commands", "plugins"):
            (root / name).mkdir()
        write_launcher(str(made.launcher))
        assert made.run("self", "lock").status == 0
        return directory, (root / "cli.lock").read_text()


def command(**fields: Any) -> dict[str, Any]:
    """Return the content of a valid command.json; `fields` add to it or replace."""
    return {"name": "Name", "description": "Description", "entrypoint": "main.sh", **fields}

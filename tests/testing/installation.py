"""The one builder of the suite: an installation made from a dict of files, and its runs."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from builtin_plugins.self_commands.launcher import write_launcher

PROJECT = Path(__file__).parents[2]

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
    """Return `make(files, program="cli")`, which makes an installation below `directory`."""
    count = 0

    def make(files: Files | None = None, program: str = "cli") -> Made:
        nonlocal count
        count += 1
        root = directory / f"installation{count}"
        home = directory / "home"
        home.mkdir(parents=True, exist_ok=True)
        made = Made(root, root / "core" / program, home)
        made.write(
            {"core/cli.json": {"name": "Test CLI", "description": "For tests", "version": "1.2.3"}}
        )
        (root / "core" / "lib").symlink_to(PROJECT / "core" / "lib")
        (root / "commands").mkdir()
        (root / "plugins").mkdir()
        made.write(files or {})
        write_launcher(made.launcher)
        return made

    return make


def command(**fields: Any) -> dict[str, Any]:
    """Return the content of a valid command.json; `fields` add to it or replace."""
    return {"name": "Name", "description": "Description", "entrypoint": "main.sh", **fields}

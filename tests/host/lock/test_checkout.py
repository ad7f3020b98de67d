"""A program that runs from a checkout: the lock follows edits of the program itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from testing.installation import PROJECT, Made


def test_a_renamed_function_of_a_self_command_is_found(
    install: Callable[..., Made], tmp_path: Path
) -> None:
    source = tmp_path / "src"
    shutil.copytree(
        PROJECT / "src", source, ignore=shutil.ignore_patterns("__pycache__")
    )
    made = install({"commands/a/x": "#!/bin/sh\n"})
    path = [
        str(source),
        *(entry for entry in sys.path if entry.endswith("/site-packages")),
    ]
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(made.home),
        "PYTHONPATH": os.pathsep.join(path),
        "CLI_DIR": str(made.root),
    }

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "host", *words],
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )

    assert run("self", "search", "x").returncode == 0
    lock = (made.root / "cli.lock").read_bytes()
    assert run("self", "search", "x").returncode == 0
    assert (made.root / "cli.lock").read_bytes() == lock

    module = source / "builtin_plugins/browsing/search.py"
    text = module.read_text()
    assert "\ndef search(" in text
    module.write_text(text.replace("\ndef search(", "\ndef renamed_search("))
    done = run("self", "search", "x")
    assert (done.returncode, done.stderr) == (0, "")
    assert (made.root / "cli.lock").read_bytes() != lock

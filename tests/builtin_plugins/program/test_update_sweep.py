"""`self update`, killed or failing at each of its changes on disk."""

from __future__ import annotations

import errno
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import click
import pytest

from builtin_plugins.program.shipped_files import HASHES
from testing.installation import PROJECT, command
from testing.plugin_sources import Repository, write_tree
from testing.sweep import FULL, run_sweep

OLD = "1.0.0"


def _environment(prefix: Path) -> Path:
    """Make an environment that has this program as files of its own; return its interpreter.

    What it needs, and the entry points of the built-in plugins, it finds with the tests.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", prefix], check=True)
    packages = next((prefix / "lib").glob("python*")) / "site-packages"
    (packages / "others.pth").write_text(f"{Path(click.__file__).parent.parent}\n")
    (packages / "pip").mkdir()
    (packages / "builtin_plugins").symlink_to(PROJECT / "src/builtin_plugins")
    (packages / "host").mkdir()
    for part in (
        PROJECT / "src/host"
    ).iterdir():  # whole folders: each file is a step of a copy
        if part.name != "__pycache__":
            (packages / "host" / part.name).symlink_to(part)
    write_tree(
        packages,
        {
            "host/skeleton/core/lib/logger.sh": f"# {OLD}\n",
            f"cli_host-{OLD}.dist-info/METADATA": (
                f"Metadata-Version: 2.1\nName: cli-host\nVersion: {OLD}\n"
            ),
        },
    )
    return prefix / "bin" / Path(sys.executable).name


def _ground(tmp_path: Path, kind: str) -> tuple[Path, Path]:
    """Make what is updated, as it is before; return it and the environment's interpreter."""
    ground = tmp_path / "ground"
    root = ground / "root"
    files: dict[str, Any] = {
        "core/cli.json": {"name": "T", "version": "1.0.0"},
        "core/lib/logger.sh": f"# {OLD}\n",
    }
    if kind == "checkout":
        files["pyproject.toml"] = '[project]\nname = "cli-host"\n'
        files[".gitignore"] = (PROJECT / ".gitignore").read_text()
        gone = {"docs/gone.md": "gone\n", "notes": "a file\n", "node/x": "x\n"}
        remote = Repository(
            tmp_path / "remote", files | gone | {"docs/a/b.md": "old\n"}
        )
        ground.mkdir()
        remote.git("clone", "-q", remote.url, str(root))
        remote.git("rm", "-q", *gone)
        files |= {"core/lib/logger.sh": "# 2.0.0\n", "NEWS": "new\n"}
        fresh = {"docs/a/b.md": "new\n", "run.sh": "#!/bin/sh\n"}
        fresh |= {"notes/one.md": "a directory\n", "node": "a file\n"}
        remote.commit(files | fresh)
        python = _environment(root / ".venv")
    else:
        write_tree(root, files)
        python = _environment(ground / "venv")
        checksum = sha256(f"# {OLD}\n".encode()).hexdigest()
        write_tree(root, {HASHES: f"{checksum}  core/lib/logger.sh\n"})
    write_tree(
        root,
        {
            "commands/own/hi/command.json": command(),
            "commands/own/hi/main.sh": "#!/bin/sh\necho hi\n",
        },
    )
    (root / "plugins").mkdir()
    write = (
        "import sys; "
        "from builtin_plugins.program.launcher import write_launcher; "
        "write_launcher(sys.argv[1])"
    )
    subprocess.run([python, "-I", "-c", write, root / "core/cli"], check=True)
    assert subprocess.run(
        [root / "core/cli", "own", "hi"], check=True, capture_output=True
    )
    return ground, python


ERRORS = {"kill": 0, "ENOSPC": errno.ENOSPC, "EIO": errno.EIO}
SAMPLE = [("package", "ENOSPC"), ("checkout", "kill")]
CASES = [
    pytest.param(kind, ERRORS[name], id=f"{kind}-{name}")
    for kind in ("package", "checkout")
    for name in ERRORS
    if FULL or (kind, name) in SAMPLE
]


@pytest.mark.parametrize(("kind", "error"), CASES)
def test_an_update_that_is_broken_off(
    tmp_path: Path, shim: Path, kind: str, error: int
) -> None:
    """FULL_SWEEP=1 breaks every step in every way, else each 211th in one way."""
    ground, python = _ground(tmp_path, kind)
    before, home = tmp_path / "before", tmp_path / "home"
    home.mkdir()
    subprocess.run(["cp", "-a", ground, before], check=True)
    asked = {"root": str(ground), "before": str(before)}
    result = run_sweep(
        "update", asked, shim, error=error, stride=211, python=python, home=home
    )
    assert result["steps"] > 100

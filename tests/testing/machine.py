"""What a test needs of the machine; where that is missing the test skips by name."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from testing.installation import CLI, variables_of

NOBODY = 65534
PATHS = os.pathsep.join(sys.path)  # lets a child import what this process can
RUN = (
    "import sys\n"
    "from builtin_plugins.setup import main\n"
    "from host.errors import HostError\n"
    "try: sys.exit(main(sys.argv[1:]))\n"
    "except HostError as failure:\n"
    "    sys.stderr.write(f'error: {failure}\\n'); sys.exit(failure.status)"
)


def path_without(programs: Iterable[str], links: Path) -> str:
    """Return PATH without `programs`: of a folder with one of them it has `links` to the rest."""
    folders = []
    for count, folder in enumerate(os.environ["PATH"].split(os.pathsep)):
        if any(os.path.lexists(os.path.join(folder, name)) for name in programs):
            rest = links / str(count)
            rest.mkdir(parents=True)
            for name in set(os.listdir(folder)).difference(programs):
                (rest / name).symlink_to(os.path.join(os.path.abspath(folder), name))
            folder = str(rest)  # noqa: PLW2901
        folders.append(folder)
    return os.pathsep.join(folders)


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let this process write no larger files, and no part of a module that it compiles."""
    former = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    writes_no_modules, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, former[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, former)
        sys.dont_write_bytecode = writes_no_modules
        signal.signal(signal.SIGXFSZ, handler)


TOOL = {
    "name": "Tool",
    "description": "A tool",
    "entrypoint": "builtin_plugins.setup:main",
}


@contextmanager
def tool_run() -> Iterator[dict[str, str]]:
    """Give what a run of `setup tool` exports, of an installation that everybody may read."""
    with TemporaryDirectory() as directory:
        root = Path(directory)
        root.chmod(0o755)
        for name, content in (("core/cli", CLI), ("commands/setup/tool/command", TOOL)):
            path = root / f"{name}.json"
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps(content))
        yield variables_of(root, "setup", "tool")


def needs(*programs: str) -> None:
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")


def needs_mounts() -> None:
    needs("unshare", "mount")
    if subprocess.run(
        ["unshare", "-m", "true"], capture_output=True, check=False
    ).returncode:
        pytest.skip("no right to make a mount namespace")


def as_nobody() -> list[str]:
    """Return the start of a command line that runs what follows without any rights."""
    needs("setpriv")
    start = [
        shutil.which("setpriv") or "",
        *(f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
    ]
    code = "import requests, click, builtin_plugins.setup.command"
    tried = subprocess.run(
        [*start, sys.executable, "-c", code],
        env={"PYTHONPATH": PATHS},
        capture_output=True,
        check=False,
    )
    if tried.returncode:
        pytest.skip("nobody cannot start this interpreter")
    return start


def in_mounts(script: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script in a mount namespace of its own; `setup` in it is a setup run."""
    needs_mounts()
    with tool_run() as run:
        return subprocess.run(
            [
                "unshare",
                "-m",
                "sh",
                "-ec",
                'setup() { "$PYTHON" -c "$RUN" "$@"; }; ' + script,
            ],
            env={
                "PATH": os.environ["PATH"],
                "HOME": "/nonexistent",
                "PYTHON": sys.executable,
                "PYTHONPATH": PATHS,
                "RUN": RUN,
                **run,
                **environ,
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )


def validate(menu: os.PathLike[str]) -> None:
    """Check a menu entry with the desktop's own tool."""
    needs("desktop-file-validate")
    done = subprocess.run(
        ["desktop-file-validate", menu], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")

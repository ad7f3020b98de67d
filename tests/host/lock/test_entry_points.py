"""Which plugins installed distributions register."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.installation import Made

ASK = """from host.lock.entry_points import entry_points
for one in entry_points():
    print(one.name)
"""


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["FIFO", "directory"])
def test_metadata_that_is_no_file_stops_nobody(make, tmp_path: Path) -> None:
    for name, odd in (("a", "entry_points.txt"), ("b", "METADATA"), ("c", "")):
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        if odd != "METADATA":
            (info / "METADATA").write_text(
                f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
            )
        if odd != "entry_points.txt":
            (info / "entry_points.txt").write_text(f"[cli_host]\n{name} = {name}\n")
        if odd:
            make(info / odd)
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        env={"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    names = done.stdout.split()
    assert ("a" in names, "b" in names, "c" in names) == (False, False, True)


@pytest.fixture
def fedora(tmp_path: Path) -> tuple[dict[str, str], Path]:
    """A Python with `lib64`, a link to `lib`, as on Fedora: its environment and site-packages."""
    library = Path(sysconfig.get_path("stdlib"))
    home = tmp_path / "python"
    version = home / "lib" / library.name
    version.mkdir(parents=True)
    for entry in library.iterdir():
        if entry.name != "site-packages":
            (version / entry.name).symlink_to(entry)
    (home / "lib64").symlink_to("lib")
    packages = version / "site-packages"
    packages.mkdir()
    program = [path for path in sys.path if path.endswith(("/src", "/site-packages"))]
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PYTHONHOME": str(home),
        "PYTHONPLATLIBDIR": "lib64",
        "PYTHONPATH": os.pathsep.join(program),
    }
    return environ, packages


@pytest.mark.slow
def test_a_package_that_is_found_through_lib_and_lib64_is_one_plugin(
    fedora: tuple[dict[str, str], Path], install: Callable[..., Made]
) -> None:
    environ, packages = fedora
    info = packages / "ship-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ship\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[cli_host]\nship = ship\n")
    (packages / "ship.py").write_text(
        "from host import CommandDeclaration, hookimpl\n"
        "@hookimpl\n"
        "def discover_commands():\n"
        "    definition = {'name': 'it', 'description': 'd', 'entrypoint': 'os:getcwd'}\n"
        "    yield CommandDeclaration(('ship', 'it'), definition)\n"
    )
    made = install()
    python = os.path.realpath(sys.executable)  # outside the environment of the tests

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [python, *words],
            env={**environ, "CLI_DIR": str(made.root)},
            capture_output=True,
            text=True,
            check=False,
        )

    paths = run("-c", "import sys; print(*sys.path, sep='\\n')").stdout.split("\n")
    assert {str(packages), str(packages).replace("/lib/", "/lib64/")} <= {*paths}
    listed = run("-m", "host", "self", "plugin", "list")
    assert (listed.returncode, listed.stderr) == (0, "")
    [line] = [line for line in listed.stdout.splitlines() if line.startswith("ship ")]
    assert line.split()[2:4] == ["environment", "enabled"]
    assert run("-m", "host", "ship").stdout.count("  it  d") == 1
    report = run("-m", "host", "self", "doctor").stdout
    assert "ship" not in report  # neither broken nor hidden by itself

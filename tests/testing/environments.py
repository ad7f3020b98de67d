"""Virtual environments with this program in them."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from importlib.metadata import Distribution
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from builtin_plugins.plugins.package_folder import needed
from testing.installation import PROJECT


def made_once(
    factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]
) -> Path:
    """Return the directory `name` of this run of the tests, which one worker made for all.

    `make` gets its path; nobody may change what it made.
    """
    base = factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        base = base.parent
    target, whole = base / name, base / f"{name}.whole"
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not whole.exists():
            make(target)
            whole.touch()
    return target


def build_wheel(source: Path, target: Path) -> Path:
    """Build the wheel of a project into the folder `target`; return its path.

    The build backend is called as `python -m build` does it, without that program's processes.
    """
    program = "import sys, hatchling.build as backend; print(backend.build_wheel(sys.argv[1]))"
    command = [sys.executable, "-c", program, target]
    done = subprocess.run(
        command, cwd=source, check=True, capture_output=True, text=True
    )
    return target / done.stdout.split()[-1]


def make_environment(root: Path) -> None:
    """Make `venv` below `root` with pip, this program's wheel and what that needs.

    All but the wheel is copied from the tests' environment, where Python has compiled it: to
    install and compile it takes three times as long.
    """
    own = build_wheel(PROJECT, root / "own")
    python = root / "venv/bin/python"
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", root / "venv"], check=True
    )
    [library] = root.glob("venv/lib/python*/site-packages")
    copied: set[Path] = set()
    for distribution in _with_needed("pip", "cli-host"):
        if distribution.name != "cli-host":
            for file in distribution.files or ():
                if file.parts[0] != "..":  # no program
                    copied.add(Path(distribution.locate_file(file.parts[0])))
    subprocess.run(["cp", "-a", *copied, library], check=True)
    uv = Path(sys.executable).with_name("uv")
    command = [uv, "pip", "install", "--quiet", "--offline", "--no-deps"]
    subprocess.run([*command, "--python", python, own], check=True)
    packages = (library / "host", library / "builtin_plugins")
    subprocess.run([python, "-m", "compileall", "-q", *packages], check=True)


def _with_needed(*names: str) -> list[Distribution]:
    """Return the distributions of these names in the tests' environment, and all they need."""
    found: dict[str, Distribution] = {}
    waiting = [*names]
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name not in found:
            found[name] = Distribution.from_name(name)
            waiting += [one.name for one in needed(found[name])]
    return [*found.values()]


def fetch_packages(own: Path, folder: Path) -> None:
    """Bring into a folder a wheel of this program, and what to install, build and test it takes."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    names = ["pip", "pytest", "editables", *project["build-system"]["requires"]]
    command = [
        sys.executable,
        "-m",
        "pip",
        "-q",
        "download",
        "--dest",
        folder,
        own,
        *names,
    ]
    subprocess.run(command, check=True, capture_output=True)


def copy_environment(venv: Path, target: Path) -> Path:
    """Copy a venv; its programs start the copy's interpreter. Returns `target`."""
    subprocess.run(["cp", "-a", venv, target], check=True)
    for program in (target / "bin").iterdir():
        if not program.is_symlink():
            text = program.read_bytes()
            program.write_bytes(text.replace(os.fsencode(venv), os.fsencode(target)))
    return target


def make_plain_environment(packages: Path, target: Path) -> None:
    """Make a venv with a pip and what a build takes, unpacked."""
    command = [sys.executable, "-m", "venv", "--without-pip", target]
    subprocess.run(command, check=True)
    add_build_tools(target, packages)


def add_build_tools(venv: Path, packages: Path) -> dict[str, str]:
    """Put into an environment what a build takes, so that pip makes no other one for each.

    `packages` has the wheels. Returns the setting that tells pip so.
    """
    [library] = venv.glob("lib/python*/site-packages")
    for wheel in packages.glob("*.whl"):
        if not list(library.glob(f"{wheel.name.partition('-')[0]}-*")):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(library)
    return {"PIP_NO_BUILD_ISOLATION": "0"}  # pip's spelling of: without

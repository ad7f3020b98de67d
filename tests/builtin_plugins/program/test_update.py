"""`self update` with a local git remote, and with a local folder of wheels."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.environments import add_build_tools, build_wheel
from testing.installation import PROJECT, Made, Result
from testing.plugin_sources import Repository

NewVenv = Callable[[Path], Path]
LAUNCHER = "src/builtin_plugins/self_commands/templates/launcher/launcher.txt"
_SHIPPED = (
    *("pyproject.toml", "README.md", "LICENSE", "install.sh", ".gitignore"),
    *("src", "core", "commands", "config", "plugins", "release"),
)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's own files as a directory, without what an installation has of its own."""
    root = tmp_path_factory.mktemp("update") / "project"
    root.mkdir()
    names = subprocess.run(
        ["git", "ls-files", "-z", "-co", "--exclude-standard", *_SHIPPED],
        cwd=PROJECT,
        capture_output=True,
        check=True,
    )
    for name in names.stdout.decode().split("\0"):
        if name and (PROJECT / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(PROJECT / name, root / name)
    return root


def _set_version(root: Path, version: str) -> None:
    path = root / "pyproject.toml"
    path.write_text(
        re.sub(r'\nversion = ".*"', f'\nversion = "{version}"', path.read_text())
    )


def _build(root: Path, version: str, target: Path) -> Path:
    _set_version(root, version)
    return build_wheel(root, target)


def _install(python: Path, wheel: Path) -> None:
    """Put a wheel in the place of what the environment has, without this program."""
    uv = [
        Path(sys.executable).with_name("uv"),
        "pip",
        "install",
        "-q",
        "--offline",
        "--no-deps",
    ]
    command = [*uv, "--reinstall", "--python", python, wheel]
    subprocess.run(command, check=True, capture_output=True)


def test_a_package_upgrades_through_pip(
    source: Path, new_venv: NewVenv, tmp_path: Path
) -> None:
    wheels, home = tmp_path / "wheels", tmp_path / "home"
    home.mkdir()
    python = new_venv(tmp_path / "venv") / "bin/python"
    _install(python, _build(source, "0.1.0", wheels))
    root = tmp_path / "root"
    environ = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "PIP_COMPILE": "0"}
    made = Made(root, root / "core/cli", home, environ)
    assert (
        made.run("self", "init", str(root), executable=python.parent / "cli").status
        == 0
    )
    made.write({"config/settings.conf": "A=1\n", "core/lib/own.sh": "# mine\n"})
    current = made.launcher.read_text()
    made.launcher.write_text(current + "# older\n")  # as a kill may leave it
    assert made.run("self", "update").all == (0, "0.1.0 is the newest version\n", "")
    assert made.launcher.read_text() == current
    logger, launcher = source / "core/lib/logger.sh", source / LAUNCHER
    logger.write_text(logger.read_text() + "# newer\n")
    launcher.write_text(launcher.read_text().replace("@HEAD@\n", "@HEAD@\n# newer\n"))
    schema = source / "core/schema/command.schema.json"
    schema.write_text(schema.read_text() + "\n")
    _build(source, "0.2.0", wheels)
    shutil.rmtree(root / "plugins")
    # A change would make `plugins` and a copy of `venv`.
    before = (root.stat().st_mtime_ns, tmp_path.stat().st_mtime_ns)
    assert made.run("self", "update", "--check").all == (0, "0.1.0 → 0.2.0\n", "")
    assert (root.stat().st_mtime_ns, tmp_path.stat().st_mtime_ns) == before
    assert json.loads(
        made.run("self", "update", "--check", "--format", "json").stdout
    ) == {
        "version": "0.1.0",
        "newest": "0.2.0",
    }
    assert _version(python) == "0.1.0"
    assert made.run("self", "update").stdout == "0.1.0 → 0.2.0\nupdated\n"
    assert _version(python) == "0.2.0"
    assert (
        made.run("--version").stdout == "CLI 1.0.0\n"
    )  # the installation's, which did not change
    facts = json.loads(made.run("self", "version", "--format", "json").stdout)
    assert (facts["version"], facts["host"]) == ("1.0.0", "0.2.0")
    assert made.run("demo", "hello", "Ada").stdout == "Hello, Ada!\n"
    assert (root / "config/settings.conf").read_text() == "A=1\n"
    assert (root / "core/lib/own.sh").read_text() == "# mine\n"
    assert (root / "core/lib/logger.sh").read_text() == logger.read_text()
    assert (root / "core/schema" / schema.name).read_text() == schema.read_text()
    assert sorted(path.name for path in (root / "core").iterdir()) == [
        *("cli", "cli.json", "lib", "schema")
    ]
    assert (root / "core/cli").read_text().splitlines()[1] == "# newer"
    (source / "src/host/__main__.py").rename(source / "kept")
    (source / "src/host/__main__.py").write_text("def broken(:\n")
    try:
        _build(source, "0.3.0", wheels)
    finally:
        (source / "kept").replace(source / "src/host/__main__.py")
    failed = made.run("self", "update")
    assert failed.status == 1
    assert "the new version does not start" in failed.stderr
    assert _version(python) == "0.2.0"
    assert made.run("demo", "hello", "Ada").stdout == "Hello, Ada!\n"
    assert not (tmp_path / ".venv.cli-stage").exists()


def test_files_are_renewed_after_another_tool_upgraded_the_program(
    source: Path, new_venv: NewVenv, tmp_path: Path
) -> None:
    wheels, home, root = tmp_path / "wheels", tmp_path / "home", tmp_path / "root"
    home.mkdir()
    python = new_venv(tmp_path / "venv") / "bin/python"
    logger = source / "core/lib/logger.sh"
    there, schema = (
        root / "core/lib/logger.sh",
        root / "core/schema/command.schema.json",
    )
    made = Made(
        *(root, root / "core/cli", home),
        {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "PIP_COMPILE": "0"},
    )

    def upgrade(version: str) -> None:
        """Do what `pipx upgrade` does: nothing of the installation changes."""
        logger.write_text(logger.read_text() + f"# {version}\n")
        _install(python, _build(source, version, wheels))

    upgrade("0.1.0")
    assert (
        made.run("self", "init", str(root), executable=python.parent / "cli").status
        == 0
    )
    shipped = schema.read_text()
    schema.write_text("mine\n")
    upgrade("0.2.0")
    what = f"{there.parent.parent}: missing or from another version of this program: {there.name}\n"
    assert what in made.run("self", "doctor").stdout
    updated = made.run("self", "update")
    assert updated.stdout == "0.2.0 is the newest version\n"
    assert f"{schema}: kept because you changed it" in updated.stderr
    assert there.read_text() == logger.read_text()
    assert schema.read_text() == "mine\n"
    schema.write_text(shipped)
    upgrade("0.3.0")
    assert f"  fixed  {what}" in made.run("self", "doctor", "--fix").stdout
    assert there.read_text() == logger.read_text()
    assert "core/lib" not in made.run("self", "doctor").stdout
    upgrade("0.4.0")
    assert made.run("self", "uninstall", "--yes").status == 0
    assert not (root / "core").exists()


def _version(python: Path) -> str:
    program = "import importlib.metadata as m; print(m.version('cli-host'))"
    done = subprocess.run(
        [python, "-c", program], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_checkout_fast_forwards(
    source: Path, new_venv: NewVenv, offline: dict[str, str], tmp_path: Path
) -> None:
    _set_version(source, "0.1.0")
    remote = tmp_path / "remote"
    shutil.copytree(source, remote)
    repository = _Existing(remote)
    checkout, home = tmp_path / "checkout", tmp_path / "home"
    home.mkdir()
    subprocess.run(["git", "clone", "-q", repository.url, checkout], check=True)
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHON": sys.executable}
    venv = new_venv(checkout / ".venv")  # which install.sh takes as it is: it has pip
    offline = offline | add_build_tools(venv, Path(offline["PIP_FIND_LINKS"]))
    install = ["bash", checkout / "install.sh", "--bin-dir", tmp_path / "bin"]
    subprocess.run(install, env={**environ, **offline}, check=True, capture_output=True)
    made = Made(checkout, checkout / "core/cli", home, offline)
    made.write({"commands/own/hi/main.sh": "echo own", "config/settings.conf": "A=1\n"})
    made.run("own", "hi")
    first = repository.git("rev-parse", "HEAD")
    assert made.run("self", "update").stdout == f"{first[:12]} is the newest version\n"
    # The installation may be elsewhere: the program that runs is updated, from where it came.
    elsewhere = tmp_path / "elsewhere"
    assert made.run("self", "init", str(elsewhere), "--name", "acme").status == 0
    made = Made(elsewhere, elsewhere / "core/acme", home, offline)
    _set_version(remote, "0.2.0")
    second = repository.commit(
        {"commands/demo/fresh/main.sh": "echo fresh\n"}, ("LICENSE",)
    )
    said = f"{first[:12]} → {second[:12]}\n"
    assert made.run("self", "update", "--check").stdout == said
    assert _git(checkout, "rev-list", "--all", "--count") == "1"  # nothing was fetched
    (checkout / "LICENSE").write_text("mine")
    refused = made.run("self", "update")
    assert refused.status == 1
    assert "Entry 'LICENSE' not uptodate" in refused.stderr
    _git(checkout, "checkout", "--", "LICENSE")
    done = _update(made)
    assert done.status == 0, done.stderr
    assert _git(checkout, "rev-parse", "HEAD") == second
    assert _git(checkout, "status", "--porcelain", "--untracked-files=no") == ""
    assert (checkout / "commands/demo/fresh/main.sh").exists()
    assert not (checkout / "LICENSE").exists()
    assert _version(checkout / ".venv/bin/python") == "0.2.0"
    assert (checkout / "config/settings.conf").read_text() == "A=1\n"
    assert made.run("demo", "hello", "Ada").stdout == "Hello, Ada!\n"
    # What is installed is compared, not only the clone's HEAD.
    (checkout / ".venv/cli-host-commit").write_text(f"{first}\n")
    assert made.run("self", "update", "--check").stdout == said
    (checkout / ".venv/cli-host-commit").write_text(f"{second}\n")
    assert made.run("self", "update").stdout == f"{second[:12]} is the newest version\n"
    third = repository.commit({"src/host/__main__.py": "def broken(:\n"})
    failed = _update(made)
    assert failed.status == 1
    assert _git(checkout, "rev-parse", "HEAD") == second != third
    assert made.run("demo", "hello", "Ada").stdout == "Hello, Ada!\n"
    _git(
        checkout,
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@t",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "own",
    )
    assert "cannot be fast-forwarded" in made.run("self", "update").stderr


class _Existing(Repository):
    """A repository made of a directory that is there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.url = f"file://{path}"
        self.git("init", "-q", "-b", "main")
        self.commit({})


def _git(directory: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=directory, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def _update(made: Made) -> Result:
    return made.run("self", "update")

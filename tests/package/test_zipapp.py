"""The single file of release/zipapp, on a machine with Python and nothing else."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.installation import PROJECT

Run = Callable[..., "subprocess.CompletedProcess[str]"]

PLUGIN = """
from host import CommandDeclaration, hookimpl

@hookimpl
def discover_commands(installation):
    definition = {"name": "Zip", "description": "Python", "entrypoint": "zipfile:main"}
    yield CommandDeclaration(("cloud", "zip"), definition)
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def single_file(
    environment_of_all: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    [wheel] = (environment_of_all / "own").glob("*.whl")
    file = tmp_path_factory.mktemp("file") / "acme.pyz"
    command = [PROJECT / "release/zipapp", file, wheel]
    subprocess.run(command, check=True, env={**os.environ, "PYTHON": sys.executable})
    return file


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return `run(program, *words)`, which runs a program with a HOME and almost no variables."""
    python = tmp_path / "python"
    python.mkdir()
    (python / "python3").symlink_to(sys.executable)

    def run_clean(
        program: Path, *words: str, **more: str
    ) -> subprocess.CompletedProcess[str]:
        environ = {"HOME": str(tmp_path), "PATH": f"{python}:/usr/bin:/bin", **more}
        return subprocess.run(
            [program, *words], env=environ, capture_output=True, text=True, check=False
        )

    return run_clean


def test_it_runs_makes_an_installation_and_adds_a_plugin(
    single_file: Path, run: Run, tmp_path: Path
) -> None:
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    (scripts / "greet").write_text("#!/bin/sh\n# Greet somebody.\necho hi $1\n")
    (scripts / "greet").chmod(0o755)

    made = run(single_file, "self", "init")
    assert made.returncode == 0, made.stderr
    assert run(single_file, "demo", "hello", "Ada").stdout == "Hello, Ada!\n"
    added = run(single_file, "--yes", "self", "plugin", "add", str(scripts))
    assert added.returncode == 0, added.stderr
    launcher = tmp_path / ".local/bin/acme"
    assert run(launcher, "greet", "Bo").stdout == "hi Bo\n"
    assert (
        "greet" in run(launcher, "--complete", "bash", "1", "acme", "").stdout.split()
    )

    refused = run(launcher, "self", "update")
    core = tmp_path / ".local/share/acme/core/acme"
    remedy = f"python3 {single_file} self launcher {core}\n"
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.endswith(remedy)
    core.write_text(core.read_text() + "# of an older version\n")
    assert run(single_file, "self", "launcher", str(core)).returncode == 0
    assert "older" not in core.read_text()


@pytest.mark.night
def test_a_python_plugin_has_a_process_of_its_own(
    single_file: Path, run: Run, tmp_path: Path
) -> None:
    plugin = tmp_path / "cloud"
    plugin.mkdir()
    (plugin / "hooks.py").write_text(PLUGIN)
    (plugin / "plugin.json").write_text('{"name": "cloud", "hooks": "hooks.py"}')
    assert run(single_file, "self", "init").returncode == 0
    added = run(single_file, "--yes", "self", "plugin", "add", str(plugin))
    assert added.returncode == 0, added.stderr
    listed = run(single_file, "cloud", "zip", "--list", str(single_file))
    assert "site-packages/host/__init__.py" in listed.stdout, listed.stderr


@pytest.mark.night
def test_only_its_owner_may_read_or_change_what_it_unpacks(
    single_file: Path, run: Run, tmp_path: Path
) -> None:
    assert run(single_file, "--version").returncode == 0
    [environment] = (tmp_path / ".local/share/cli-host/programs").iterdir()
    assert stat.S_IMODE(environment.stat().st_mode) == 0o700
    before = sorted(environment.rglob("*"))
    assert run(single_file, "--version").returncode == 0
    assert sorted(environment.rglob("*")) == before

    # Whoever can write to a directory above can put another one in its place.
    for path in (environment, environment.parent, tmp_path / ".local/share", tmp_path):
        path.chmod(0o777)
        refused = run(single_file, "--version")
        assert (refused.returncode, refused.stdout) == (1, "")
        said = f"{path}: other users can change this directory; set XDG_DATA_HOME"
        assert said in refused.stderr
        # In a sticky directory, such as /tmp, only the owner of an entry can rename it.
        path.chmod(0o1777)
        is_refused = bool(run(single_file, "--version").returncode)
        assert is_refused == (path == environment)
        path.chmod(0o700)
    elsewhere = tmp_path / "open/home"
    elsewhere.mkdir(parents=True)
    elsewhere.parent.chmod(0o777)
    (elsewhere / "data").symlink_to(tmp_path / ".local/share")
    refused = run(single_file, "--version", XDG_DATA_HOME=str(elsewhere / "data"))
    assert f"{elsewhere.parent}: other users can change" in refused.stderr


@pytest.mark.night
def test_two_first_starts_at_once_leave_one_whole_environment(
    single_file: Path, tmp_path: Path
) -> None:
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    command = [sys.executable, single_file, "--version"]
    starts = [
        subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    outputs = [start.communicate()[0] for start in starts]
    assert [output.split()[0] for output in outputs] == ["cli-host"] * 3
    assert len(list((tmp_path / ".local/share/cli-host/programs").iterdir())) == 1


@pytest.mark.night
def test_the_same_sources_give_the_same_bytes(
    single_file: Path, environment_of_all: Path, tmp_path: Path
) -> None:
    [wheel] = (environment_of_all / "own").glob("*.whl")
    command = [PROJECT / "release/zipapp", tmp_path / "again.pyz", wheel]
    subprocess.run(command, check=True, env={**os.environ, "PYTHON": sys.executable})
    assert (tmp_path / "again.pyz").read_bytes() == single_file.read_bytes()

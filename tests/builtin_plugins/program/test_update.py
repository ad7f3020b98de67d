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
from testing.installation import PROJECT, Made
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


def _made(venv: Path, tmp_path: Path, environ: dict[str, str]) -> Made:
    """Make an installation of the program in an environment."""
    root, home = tmp_path / "root", tmp_path / "home"
    home.mkdir(exist_ok=True)
    made = Made(root, root / "core/cli", home, environ)
    done = made.run("self", "init", str(root), executable=venv / "bin/cli")
    assert done.status == 0, done.stderr
    return made


def _add_lines(source: Path, version: str, target: Path) -> str:
    """Build a version whose library, schema and launcher have one more line; return its library."""
    logger, schema = (
        source / "core/lib/logger.sh",
        source / "core/schema/command.schema.json",
    )
    logger.write_text(f"{logger.read_text()}# {version}\n")
    schema.write_text(f"{schema.read_text()}\n")
    launcher = source / LAUNCHER
    launcher.write_text(
        launcher.read_text().replace("@HEAD@\n", f"@HEAD@\n# {version}\n", 1)
    )
    _build(source, version, target)
    return logger.read_text()


@pytest.mark.night
def test_pip_upgrades_a_package(
    source: Path, new_venv: NewVenv, tmp_path: Path
) -> None:
    wheels = tmp_path / "wheels"
    environ = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "PIP_COMPILE": "0"}
    venv = new_venv(tmp_path / "venv")
    pip = [
        venv / "bin/python",
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--force-reinstall",
    ]
    _build(source, "0.1.0", wheels)
    # Not as a file: pip would record its address, from where no newer version comes.
    subprocess.run([*pip, "cli-host"], check=True, env=environ, capture_output=True)
    made = _made(venv, tmp_path, environ)
    root = made.root
    made.write({"config/settings.conf": "A=1\n", "core/lib/own.sh": "# mine\n"})
    (root / "core/lib/os.sh").write_text("# changed\n")
    logger = _add_lines(source, "0.2.0", wheels)

    line = f"{venv}/bin/python -I -m pip install --upgrade cli-host"
    assert made.run("self", "update", "--check").all == (0, f"{line}\n", "")
    facts = json.loads(made.run("self", "update", "--check", "--format", "json").stdout)
    assert facts == {"version": "0.1.0", "newest": None, "command": line}
    assert _version(venv / "bin/python") == "0.1.0"

    done = made.run("self", "update")
    assert (done.status, done.stdout.splitlines()[0]) == (0, line)
    assert _version(venv / "bin/python") == "0.2.0"
    assert made.run("--version").stdout == "CLI 1.0.0\n"  # the installation's
    assert (root / "core/lib/logger.sh").read_text() == logger
    assert (root / "core/cli").read_text().splitlines()[1] == "# 0.2.0"
    assert made.run("demo", "hello", "Ada").stdout == "Hello, Ada!\n"
    # The library is the program's; a file that the user changed has another name.
    assert (root / "core/lib/os.sh.old").read_text() == "# changed\n"
    assert done.stderr.splitlines()[-1].endswith("are now NAME.old: core/lib/os.sh")
    assert sorted(path.name for path in root.rglob("*.old")) == ["os.sh.old"]
    assert (root / "core/lib/own.sh").read_text() == "# mine\n"
    assert (root / "config/settings.conf").read_text() == "A=1\n"

    (wheels / "cli_host-0.3.0-py3-none-any.whl").write_text("damaged")
    failed = made.run("self", "update")
    assert failed.status == 1
    assert failed.stderr.splitlines()[-1] == (
        f"cli: {venv}/bin/python failed with status 1; to repeat: {line}"
    )
    assert made.run("demo", "hello", "Ada").stdout == "Hello, Ada!\n"


@pytest.mark.night
def test_uv_upgrades_its_tool(source: Path, packages: Path, tmp_path: Path) -> None:
    uv = str(Path(sys.executable).with_name("uv"))
    wheels, home = tmp_path / "wheels", tmp_path / "home"
    home.mkdir()
    _build(source, "0.1.0", wheels)
    environ = {
        "PATH": f"{Path(uv).parent}:{os.environ['PATH']}",
        "UV_TOOL_DIR": str(tmp_path / "tools"),
        "UV_TOOL_BIN_DIR": str(tmp_path / "bin"),
        "UV_FIND_LINKS": f"{wheels},{packages}",
        "UV_OFFLINE": "1",
        "UV_NO_INDEX": "1",
        "UV_CACHE_DIR": str(tmp_path / "cache"),
    }
    install = [uv, "tool", "install", "--python", sys.executable, "cli-host<0.2"]
    subprocess.run(
        install, check=True, env={"HOME": str(home), **environ}, capture_output=True
    )
    made = _made(tmp_path / "tools/cli-host", tmp_path, environ)
    done = made.run("self", "update")
    assert (done.status, done.stdout) == (0, "uv tool upgrade cli-host\n"), done.stderr
    gone = made.run("self", "uninstall", "--yes")
    assert (
        f"{tmp_path}/tools/cli-host: the program; to remove it: uv tool uninstall cli-host"
        in (gone.stdout)
    )


def test_files_after_another_tool_upgraded_the_program(
    new_venv: NewVenv, tmp_path: Path
) -> None:
    """As after `pipx upgrade`: the installation still has the files of the former version."""
    made = _made(new_venv(tmp_path / "venv"), tmp_path, {})
    root = made.root
    logger, schema = (
        root / "core/lib/logger.sh",
        root / "core/schema/command.schema.json",
    )
    own = logger.read_text(), schema.read_text()
    logger.write_text("# of another version\n")
    schema.unlink()
    what = f"{root}/core: missing or not as this program has them: logger.sh, {schema.name}"
    assert what in made.run("self", "doctor").stdout
    fixed = made.run("self", "doctor", "--fix")
    assert f"  fixed  {what}" in fixed.stdout
    moved = f"{root}: differed from this program's own and are now NAME.old: core/lib/logger.sh\n"
    assert fixed.stderr == moved
    assert (logger.read_text(), schema.read_text()) == own
    assert (root / "core/lib/logger.sh.old").read_text() == "# of another version\n"
    assert "core/lib" not in made.run("self", "doctor").stdout

    # A team that has the library in git decides itself.
    for words in ("init", "-q"), ("add", "-f", "core/lib"):
        subprocess.run(["git", *words], cwd=root, check=True)
    logger.write_text("# of the team\n")
    checked = made.run("self", "doctor", "--fix")
    assert (
        f"{root}/core: in git, and not as this program has them: logger.sh"
        in checked.stdout
    )
    assert logger.read_text() == "# of the team\n"


def _version(python: Path) -> str:
    program = "import importlib.metadata as m; print(m.version('cli-host'))"
    done = subprocess.run(
        [python, "-c", program], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(
    source: Path, new_venv: NewVenv, offline: dict[str, str], tmp_path: Path
) -> tuple[Made, _Existing]:
    """A clone in which install.sh ran, with an installation elsewhere, and the clone's remote."""
    _set_version(source, "0.1.0")
    remote = tmp_path / "remote"
    shutil.copytree(source, remote)
    repository = _Existing(remote)
    clone, home = tmp_path / "clone", tmp_path / "home"
    home.mkdir()
    subprocess.run(["git", "clone", "-q", repository.url, clone], check=True)
    venv = new_venv(clone / ".venv")  # which install.sh takes as it is: it has pip
    offline = offline | add_build_tools(venv, Path(offline["PIP_FIND_LINKS"]))
    offline |= {"BIN_DIR": str(tmp_path / "bin"), "PYTHON": sys.executable}
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), **offline}
    install = ["bash", clone / "install.sh"]
    subprocess.run(install, env=environ, check=True, capture_output=True)
    elsewhere = tmp_path / "elsewhere"
    made = Made(clone, clone / "core/cli", home, offline)
    assert made.run("self", "init", str(elsewhere), "--name", "acme").status == 0
    return Made(elsewhere, elsewhere / "core/acme", home, offline), repository


def test_a_clone_is_pulled_and_installed(
    checkout: tuple[Made, _Existing], tmp_path: Path
) -> None:
    made, remote = checkout
    clone = tmp_path / "clone"
    first = remote.git("rev-parse", "HEAD")
    made.write({"config/settings.conf": "A=1\n"})
    _set_version(remote.path, "0.2.0")
    second = remote.commit(
        {"commands/demo/fresh/main.sh": "echo fresh\n"}, ("LICENSE",)
    )

    said = f"{first[:12]} → {second[:12]}\n"
    assert made.run("self", "update", "--check").all == (0, said, "")
    assert _git(clone, "rev-list", "--all", "--count") == "1"  # nothing was fetched
    (clone / "LICENSE").write_text("mine")
    refused = made.run("self", "update")
    assert refused.all == (
        1, "", f"acme: {clone}: 1 tracked file changed: LICENSE; git -C {clone} stash\n"
    )  # fmt: skip
    _git(clone, "checkout", "--", "LICENSE")

    # Neither modules of the caller's directory are imported, nor its repository is pulled.
    (tmp_path / "types.py").write_text("raise SystemExit('mine')\n")
    done = made.run("self", "update", env={"GIT_DIR": "/nowhere"}, cwd=tmp_path)
    lines = [f"git -C {clone} pull --ff-only", f"bash {clone}/install.sh"]
    assert (
        done.status,
        [line for line in done.stdout.splitlines() if line in lines],
    ) == (
        0,
        lines,
    )
    assert _git(clone, "rev-parse", "HEAD") == second
    assert _git(clone, "status", "--porcelain") == ""
    assert _version(clone / ".venv/bin/python") == "0.2.0"
    assert (made.root / "config/settings.conf").read_text() == "A=1\n"
    assert made.run("demo", "hello", "Ada").stdout == "Hello, Ada!\n"
    assert "launcher" not in made.run("self", "doctor").stdout
    assert (
        made.run("self", "update", "--check").stdout
        == f"{second[:12]} is the newest version\n"
    )

    commit = (
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@t",
        "commit",
        "-q",
        "--allow-empty",
    )
    _git(clone, *commit, "-m", "own")
    refused = made.run("self", "update")
    assert (refused.status, refused.stdout) == (1, "")
    assert refused.stderr == (
        f"acme: {clone}: has 1 commit that its remote lacks;"
        f" git -C {clone} pull --rebase && bash {clone}/install.sh\n"
    )


@pytest.mark.night
def test_an_interrupted_update_of_a_clone_is_repeated(
    checkout: tuple[Made, _Existing], tmp_path: Path
) -> None:
    """A kill while git writes the files: some are missing, among them pyproject.toml."""
    made, remote = checkout
    clone = tmp_path / "clone"
    _set_version(remote.path, "0.2.0")
    second = remote.commit({})
    _git(clone, "pull", "-q", "--ff-only")
    (clone / "pyproject.toml").unlink()
    # It is the clone that is wrong, and not a package from an index.
    stopped = made.run("self", "update")
    assert stopped.status == 1
    assert stopped.stderr.startswith(
        f"acme: {clone}: 1 tracked file changed: pyproject.toml; "
    )
    _git(clone, "stash")
    # The files have the newest version; the installed program does not.
    said = made.run("self", "update", "--check").stdout
    assert said.endswith(f" → {second[:12]}\n")
    assert made.run("self", "update").status == 0
    assert _version(clone / ".venv/bin/python") == "0.2.0"

    broken = remote.commit({"pyproject.toml": "[project]\n"})
    failed = made.run("self", "update")
    assert failed.status == 1
    assert failed.stderr.splitlines()[-1] == (
        f"acme: bash failed with status 1; to repeat: bash {clone}/install.sh"
    )
    assert _git(clone, "rev-parse", "HEAD") == broken


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

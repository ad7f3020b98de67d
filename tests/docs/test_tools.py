"""The table of pipx and uv in the page about installing: the test calls each command."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from testing.environments import build_wheel, made_once
from testing.installation import PROJECT
from testing.packages import PLUGIN
from testing.pages import clone
from testing.plugin_sources import wheel

PAGE = PROJECT / "docs/how-to/install.md"
TOOLS = {"pipx": "pip", "pipx with uv": "uv", "uv": ""}


class Reader:
    """A home with nothing in it, whose packages come from one folder."""

    def __init__(self, home: Path, packages: Path, backend: str) -> None:
        (home / ".config/uv").mkdir(parents=True)
        (home / ".config/uv/uv.toml").write_text(
            f'no-index = true\nfind-links = ["{packages}"]\n'
        )
        path = f"{home}/.local/bin:{Path(sys.executable).parent}:{os.environ['PATH']}"
        pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(packages), "PIP_COMPILE": "0"}
        self.home = home
        self.environ = {
            "HOME": str(home),
            "PATH": path,
            "UV_PYTHON": sys.executable,
            **pip,
        }
        if backend:
            self.environ["PIPX_DEFAULT_BACKEND"] = backend

    def __call__(self, command: str, status: int = 0) -> str:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.home,
            env=self.environ,
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
            text=True,
        )
        assert done.returncode == status, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a newer version of this program."""
    [made] = made_once(tmp_path_factory, "newer", _build_newer).glob("*.whl")
    return made


def _build_newer(folder: Path) -> None:
    source = folder / "source"
    clone(source)
    project = source / "pyproject.toml"
    project.write_text(
        project.read_text().replace('version = "0.1.0"', 'version = "9.0"', 1)
    )
    build_wheel(source, folder)


@pytest.mark.night
@pytest.mark.parametrize("tool", TOOLS)
def test_commands_of_the_table(
    tool: str, packages: Path, newer: Path, tmp_path: Path
) -> None:
    row = rf"^\| {tool.split(maxsplit=1)[0]} \|(.*)\|$"
    found = re.search(row, PAGE.read_text(), re.MULTILINE)
    assert found is not None
    install, upgrade, uninstall = re.findall(r"`(.*?)`", found[1])
    folder = tmp_path / "packages"
    subprocess.run(["cp", "-a", packages, folder], check=True)
    for name, word in (("acme-cli", "acme"), ("other-cli", "other")):
        package = name.replace("-", "_")
        text = PLUGIN.format(name=name, package=package, version="1.0").replace(
            "cloud", word
        )
        wheel(folder, name, "1.0", text)
    reader = Reader(tmp_path / "home", folder, TOOLS[tool])
    reader(install)
    assert reader("cli --version") == "cli-host 0.1.0\n"
    [start] = re.findall("`(cli self init && .*?)`", PAGE.read_text())
    assert reader(start).splitlines()[-1].startswith("Hello, ")
    assert reader("cli self init").endswith("\nstart with: cli\n")
    reader("cli self init ~/acme --name acme")
    assert reader("acme demo hello Ada") == "Hello, Ada!\n"
    [advice] = [
        line for line in reader("cli self init ~/two").splitlines() if " NAME: " in line
    ]
    reader(advice.partition(" NAME: ")[2].replace("NAME", "two"))
    assert reader("two demo hello Ada") == "Hello, Ada!\n"
    reader("rm ~/.local/bin/two ~/.local/bin/acme")
    reader("cli self plugin add pip:other-cli")
    assert reader("cli other py") == "py 1.0\n"
    shutil.copy(newer, folder)
    reader(upgrade)
    assert reader("CLI_DIR=/dev/null cli --version") == "cli-host 9.0\n"
    assert reader("cli other py") == "py 1.0\n"  # its folder stays
    reader(uninstall)
    assert not list((tmp_path / "home/.local/bin").iterdir())

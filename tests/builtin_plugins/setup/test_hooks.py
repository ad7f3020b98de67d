"""What a listing asks of the installer, and a whole life of a tool through the real program."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builtin_plugins.setup import command as setup
from builtin_plugins.setup import hooks as setup_installer
from builtin_plugins.setup.tool_settings import ToolSettings
from testing import httpserver
from testing.installation import PROJECT
from testing.machine import PATHS, tool_run

HEAVY = """
import sys
from types import SimpleNamespace
from builtin_plugins.setup.hooks import ENTRYPOINT, is_installed
definition = SimpleNamespace(entrypoint=ENTRYPOINT, envs={}, name="Tool")
assert is_installed(SimpleNamespace(words=("setup", "tool"), definition=definition)) is False
heavy = {"requests", "urllib3", "tarfile", "zipfile", "click"}
heavy |= {"builtin_plugins.library.versioned_directory"}
print(sorted(heavy & set(sys.modules)))
"""


class _Command:
    """As much of a listing's record as the hook looks at."""

    def __init__(self, entrypoint: str, envs: dict[str, str]) -> None:
        self.words = ("setup", "tool")
        self.definition = type(
            "D", (), {"entrypoint": entrypoint, "envs": envs, "name": "Tool"}
        )


def test_the_hook_answers_for_its_own_commands_only(
    site: httpserver.Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    envs = {
        "BASE": str(tmp_path),
        "TOOL_INSTALL_DIR": "$BASE/opt",
        "TOOL_BIN_DIR": "${BASE}/bin",
        "TOOL_DESKTOP_FILE": "$BASE/t.desktop",
    }
    ours = _Command("builtin_plugins.setup:main", envs)
    assert setup_installer.is_installed(_Command("main.sh", envs)) is None
    assert setup_installer.is_installed(ours) is False
    environ = {
        name: text.replace("$BASE", str(tmp_path)) for name, text in envs.items()
    }
    environ |= {
        "TOOL_BIN_DIR": f"{tmp_path}/bin",
        "TOOL_DOWNLOAD_URL": f"{site.address}/one",
    }
    with tool_run() as run:
        setup.run([], environ | run, "linux")
    assert setup_installer.is_installed(ours) is True
    monkeypatch.setenv("TOOL_BIN_DIR", "/nowhere")
    assert setup_installer.is_installed(ours) is False


def test_the_hook_imports_nothing_heavy() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            HEAVY,
        ],
        env={"PYTHONPATH": PATHS},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


def test_places_without_variables_are_the_usual_ones() -> None:
    paths = ToolSettings.read("tool", "Tool", {}).paths
    assert (paths.install_dir, paths.link, paths.desktop_file) == (
        "/opt/tool",
        "/usr/local/bin/tool",
        "/usr/share/applications/tool.desktop",
    )


@pytest.mark.slow
def test_a_new_installation_from_listing_to_listing(
    install: Callable[..., Any], site: httpserver.Site, tmp_path: Path
) -> None:
    """As a new user would: a second tool by copying a directory and editing its JSON."""
    shipped = PROJECT / "commands" / "setup" / "postman" / "command.json"
    definition = json.loads(shipped.read_text().replace("POSTMAN", "TOOL"))
    definition |= {"name": "Tool", "description": "A copy"}
    definition["envs"] |= {
        "TOOL_DOWNLOAD_URL": f"{site.address}/one",
        "TOOL_INSTALL_DIR": str(tmp_path / "opt" / "tool"),
        "TOOL_BIN_DIR": str(tmp_path / "bin"),
        "TOOL_DESKTOP_FILE": str(tmp_path / "share" / "tool.desktop"),
        "TOOL_ICON_URL": "",
        "TOOL_ICON": "app/resources/icon.png",
        "TOOL_LAUNCHER": "Tool",
    }
    made = install({"commands/setup/tool/command.json": definition})
    run = made.run
    assert "✓" not in run("setup").stdout
    done = run("setup", "tool")
    assert (done.status, done.stdout) == (0, ""), done.stderr
    assert f"Tool is installed: {tmp_path}/bin/tool" in done.stderr
    assert "✓" in run("setup", env={"LC_ALL": "C.UTF-8"}).stdout
    assert (
        subprocess.check_output([tmp_path / "bin/tool"], text=True) == "version one\n"
    )
    done = run("setup", "tool", "-u", env={"TOOL_DOWNLOAD_URL": f"{site.address}/two"})
    assert done.status == 0, done.stderr
    assert (
        subprocess.check_output([tmp_path / "bin/tool"], text=True) == "version two\n"
    )
    for word in ("--help", "-h"):
        shown = run("setup", "tool", word).stdout
        assert "TOOL_LAUNCHER" in shown
        assert "--uninstall" in shown
    assert run("setup", "tool", "--uninstall").status == 0
    assert "✓" not in run("setup").stdout
    assert run("setup", "tool", "-u").all == (
        1,
        "",
        "cli setup tool: Tool is not installed\n",
    )
    assert run("setup", "tool", "-q", "-v").all == (
        2,
        "",
        "cli setup tool: argument -v/--verbose: not allowed with argument -q/--quiet\n",
    )


@pytest.mark.parametrize("word", ["--help", "-h"])
@pytest.mark.parametrize(
    "own", [True, False], ids=["the shipped definition", "the least one"]
)
def test_help_sources_settings_at_most_once(
    own: bool, word: str, install: Callable[..., Any]
) -> None:
    """The page said where values come from, for which the environment was made three times."""
    path = PROJECT / "commands" / "setup" / "postman" / "command.json"
    fields = json.loads(path.read_text())
    if not own:
        fields = {
            key: fields[key] for key in ("name", "description", "entrypoint", "envs")
        }
    made = install(
        {
            "commands/setup/postman/command.json": fields,
            "config/settings.conf": 'echo sourced >> "$HOME/log"\nPOSTMAN_ICON=mine\n',
        }
    )
    done = made.run("setup", "postman", word, env={"POSTMAN_LAUNCHER": "other"})
    assert done.status == 0
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert any(
        one.split() == ["POSTMAN_LAUNCHER", "other", "←", "your", "environment"]
        for one in lines
    )
    source = "command.json: envs.POSTMAN_INSTALL_DIR"
    assert any(
        re.fullmatch(rf" *POSTMAN_INSTALL_DIR +/opt/postman +← {source}", one)
        for one in lines
    )
    assert ("--uninstall" in done.stdout) == own
    log = made.home / "log"
    assert (log.read_text().count("sourced") if log.exists() else 0) == (
        0 if own else 1
    )

"""The pages that a reader follows with an installed program: every command shown is run."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.installation import PROJECT
from testing.pages import GUIDES, PEERS, matches, run_all, steps_of

# Programs that a page needs beside those that all need.
_NEEDED = {"docs/coming-from/make.md": "make", "docs/coming-from/npm.md": "node"}
_SECTION = re.compile(r"^## (\S+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_PEERS = {
    name: text
    for name, text in _SECTION.findall((PROJECT / PEERS[0]).read_text())
    if steps_of(text)
}


@pytest.fixture
def reader(
    new_venv: Callable[[Path], Path], offline: dict[str, str], tmp_path: Path
) -> dict[str, str]:
    """The environment of somebody who has just installed the program, with packages at hand."""
    home = tmp_path / "home"
    (home / ".local/bin").mkdir(parents=True)
    (home / ".local/share").mkdir()
    venv = new_venv(home / ".local/share/venv")
    (home / ".local/bin/cli").symlink_to(venv / "bin/cli")
    git = {
        f"GIT_{who}_{what}": "reader@example.com"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    return {
        **offline,
        **git,
        "PATH": f"{home}/.local/bin:{os.environ['PATH']}",
        "HOME": str(home),
        "USER": "reader",
        "LANG": "C.UTF-8",
    }


def check(text: str, reader: dict[str, str]) -> None:
    steps = steps_of(text)
    shown = run_all(steps, Path(reader["HOME"]), reader)
    assert len(shown) == len(steps), shown
    for step, output in zip(steps, shown, strict=True):
        assert matches(step.expected, output), f"$ {step.command}\n{output}"


# Each of these installs packages several times.
_LONG_PAGES = ("docs/for-a-team.md", "docs/how-to/install.md")


def _marked(page: str) -> object:
    return pytest.param(page, marks=pytest.mark.night) if page in _LONG_PAGES else page


@pytest.mark.parametrize("page", [_marked(page) for page in GUIDES])
def test_every_command_of(page: str, reader: dict[str, str]) -> None:
    if not shutil.which(_NEEDED.get(page, "bash")):
        pytest.skip(f"needs {_NEEDED[page]}")
    check((PROJECT / page).read_text(), reader)


@pytest.mark.parametrize("peer", _PEERS)
@pytest.mark.night
def test_what_is_said_of_another_tool(peer: str, reader: dict[str, str]) -> None:
    reader["PATH"] = f"{Path(sys.executable).parent}:{reader['PATH']}"
    if peer != "cli-host" and not shutil.which(peer, path=reader["PATH"]):
        pytest.skip(f"needs {peer}")
    check(_PEERS[peer], reader)

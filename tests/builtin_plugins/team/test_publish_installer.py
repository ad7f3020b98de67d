"""`self publish-installer`: one line for a colleague's machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from testing.team import Team


@pytest.fixture
def script(tmp_path: Path) -> str:
    team = Team(tmp_path / "first")
    assert team.init().status == 0
    done = team.colleague.run("self", "publish-installer")
    assert (done.status, done.stderr) == (0, "")
    return done.stdout


def test_it_is_one_function_called_on_the_last_line(script: str) -> None:
    lines = script.splitlines()
    assert len(lines) <= 60
    assert lines[-1] == 'install_program "$@"'
    top = [line for line in lines if line and line[0] not in " #"]
    assert top == ["install_program() {", "}", lines[-1]]
    for shell in ("sh", "bash"):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


@pytest.mark.parametrize("by", [pytest.param("pip", marks=pytest.mark.night), "uv"])
def test_one_line_leads_to_the_first_command(
    script: str, tmp_path: Path, packages: Path, offline: dict[str, str], by: str
) -> None:
    home, tools = tmp_path / "home", tmp_path / "tools"
    home.mkdir()
    tools.mkdir()
    python = f'#!/bin/sh\nexec {sys.executable} "$@"\n'
    if by == "uv":  # a Python that cannot make environments is not suitable
        uv = Path(sys.executable).with_name("uv")
        (tools / "uv").symlink_to(uv)
        python = f'#!/bin/sh\ncase "$*" in *ensurepip*) exit 1 ;; esac\n{python[10:]}'
    for name in ("python3", "python3.14", "python3.13", "python3.12", "python3.11"):
        (tools / name).write_text(python)
        (tools / name).chmod(0o755)
    environ = {
        **offline,
        "UV_OFFLINE": "1",
        "UV_FIND_LINKS": str(packages),
        "UV_NO_CACHE": "1",
        "HOME": str(home),
        "PATH": f"{home}/.local/bin:{tools}:/usr/bin:/bin",
        "SHELL": "/bin/bash",
    }
    here = tmp_path / "here"
    here.mkdir()
    (here / "uv.toml").write_text("the settings of a stranger")
    (here / "types.py").write_text("raise SystemExit('of a stranger')")
    for _ in range(2 if by == "uv" else 1):  # a second time changes nothing
        done = subprocess.run(
            ["sh"],
            input=script,
            cwd=here,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.endswith(
            "start with: acme\nto stay current: acme self sync\n"
        )
    settings = home / ".local/share/cli-host-environment/pyvenv.cfg"
    assert ("\nuv = " in settings.read_text()) == (by == "uv")
    acme = os.fspath(home / ".local/bin/acme")
    hello = subprocess.run(
        [acme, "deploy", "staging"], env=environ, capture_output=True, check=True
    )
    assert hello.stdout == b"staging\n"


def test_without_a_known_source_it_must_be_named(tmp_path: Path) -> None:
    team = Team(tmp_path)
    assert team.init().status == 0
    (team.root / ".git/config").unlink()
    done = team.colleague.run("self", "publish-installer")
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr.endswith("record its source; add SOURCE\n")
    named = team.colleague.run(
        "self", "publish-installer", "https://git.example.com/cli.git"
    )
    assert (
        "self init --from https://git.example.com/cli.git --name acme" in named.stdout
    )
    odd = tmp_path / "odd\ntouch x"
    odd.mkdir()
    refused = team.colleague.run("self", "publish-installer", str(odd))
    assert (refused.status, refused.stdout) == (2, "")
    assert refused.stderr.endswith("\\ntouch x: contains a control character\n")


@pytest.mark.parametrize(
    "source", ["http://git.example.com/cli.tar.gz", "HTTP://127.0.0.1:8000/cli.zip"]
)
@pytest.mark.night
def test_http_is_refused(tmp_path: Path, source: str) -> None:
    team = Team(tmp_path)
    assert team.init().status == 0
    done = team.colleague.run("self", "publish-installer", source)
    said = f"acme: {source.lower()}: http is not safe for an installer; "
    said += "use https, ssh, git or file\n"
    assert (done.status, done.stdout, done.stderr.lower()) == (2, "", said)
    team.git("config", "remote.origin.url", source)
    done = team.colleague.run("self", "publish-installer")
    assert (done.status, done.stdout, done.stderr.lower()) == (2, "", said)


def test_downloads_never_leave_https(script: str) -> None:
    downloads = [line for line in script.splitlines() if "curl" in line]
    assert len(downloads) == 2
    assert all("curl --proto '=https' -LsSf " in line for line in downloads)

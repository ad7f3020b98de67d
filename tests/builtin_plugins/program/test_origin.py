"""Who installed the program: `self update --check` names the command of each installer."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.installation import Made

Install = Callable[..., Made]

# A package manager that owns the program, and the command that updates it.
MANAGERS = {
    "dpkg-query": (
        'echo "python3-cli-host: $2"',
        "sudo apt-get install --only-upgrade python3-cli-host",
    ),
    "rpm": ("printf cli-host", "sudo dnf upgrade cli-host"),
    "pacman": ("echo cli-host", "sudo pacman -S cli-host"),
}


@pytest.mark.parametrize("manager", MANAGERS)
def test_a_package_managers_program(
    install: Install, tmp_path: Path, manager: str
) -> None:
    says, remedy = MANAGERS[manager]
    tools = tmp_path / "tools"
    tools.mkdir()
    # The other managers of this machine do not own the program.
    for name in MANAGERS:
        (tools / name).write_text(
            f"#!/bin/sh\n{says if name == manager else 'exit 1'}\n"
        )
        (tools / name).chmod(0o755)
    made = install()
    path = {"PATH": f"{tools}:{os.environ['PATH']}"}
    refused = made.run("self", "update", env=path)
    assert (refused.status, refused.stdout) == (1, "")
    assert refused.stderr.endswith(
        f"__init__.py: a package manager installed this program; {remedy}\n"
    )
    assert made.run("self", "update", "--check", env=path).all == (0, f"{remedy}\n", "")


_ADDRESS = "git+https://git.example/cli-host.git"
# Files of the environment, the command, and whether `self update` runs it.
MARKS = {
    "pip": ({}, "{venv}/bin/python -I -m pip install --upgrade cli-host", True),
    "uv": (
        {"INSTALLER": "uv\n"},
        "uv pip install --project {venv} --python {venv}/bin/python --upgrade cli-host",
        True,
    ),
    "uv tool": ({"uv-receipt.toml": ""}, "uv tool upgrade venv", True),
    "pipx": ({"pipx_metadata.json": "{}"}, "pipx upgrade venv", True),
    "conda": ({"INSTALLER": "conda\n"}, "conda update cli-host", False),
    "other": ({"INSTALLER": "poetry 2.1\n"}, "update it with poetry 2.1", False),
    "address": (
        {"direct_url.json": json.dumps({"url": _ADDRESS, "vcs_info": {}})},
        "{venv}/bin/python -I -m pip install --upgrade --force-reinstall"
        f" 'cli-host @ {_ADDRESS}'",
        False,
    ),
    "single file": (
        {"cli-host-archive": "/opt/acme.pyz\n"},
        "replace it by the file of the newer version, and run:"
        " python3 /opt/acme.pyz self launcher {root}/core/cli",
        False,
    ),
}


@pytest.mark.night
def test_the_mark_of_each_installer(
    new_venv: Callable[[Path], Path], tmp_path: Path
) -> None:
    venv, home, root = new_venv(tmp_path / "venv"), tmp_path / "home", tmp_path / "root"
    home.mkdir()
    made = Made(root, root / "core/cli", home)
    assert made.run("self", "init", str(root), executable=venv / "bin/cli").status == 0
    [metadata] = venv.glob("lib/python*/site-packages/cli_host-*.dist-info")
    (metadata / "direct_url.json").unlink()  # of the wheel that the tests install

    for files, line, is_run in MARKS.values():
        shown = line.format(venv=venv, root=root)
        former = {}
        for name, content in files.items():
            path = (
                metadata if name in ("INSTALLER", "direct_url.json") else venv
            ) / name
            former[path] = path.read_text() if path.exists() else None
            path.write_text(content)
        assert made.run("self", "update", "--check").all == (0, f"{shown}\n", "")
        if not is_run:
            refused = made.run("self", "update")
            assert (refused.status, refused.stdout) == (1, "")
            assert refused.stderr.endswith(f"; {shown}\n")
        for path, text in former.items():
            if text is None:
                path.unlink()
            else:
                path.write_text(text)

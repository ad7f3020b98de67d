"""Containers of podman itself, where podman can run one: see test_containers.py for the others."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Cli, rare

_CONFIGURATION = """
[containers]
netns = "none"
default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
init = false
[engine]
runtime = "{runtime}"
cgroup_manager = "cgroupfs"
events_logger = "file"
"""
_STORAGE = """
[storage]
driver = "vfs"
graphroot = "{directory}/store"
runroot = "{directory}/run"
"""


@pytest.fixture(scope="module")
def containers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Two containers, `box_1` and `box_2`, with only BusyBox; the environment to reach them."""
    busybox = shutil.which("busybox")
    if not busybox or not shutil.which("podman") or os.geteuid() != 0:
        pytest.skip("podman, busybox or root is missing")
    directory = tmp_path_factory.mktemp("podman")
    image = directory / "image.tar"
    _write_image(image, Path(busybox))
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(directory),
        "CONTAINERS_CONF": str(directory / "containers.conf"),
        "CONTAINERS_STORAGE_CONF": str(directory / "storage.conf"),
    }
    (directory / "storage.conf").write_text(_STORAGE.format(directory=directory))
    problem = "no runtime"
    for runtime in ("crun", "runc"):
        (directory / "containers.conf").write_text(
            _CONFIGURATION.format(runtime=runtime)
        )
        problem = _podman(environ, "import", str(image), "box") or _podman(
            environ, "run", "--rm", "box", "true"
        )
        if not problem:
            break
    if problem:
        pytest.skip(f"podman runs no container here: {problem}")
    names = ("box_1", "box_2")
    for name in names:
        _podman(environ, "run", "--detach", "--name", name, "box", "sleep", "3600")
    yield environ
    _podman(environ, "rm", "--force", "--time", "0", *names)


def _podman(environ: dict[str, str], *words: str) -> str:
    """Call podman; return the last line of its error, or "" for success."""
    argv = ["podman", *words]
    done = subprocess.run(
        argv, env=environ, capture_output=True, text=True, check=False, timeout=300
    )
    lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
    return lines[-1] if done.returncode else ""


def _write_image(image: Path, busybox: Path) -> None:
    listed = subprocess.run(
        [busybox, "--list"], capture_output=True, text=True, check=True
    )
    with tarfile.open(image, "w") as archive:
        for name in ("bin", "etc", "root", "proc", "dev", "sys", "tmp"):
            directory = tarfile.TarInfo(name)
            directory.type, directory.mode = (
                tarfile.DIRTYPE,
                0o1777 if name == "tmp" else 0o755,
            )
            archive.addfile(directory)
        archive.add(busybox.resolve(), "bin/busybox")
        for applet in {*listed.stdout.split()} - {"busybox"}:
            link = tarfile.TarInfo(f"bin/{applet}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            archive.addfile(link)
        accounts = b"root:x:0:0::/root:/bin/sh\n"
        passwd = tarfile.TarInfo("etc/passwd")
        passwd.size = len(accounts)
        archive.addfile(passwd, io.BytesIO(accounts))


@pytest.fixture
def boxes(cli: Cli, containers: dict[str, str]) -> Cli:
    cli.env.update(
        {name: value for name, value in containers.items() if name.startswith("CONT")}
    )
    cli.command('#!/bin/sh\necho "$1 $X $HOME $(cat)"\n', envs={"X": "it's"})
    (cli.root / "commands/demo/do/main.sh").chmod(0o755)
    return cli


@rare
def test_containers_of_podman(boxes: Cli, tmp_path: Path) -> None:
    """One test, because podman takes long to make containers."""
    _check_commands_and_files(boxes, tmp_path)
    _check_the_end(boxes)


def _check_commands_and_files(boxes: Cli, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"x" * 100_000)
    words = (
        "run",
        "--on",
        "podman:box_*",
        "--stdin",
        str(tmp_path / "in"),
        "--format",
        "json",
    )
    hosts = boxes.fleet(*words, "demo", "do", "é").hosts()
    shown = f"é it's /root {'x' * 100_000}\n"
    assert {name: host["stdout"] for name, host in hosts.items()} == {
        "box_1": shown,
        "box_2": shown,
    }, hosts


def _check_the_end(boxes: Cli) -> None:
    """A timeout leaves nothing; a container that is not there is unreachable."""
    on = ("--on", "podman:box_1,gone", "--format", "json")
    line = "trap '' TERM; echo up; sleep 765 & sleep 765; sleep 765"
    hosts = boxes.fleet("exec", *on, "--timeout", "8", "--shell", line).hosts()
    assert (hosts["box_1"]["state"], hosts["box_1"]["stdout"]) == ("timeout", "up\n")
    assert hosts["gone"]["state"] == "unreachable"
    assert "no such container" in hosts["gone"]["reason"]
    look = (
        "exec",
        "--on",
        "podman:box_1",
        "--format",
        "json",
        "--shell",
        "ps; ls -A /tmp",
    )
    shown = boxes.fleet(*look).hosts()["box_1"]["stdout"].splitlines()
    assert [line for line in shown if "sleep 3600" in line]
    assert [line for line in shown if "sleep 765" in line] == [], (
        "only zombies: [sleep]"
    )
    assert [line for line in shown if line.split()[2:3] == ["timeout"]] == []
    assert len([line for line in shown if line.startswith("cli-fleet.")]) == 1, (
        "this run's own"
    )

"""`fleet copy` and `fleet gather`: whole files, with the checksums of both ends."""

from __future__ import annotations

import hashlib
import io
import os
import signal
import tarfile
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import rig as rigs
from cli_host_fleet.captured import Captured
from cli_host_fleet.examining_view import ExaminingView
from cli_host_fleet.exec_words import ExecJob
from cli_host_fleet.fleet import Fleet, Options
from cli_host_fleet.gather_files import unpacked
from cli_host_fleet.json_view import JsonView
from cli_host_fleet.results import Result, State
from cli_host_fleet.ssh import Calling
from cli_host_fleet.ssh_transport import Ssh
from cli_host_fleet.transport import Host
from conftest import Cli, Done


def _sum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def files(cli: Cli, tmp_path: Path) -> Path:
    """A folder with a script, data and an empty folder; nothing of it is on web01 or web02."""
    for name in ("web01", "web02"):
        rigs.subprocess.run(
            ["rm", "-rf", cli.rig.machines[name].root / "opt" / "got"], check=True
        )
    made = tmp_path / "files"
    (made / "sub" / "empty").mkdir(parents=True)
    (made / "tool.sh").write_text("#!/bin/sh\necho tool\n")
    (made / "tool.sh").chmod(0o755)
    (made / "sub" / "a b'\n.txt").write_bytes(b"\0data")
    (made / ".hidden").write_text("hidden")
    return made


def _copy(cli: Cli, *words: object, on: str = "web[01-02]") -> Done:
    return cli.fleet("copy", *cli.on(on), "--format", "json", *map(str, words))


def test_a_folder_arrives_whole(cli: Cli, files: Path) -> None:
    done = _copy(cli, files, "/opt/got")
    assert (done.status, done.stderr) == (0, "")
    for name, host in done.hosts().items():
        place = cli.rig.machines[name].root / "opt" / "got"
        assert host["files"] == {
            "/opt/got/tool.sh": _sum(b"#!/bin/sh\necho tool\n"),
            "/opt/got/sub/a b'\n.txt": _sum(b"\0data"),
            "/opt/got/.hidden": _sum(b"hidden"),
        }
        assert os.access(place / "tool.sh", os.X_OK)
        assert (place / "sub" / "empty").is_dir()
        assert sorted(path.name for path in place.iterdir()) == [
            ".hidden",
            "sub",
            "tool.sh",
        ]
        assert host["stdout"] == ""


def test_where_a_file_goes(cli: Cli, files: Path) -> None:
    """A name, a directory that is there, one that is made, and the home directory."""
    tool = files / "tool.sh"
    paths = [
        ("/opt/got/", "/opt/got/tool.sh"),
        ("/opt/got", "/opt/got/tool.sh"),
        ("/opt/got/other", "/opt/got/other"),
        ("~/tool", "/root/tool"),
        ("tool2", "/root/tool2"),
    ]
    for to, path in paths:
        assert list(_copy(cli, tool, to, on="web01").hosts()["web01"]["files"]) == [
            path
        ]
    several = _copy(cli, tool, files / ".hidden", "/opt/got/new", on="web01")
    assert sorted(several.hosts()["web01"]["files"]) == [
        "/opt/got/new/.hidden",
        "/opt/got/new/tool.sh",
    ]


def test_what_cannot_be_copied(cli: Cli, files: Path) -> None:
    missing = _copy(cli, files / "nope", "/opt/got")
    assert (missing.status, missing.stdout) == (2, b"")
    assert missing.stderr == f"cli fleet copy: {files}/nope: no such file\n"
    nowhere = _copy(cli, files / "tool.sh", "/opt/nope/there", on="web01").hosts()[
        "web01"
    ]
    assert (nowhere["state"], nowhere["stderr"]) == (
        "failed",
        "there is no directory /opt/nope\n",
    )
    assert _copy(cli, files / "tool.sh", on="web01").status == 2


def test_text_names_no_file_twice_and_counts(cli: Cli, files: Path) -> None:
    done = cli.fleet("copy", *cli.on("web01"), str(files / "tool.sh"), "/opt/got/")
    assert (done.status, done.stdout) == (0, b"")
    assert done.stderr.splitlines()[1].split()[:3] == ["web01", "ok", "0"]


def test_a_copy_that_is_cut_leaves_the_old_file(cli: Cli, files: Path) -> None:
    """The command is stopped while it copies: no half file, and no copy beside it."""
    place = cli.rig.machines["web01"].root / "opt" / "got"
    place.mkdir()
    (place / "big").write_text("old")
    (files / "big").write_bytes(os.urandom(60_000_000))
    process = cli.start("copy", *cli.on("web01"), str(files / "big"), "/opt/got/big")
    rigs.wait_for(
        lambda: (
            any(path.name.startswith(".cli-fleet") for path in place.iterdir())
            or (place / "big").stat().st_size > 3
        ),
        "the copy has begun",
    )
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    machine = cli.rig.machines["web01"]
    rigs.wait_for(lambda: not machine.leftovers(), "the host cleans up")
    rigs.wait_for(
        lambda: [path.name for path in place.iterdir()] == ["big"], "no copy is left"
    )
    assert (place / "big").stat().st_size in (3, 60_000_000)


def _gather(cli: Cli, *words: object, on: str = "web[01-02]") -> Done:
    return cli.fleet("gather", *cli.on(on), "--format", "json", *map(str, words))


def test_files_of_each_host(cli: Cli, files: Path, tmp_path: Path) -> None:
    assert _copy(cli, files, "/opt/got").status == 0
    cli.rig.machines["web02"].root.joinpath("opt/got/.hidden").write_text("other")
    done = _gather(cli, "/opt/got", "/etc/host*name", tmp_path / "in")
    assert (done.status, done.stderr) == (0, "")
    for name, hidden in (("web01", "hidden"), ("web02", "other")):
        folder = tmp_path / "in" / name
        assert (folder / "opt/got/.hidden").read_text() == hidden
        assert (folder / "opt/got/sub/a b'\n.txt").read_bytes() == b"\0data"
        assert os.access(folder / "opt/got/tool.sh", os.X_OK)
        host = done.hosts()[name]
        assert host["files"]["/opt/got/.hidden"] == _sum(hidden.encode())
        assert "/etc/hostname" in host["files"]
        assert host["stdout"] == ""
        assert sorted(path.name for path in folder.iterdir()) == ["etc", "opt"]
    again = _gather(cli, "/opt/got/tool.sh", tmp_path / "in", on="web01")
    assert again.status == 0
    assert (tmp_path / "in/web01/opt/got/.hidden").exists(), "other files stay"


def test_a_link_is_followed_if_it_is_named(
    cli: Cli, files: Path, tmp_path: Path
) -> None:
    place = cli.rig.machines["web01"].root / "opt" / "got"
    place.mkdir()
    (place / "real").write_text("real")
    (place / "link").symlink_to("real")
    (place / "loop").symlink_to(".")
    done = _gather(cli, "/opt/got/link", tmp_path / "in", on="web01")
    assert list(done.hosts()["web01"]["files"]) == ["/opt/got/link"]
    done = _gather(cli, "/opt/got", tmp_path / "in", on="web01")
    assert list(done.hosts()["web01"]["files"]) == ["/opt/got/real"]


def test_what_cannot_be_gathered(cli: Cli, tmp_path: Path) -> None:
    done = _gather(cli, "/opt/nope*", tmp_path / "in", on="web01,down")
    assert (done.status, done.states()) == (
        4,
        {"web01": "failed", "down": "unreachable"},
    )
    assert done.hosts()["web01"]["stderr"] == "there is no /opt/nope*\n"
    (tmp_path / "file").write_text("")
    assert _gather(cli, "/etc/hostname", tmp_path / "file").status == 2


@pytest.mark.parametrize(
    "name", ["../out", "a/../../out", "/../out", "link/out"], ids=lambda name: name
)
def test_a_host_that_lies_writes_nowhere_else(tmp_path: Path, name: str) -> None:
    """A path upwards is refused, and a link is never made, so none can lead away."""
    sent = io.BytesIO()
    content = b"owned"
    sent.write(f"{_sum(content)}  /{name.lstrip('/')}\n".encode() + b"\0")
    with tarfile.open(fileobj=sent, mode="w") as archive:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, ".."
        archive.addfile(link)
        member = tarfile.TarInfo(name)
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    result = unpacked(Result("web01", "ok", 0), sent, str(tmp_path / "in" / "web01"))
    assert not (tmp_path / "in" / "out").exists()
    assert not (tmp_path / "out").exists()
    assert result.state == ("ok" if name == "link/out" else "failed")
    assert not (tmp_path / "in" / "web01" / "link").is_symlink()


@pytest.mark.parametrize("sent", [b"", b"no archive", b"\0rest", b"abc  /x\n\0"])
def test_a_host_that_sends_something_else(tmp_path: Path, sent: bytes) -> None:
    result: Any = unpacked(
        Result("web01", "ok", 0), io.BytesIO(sent), str(tmp_path / "in")
    )
    assert result.state == "failed"
    assert result.reason


def test_a_file_that_cannot_be_written_here_counts_as_a_failure(
    cli: Cli, tmp_path: Path
) -> None:
    """So the next batch does not start."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "web01").write_text("a file, not a directory")
    done = _gather(cli, "--serial", "1", "/etc/hostname", tmp_path / "in")
    assert done.states() == {"web01": "failed", "web02": "skipped"}, done


def test_while_the_output_of_a_host_is_examined_the_others_go_on(cli: Cli) -> None:
    """Unpacking can take long: here, until the second host has ended."""
    hosts = {name: Host(name) for name in ("web01", "web02")}
    job = ExecJob(hosts, ["echo", "hi"], (), "", is_line=False)
    job.connect(Ssh(Calling(str(cli.rig.ssh_config)), cli.environ()), None)
    second_has_ended = threading.Event()

    def examine(result: Result, _captured: Captured) -> Result:
        if result.host == "web02":
            second_has_ended.set()
            return result
        state: State = "ok" if second_has_ended.wait(60) else "failed"
        return replace(result, state=state)

    view = ExaminingView(JsonView(io.BytesIO(), "json", hosts), examine, ("stdout",))
    results = Fleet(job, Options(forks=1), view).run([*hosts])
    assert [(result.host, result.state) for result in results] == [
        ("web01", "ok"),
        ("web02", "ok"),
    ]

"""Plugins from archives, by path and over HTTP, honest and hostile ones."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builtin_plugins.library.archive import UnpackOptions, extract
from host.errors import OperationError
from testing import httpserver
from testing.installation import Made, Result, command
from testing.machine import files_of_at_most
from testing.plugin_sources import (
    hidden,
    listed,
    plugin,
    plugin_files,
    registry,
    tar_of,
    visible,
    write_tree,
    zip_of,
)

Install = Callable[..., Made]

SHAPES = {
    "flat": ("a.tar.gz", tar_of(plugin_files())),
    "one leading directory": ("a.tar.gz", tar_of(plugin_files(), "acme-1.0/")),
    "one category": (
        "a.tar.gz",
        tar_of({**plugin_files(), "demo/category.json": {"name": "D"}}),
    ),
    "zip": ("a.zip", zip_of(plugin_files())),
    "manifest below": ("a.tgz", tar_of(plugin_files(name="a", version="1"), "top/")),
}


@pytest.mark.parametrize(("name", "content"), SHAPES.values(), ids=SHAPES)
def test_shapes(install: Install, tmp_path: Path, name: str, content: bytes) -> None:
    made = install()
    (tmp_path / name).write_bytes(content)
    done = plugin(made, "add", str(tmp_path / name))
    assert done.status == 0, done.stderr
    assert made.run("demo", "hi", "x").stdout == "hi x\n"
    entry = registry(made)["a"]
    assert entry["sha256"] == hashlib.sha256(content).hexdigest()
    assert (entry["kind"], entry["source"]) == ("archive", str(tmp_path / name))
    assert hidden(made) == []


def test_over_http_with_a_checksum(install: Install, site: httpserver.Site) -> None:
    made = install()
    content = tar_of(plugin_files(version="1"))
    address = site.add("/acme.tar.gz", content)
    right = hashlib.sha256(content).hexdigest()
    wrong = plugin(made, "add", address, "--sha256", "0" * 64)
    assert (wrong.status, f"the SHA-256 is {right}" in wrong.stderr) == (1, True)
    assert visible(made) == hidden(made) == []
    assert plugin(made, "add", address, "--sha256", right.upper()).status == 0
    assert made.run("demo", "hi").stdout == "hi\n"
    site.add("/acme.tar.gz", tar_of(plugin_files(version="2")))
    assert plugin(made, "update").stdout.startswith(
        "acme: stays at 1; to change that: "
    )


def test_another_checksum_for_an_added_archive_is_checked(
    install: Install, site: httpserver.Site
) -> None:
    made = install()
    content = tar_of(plugin_files("demo/hi", "one", version="1"))
    address = site.add("/acme.tgz", content)
    assert plugin(made, "add", address).status == 0
    wrong = plugin(made, "add", address, "--sha256", "0" * 64)
    assert (wrong.status, wrong.stdout) == (1, "")
    assert hashlib.sha256(content).hexdigest() in wrong.stderr
    newer = tar_of(plugin_files("demo/hi", "two", version="2"))
    site.add("/acme.tgz", newer)
    done = plugin(made, "add", address, "--sha256", hashlib.sha256(newer).hexdigest())
    assert "updated acme\n" in done.stdout
    assert made.run("demo", "hi").stdout == "two\n"


def test_rollback_prefers_a_version_that_is_not_the_current_one(
    install: Install, site: httpserver.Site
) -> None:
    made = install()
    names = []
    for says in ("one", "two"):
        content = tar_of(plugin_files("demo/hi", says, version="1"))
        names.append(hashlib.sha256(content).hexdigest()[:16])
        address = site.add("/acme.tgz", content)
        words = ("add", address) if says == "one" else ("update",)
        assert plugin(made, *words).status == 0
    done = plugin(made, "rollback", "acme", "1")
    assert done.all == (0, f"acme: {names[1]} → {names[0]}\n", "")
    assert made.run("demo", "hi").stdout == "one\n"


def test_updates_and_rolls_back(install: Install, site: httpserver.Site) -> None:
    made = install()
    address = site.add("/acme.zip", zip_of(plugin_files("demo/hi", "one", version="1")))
    assert plugin(made, "add", address).status == 0
    assert "is the newest" in plugin(made, "update").stdout
    site.add("/acme.zip", zip_of(plugin_files("demo/hi", "two", version="2")))
    assert (
        plugin(made, "update").stdout
        == "acme: 1 → 2\n  ~ demo hi  says two\nupdated acme\n"
    )
    assert made.run("demo", "hi").stdout == "two\n"
    site.add("/acme.zip", b"<html>not found")
    assert plugin(made, "update").status == 1
    assert made.run("demo", "hi").stdout == "two\n"
    assert plugin(made, "rollback", "acme", "1").stdout == "acme: 2 → 1\n"
    assert made.run("demo", "hi").stdout == "one\n"


def _tar(*members: tuple[str, dict[str, Any], bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, fields, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            for key, value in fields.items():
                setattr(info, key, value)
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


COMMAND = json.dumps(command())
LINK = {"type": tarfile.SYMTYPE}
WRAPPED = (
    ("a/demo/hi/main.sh", {}, b""),
    ("a/demo/hi/command.json", {}, COMMAND.encode()),
)
HOSTILE = {
    "traversal": _tar(("../evil", {}, b"x")),
    "absolute": _tar(("/tmp/evil", {}, b"x")),
    "link out": _tar(("a", {**LINK, "linkname": "../../.."}, b""), ("f", {}, b"x")),
    "link absolute": _tar(("a", {**LINK, "linkname": "/etc"}, b""), ("f", {}, b"x")),
    "link to the wrapping": _tar(*WRAPPED, ("a/l", {**LINK, "linkname": ".."}, b"")),
    "link by the wrapping": _tar(
        *WRAPPED, ("a/l", {**LINK, "linkname": "../a/demo"}, b"")
    ),
    "link to nothing": _tar(*WRAPPED, ("a/l", {**LINK, "linkname": "g"}, b"")),
    "through a link": _tar(
        ("a", {**LINK, "linkname": "/tmp"}, b""), ("a/evil", {}, b"x")
    ),
    "hard link": _tar(("a", {"type": tarfile.LNKTYPE, "linkname": "/etc/passwd"}, b"")),
    "device": _tar(("a", {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 3}, b"")),
    "pipe": _tar(("a", {"type": tarfile.FIFOTYPE}, b"")),
    "twice": _tar(("demo/a", {}, b"x"), ("demo/a", {}, b"y")),
    "cut": tar_of(plugin_files())[:-40],
    "empty": b"",
    "web page": b"<!doctype html>",
    "nothing in it": _tar(("a", {"type": tarfile.DIRTYPE}, b"")),
    "bomb": lambda: _tar(("a", {}, b"\0" * (80 << 20))),  # not packed by each worker
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.sampled
def test_hostile_archives(
    install: Install, tmp_path: Path, content: bytes | Callable[[], bytes]
) -> None:
    made = install()
    (tmp_path / "evil.tar.gz").write_bytes(content() if callable(content) else content)
    done = plugin(made, "add", str(tmp_path / "evil.tar.gz"))
    assert (done.status, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"cli: {tmp_path}/evil.tar.gz: ")
    assert visible(made) == hidden(made) == []
    assert not Path("/tmp/evil").exists()


@pytest.mark.parametrize("wrapping", ["", "acme-1.0/"])
def test_a_link_inside_is_kept(install: Install, tmp_path: Path, wrapping: str) -> None:
    made = install()
    members = [
        (f"{wrapping}{name}", {"mode": 0o755}, text.encode())
        for name, text in {
            "lib/hi/main.sh": "echo hi",
            "lib/hi/command.json": COMMAND,
        }.items()
    ]
    links = {
        "demo/hi": "../lib/hi",
        "demo/also": "hi",
        "here": "./lib/../lib/hi/main.sh",
    }
    for name, target in links.items():
        members.append((f"{wrapping}{name}", {**LINK, "linkname": target}, b""))
    (tmp_path / "a.tgz").write_bytes(_tar(*members))
    done = plugin(made, "add", str(tmp_path / "a.tgz"))
    assert done.status == 0, done.stderr
    assert made.run("demo", "also").stdout == "hi\n"
    for name, target in links.items():
        assert os.readlink(made.root / "plugins/a" / name) == target


STAGED = {
    "command.json": ("demo/no/command.json", "{", "demo/no/command.json:1:2: "),
    "plugin.json": ("plugin.json", "{", "plugin.json:1:2: "),
    "directory": (
        "plugin.json",
        {"directory": "x"},
        'plugin.json: "directory": x does not exist',
    ),
    "outside": (
        "plugin.json",
        {"directory": ".."},
        '"directory": .. is outside the plugin',
    ),
    "hooks": (
        "plugin.json",
        {"hooks": "h.py"},
        'plugin.json: "hooks": h.py does not exist',
    ),
}


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        STAGED["command.json"],
        STAGED["hooks"],
        *(
            pytest.param(*STAGED[name], marks=pytest.mark.night)
            for name in ("plugin.json", "directory", "outside")
        ),
    ],
)
def test_what_is_wrong_inside_is_named_by_source_and_path(
    install: Install, site: httpserver.Site, name: str, content: Any, told: str
) -> None:
    made = install()
    address = site.add("/acme.tar.gz", tar_of({**plugin_files(), name: content}))
    done = plugin(made, "add", address)
    assert f"{address}: {told}" in done.stderr
    assert ".cli-stage-" not in done.stderr


def test_a_disk_that_takes_no_more_is_named_by_source(tmp_path: Path) -> None:
    (tmp_path / "packed").write_bytes(tar_of({"demo/large": "x" * 100_000}))
    with (
        files_of_at_most(4096),
        pytest.raises(OperationError, match=r"^https://h/x: File too large$"),
    ):
        extract(tmp_path / "packed", tmp_path / "new", "https://h/x", UnpackOptions())


def test_setuid_is_not_taken_over(install: Install, tmp_path: Path) -> None:
    made = install()
    files = plugin_files()
    extra = ("demo/hi/tool", {"mode": 0o6755}, b"#!/bin/sh\n")
    packed = _tar(
        *[
            (name, {}, str(text).replace("'", '"').encode())
            for name, text in files.items()
        ],
        extra,
    )
    (tmp_path / "a.tar.gz").write_bytes(packed)
    assert plugin(made, "add", str(tmp_path / "a.tar.gz")).status == 0
    assert (made.root / "plugins/a/demo/hi/tool").stat().st_mode & 0o7777 == 0o755


def test_a_server_that_stalls(install: Install, site: httpserver.Site) -> None:
    made = install()
    address = site.add("/a.tar.gz", httpserver.stall(tar_of(plugin_files()), 10))
    done = plugin(made, "add", address, "--timeout", "1.5")
    assert done.status == 1
    assert visible(made) == hidden(made) == []


def _updated_while(made: Made, site: httpserver.Site, change: str) -> Result:
    """Add acme, and return an update of it, during whose download somebody calls `change`."""
    address = site.add("/acme.tar.gz", tar_of(plugin_files(says="one")))
    assert plugin(made, "add", address).status == 0
    fresh = httpserver.serve(tar_of(plugin_files(says="two")), None)

    def meanwhile(handler: httpserver.Handler) -> None:
        assert plugin(made, change, "acme").status == 0
        fresh(handler)

    site.add("/acme.tar.gz", meanwhile)
    return plugin(made, "update")


def test_a_plugin_disabled_during_its_update_stays_disabled(
    install: Install, site: httpserver.Site
) -> None:
    made = install()
    done = _updated_while(made, site, "disable")
    assert done.status == 0, done.stderr
    assert listed(made)["acme"]["state"] == "disabled"
    plugin(made, "enable", "acme")
    assert made.run("demo", "hi").stdout == "two\n"


def test_a_plugin_removed_during_its_update_stays_removed(
    install: Install, site: httpserver.Site
) -> None:
    """Also if it is one of several: all of them stay as they are."""
    made = install()
    other = site.add("/other.tar.gz", tar_of(plugin_files("demo/own", "one")))
    assert plugin(made, "add", other).status == 0
    site.add("/other.tar.gz", tar_of(plugin_files("demo/own", "two")))
    done = _updated_while(made, site, "remove")
    told = "cli: acme was removed meanwhile; nothing was changed\n"
    assert (done.status, done.stderr) == (1, told)
    assert listed(made).keys() == {"other"}
    assert made.run("demo", "own").stdout == "one\n"


def test_an_update_takes_no_command_of_a_later_plugin(
    install: Install, site: httpserver.Site, tmp_path: Path
) -> None:
    made = install()
    address = site.add("/first.tar.gz", tar_of(plugin_files("demo/own", "first")))
    assert plugin(made, "add", address).status == 0
    later = write_tree(tmp_path / "later", plugin_files("demo/hi", "later"))
    assert plugin(made, "add", str(later)).status == 0
    both = plugin_files("demo/own", "newer") | plugin_files("demo/hi", "first")
    site.add("/first.tar.gz", tar_of(both))
    done = plugin(made, "update", "first")
    assert (done.status, done.stderr) == (
        1,
        "cli: demo hi is already a command of the plugin later; first must not replace it; "
        "disable or remove one of the two plugins\n",
    )
    assert made.run("demo", "hi").stdout == "later\n"
    assert made.run("demo", "own").stdout == "first\n"
    plugin(made, "disable", "later")
    assert plugin(made, "update", "first").status == 0
    plugin(made, "enable", "later")
    plugin(made, "disable", "first")
    assert plugin(made, "enable", "first").stderr == done.stderr
    assert made.run("demo", "hi").stdout == "later\n"
    site.add("/third.tar.gz", tar_of(plugin_files("demo/hi", "third")))
    forced = plugin(made, "add", f"{site.address}/third.tar.gz", "--force")
    assert forced.status == 0
    assert (
        "demo hi is already a command of the plugin later; the existing command is used"
        in forced.stderr
    )
    assert made.run("demo", "hi").stdout == "later\n"

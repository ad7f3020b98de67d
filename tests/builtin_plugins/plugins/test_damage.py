"""A damaged registry, things in the way, and what repair may and may not remove."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from testing.installation import Made
from testing.plugin_sources import (
    Repository,
    hidden,
    plugin,
    plugin_files,
    registry,
    tar_of,
    write_tree,
)

Install = Callable[..., Made]


@pytest.fixture(scope="module")
def first(shared_install: Install, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """One plugin of each kind is disabled, one more is enabled, and a command is no plugin's."""
    made, sources = shared_install(), tmp_path_factory.mktemp("sources")
    write_tree(made.root / "commands", {"own.sh": "#!/bin/sh\necho own\n"})
    write_tree(made.root / "plugins/dropped", plugin_files("off/dropped"))
    linked = write_tree(sources / "linked", plugin_files("off/linked"))
    packed = sources / "packed.tar.gz"
    packed.write_bytes(tar_of(plugin_files("off/packed")))
    running = sources / "running.tar.gz"
    running.write_bytes(tar_of(plugin_files("on/hi", "hi")))
    for source in (linked, packed, running):
        assert plugin(made, "add", str(source)).status == 0
    for name in ("dropped", "linked", "packed"):
        assert plugin(made, "disable", name).status == 0
    return made


FILES = ["registry.json", "registry.local.json"]


def _by_day(damages: dict[str, Any], chosen: list[str]) -> list[Any]:
    """Return each damage of each file; by day, each file has one of those chosen, and no other."""
    by_day = [*zip(FILES, chosen, strict=True)]
    rows = []
    for pair in itertools.product(FILES, damages):
        file, name = pair
        marks = () if pair in by_day else pytest.mark.night
        rows.append(pytest.param(file, damages[name], marks=marks, id=f"{file}-{name}"))
    return rows


@pytest.fixture(params=FILES)
def file(first: Made, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Return one of the two files, which alone has the entries, in a copy of the installation."""
    root = tmp_path / "installation"
    shutil.copytree(first.root, root, symlinks=True)
    (tmp_path / "home").mkdir()
    shared = root / "plugins/registry.json"
    path = root / "plugins" / str(request.param)
    if path != shared:
        shared.rename(path)
    return path


def _made(file: Path) -> Made:
    root = file.parent.parent
    return Made(root, root / "core/cli", root.parent / "home")


def _make_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _make_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("gone/file")


UNREADABLE: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_text(""),
    "newer": lambda path: path.write_text('{"version": "9.0.0", "plugins": []}'),
    "FIFO": _make_fifo,
    "dangling link": _make_link,
}


@pytest.mark.parametrize(
    ("file", "damage"),
    _by_day(UNREADABLE, ["FIFO", "dangling link"]),
    indirect=["file"],
)
def test_without_a_readable_registry_no_plugin_is_loaded(
    file: Path, damage: Callable[[Path], object]
) -> None:
    made = _made(file)
    assert made.run("on", "hi").stdout == "hi\n"
    damage(file)
    inode = os.lstat(file).st_ino

    assert made.run("own").stdout == "own\n"
    listing = made.run()
    assert (listing.status, listing.stderr.count("\n")) == (0, 1)
    assert listing.stderr.startswith(f"cli: warning: {file}")
    for words in (("on", "hi"), ("off", "dropped")):
        unknown = made.run(*words)
        assert (unknown.status, str(file) in unknown.stderr) == (2, True)
    for words in (("enable", "linked"), ("list",)):
        refused = plugin(made, *words)
        assert (refused.status, refused.stdout) == (1, "")
        assert refused.stderr.startswith(f"cli: {file}")
        assert refused.stderr.count("\n") == 1
    doctor = made.run("self", "doctor")
    assert (doctor.status, str(file) in doctor.stdout) == (1, True)
    assert os.lstat(file).st_ino == inode


def test_a_damaged_file_of_a_repository_names_git(file: Path) -> None:
    made = _made(file)
    (made.root / ".git").mkdir()
    file.write_text("")
    remedy = f"git -C {made.root} checkout -- plugins/registry.json"
    assert (remedy in made.run().stderr) is (file.name == "registry.json")


def _replace(text: str, pattern: str, by: str) -> str:
    changed, count = re.subn(pattern, by, text)
    assert count
    return changed


_NAMES = '"name": "(linked|dropped|packed)"'
PARTS: dict[str, tuple[str, str]] = {
    "bad name": (_NAMES, r'"name": "X \1"'),
    "no name": (_NAMES, r'"nome": "\1"'),
    "key": ('"enabled": false', '"enable": false'),
}


@pytest.mark.parametrize(
    ("file", "change"), _by_day(PARTS, ["key", "bad name"]), indirect=["file"]
)
def test_a_damaged_entry_enables_nothing_and_leaves_the_others(
    file: Path, change: tuple[str, str]
) -> None:
    file.write_text(_replace(file.read_text(), *change))
    made = _made(file)
    for name in ("dropped", "linked", "packed"):
        assert made.run("off", name).status == 2
    assert made.run("on", "hi").stdout == "hi\n"
    assert f"plugins/{file.name}" in made.run("off", "packed").stderr
    # A change leaves the damaged entries and what they may describe.
    before = file.read_text()
    assert plugin(made, "disable", "running").status == 0
    assert json.loads(before)["plugins"][0] in json.loads(file.read_text())["plugins"]
    assert list((file.parent / ".versions").glob("packed/*/tree/off"))


def _without_rights(made: Made, *words: str) -> subprocess.CompletedProcess[str]:
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("needs root and setpriv")
    drop = [
        "setpriv",
        "--bounding-set=-dac_override,-dac_read_search",
        "--inh-caps=-all",
    ]
    return subprocess.run(
        [*drop, made.launcher, *words], capture_output=True, text=True, check=False, timeout=60,
        env={"PATH": os.environ["PATH"], "HOME": str(made.home)},
    )  # fmt: skip


def test_files_that_cannot_be_removed_are_named_and_never_installed(
    install: Install, tmp_path: Path
) -> None:
    """As after a command that filled a module cache of Go: its directories are read-only."""
    made = install()
    repository = Repository(tmp_path / "acme", plugin_files("demo/hi", "hi"))
    plugins = made.root / "plugins"
    assert plugin(made, "add", repository.url).status == 0
    write_tree(plugins / "acme", {"cache/mod/file": "x"})
    (plugins / "acme/cache/mod").chmod(0o555)
    removed = _without_rights(made, "self", "plugin", "remove", "acme")
    [left] = plugins.glob(".versions/acme/.cli-stage-*")
    problem = f"{left} cannot be removed: Permission denied; rm -r {left}\n"
    assert (removed.returncode, removed.stdout) == (1, "removed acme\n")
    assert removed.stderr == f"cli: {problem}"
    added = _without_rights(made, "self", "plugin", "add", repository.url)
    assert (added.returncode, added.stderr) == (0, f"cli: warning: {problem}")
    assert made.run("demo", "hi").stdout == "hi\n"
    assert sorted(os.listdir(plugins / "acme")) == ["demo"]
    (left / "tree/cache/mod").chmod(0o755)
    assert plugin(made, "remove", "acme").all == (0, "removed acme\n", "")
    assert hidden(made) == []
    assert not (plugins / ".versions").exists()


def test_a_kept_version_that_lost_files_is_not_used(
    install: Install, tmp_path: Path
) -> None:
    """As a removal left it that did not take versions away in one step."""
    made = install()
    repository = Repository(tmp_path / "acme", plugin_files("demo/hi", "hi"))
    versions = made.root / "plugins/.versions/acme"
    for record in (True, False):
        assert plugin(made, "add", repository.url).status == 0
        shutil.copytree(versions, tmp_path / f"kept-{record}")
        assert plugin(made, "remove", "acme").status == 0
        shutil.copytree(tmp_path / f"kept-{record}", versions)
        [script] = versions.rglob("main.sh")
        script.unlink()
        if not record:
            next(versions.rglob("entry.json")).unlink()
        assert plugin(made, "add", repository.url).status == 0
        assert made.run("demo", "hi").stdout == "hi\n"
        assert plugin(made, "remove", "acme").status == 0


@contextmanager
def narrow_umask() -> Iterator[None]:
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def test_others_read_what_was_added_under_a_narrow_umask(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    repository = Repository(tmp_path / "acme", plugin_files("demo/hi", "hi"))
    packed = tmp_path / "packed.tar.gz"
    packed.write_bytes(tar_of(plugin_files("packed/hi")))
    for source in (repository.url, str(packed)):
        with narrow_umask():
            assert plugin(made, "add", source).status == 0
    repository.commit(plugin_files("demo/hi", "new"))
    with narrow_umask():
        assert plugin(made, "update", "acme").status == 0
    for path in (made.root / "plugins").rglob("*"):
        mode = path.stat().st_mode & 0o777
        assert mode & 0o044 == 0o044, path
        assert not path.is_dir() or mode & 0o055 == 0o055, path


@pytest.mark.night  # it waits for the limit, 10 seconds
def test_a_pipe_as_hooks_file_hangs_nobody(install: Install) -> None:
    files = plugin_files("demo/hi", name="acme", hooks="hooks.py")
    made = install({f"plugins/acme/{name}": text for name, text in files.items()})
    os.mkfifo(made.root / "plugins/acme/hooks.py")
    for words in ([], ["self", "plugin", "show", "acme"], ["self", "plugin", "list"]):
        assert made.run(*words).status == 0


def test_a_pipe_as_hooks_file_is_refused(install: Install, tmp_path: Path) -> None:
    files = plugin_files("demo/hi", hooks="hooks.py")
    source = write_tree(tmp_path / "other", files)
    os.mkfifo(source / "hooks.py")
    refused = plugin(install(), "add", str(source))
    assert refused.all == (1, "", f"cli: {source}/hooks.py: not a regular file\n")


@pytest.mark.parametrize("name", [".versions", ".cli-stage-12345678"])
def test_repair_never_follows_a_link(
    install: Install, tmp_path: Path, name: str
) -> None:
    """What lies behind it may be another installation's."""
    made, other = install(), install()
    (tmp_path / "packed.tar.gz").write_bytes(tar_of(plugin_files("demo/hi")))
    for one in (made, other):
        assert plugin(one, "add", str(tmp_path / "packed.tar.gz")).status == 0
    theirs = other.root / "plugins" / name
    write_tree(theirs, {"acme/0123/file": "theirs"})
    own = made.root / "plugins" / name
    if own.is_dir():
        own.rename(tmp_path / "away")
    own.symlink_to(theirs)
    before = sorted(theirs.rglob("*"))
    (made.root / "cli.lock").unlink(missing_ok=True)
    assert made.run("--help").status == 0
    assert plugin(made, "list").status == 0
    removed = plugin(made, "remove", "packed")
    if name.startswith(".cli-stage-"):  # no name of ours, so it is in nobody's way
        assert removed.all == (0, "removed packed\n", "")
    else:
        assert removed.all == (1, "", f"cli: {own}: must not be a link; remove it\n")
    assert own.is_symlink()
    assert sorted(theirs.rglob("*")) == before


def test_repair_removes_what_it_can_prove_to_have_made(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    packed = tmp_path / "packed.tar.gz"
    packed.write_bytes(tar_of(plugin_files("demo/hi")))
    assert plugin(made, "add", str(packed)).status == 0
    plugins = made.root / "plugins"
    foreign = {
        ".versions/mine/notes": "x", ".versions/packed/backup/file": "x", ".change-log/file": "x",
        ".editor.tmp": "x", ".versions/packed/0123/entry.json": "{}",
    }  # fmt: skip
    write_tree(plugins, foreign)
    for version in (plugins / ".versions/packed").iterdir():
        if (version / "tree").is_dir():
            shutil.copytree(version, plugins / ".versions/gone" / version.name)
            entry = plugins / ".versions/gone" / version.name / "entry.json"
            entry.write_text(entry.read_text().replace('"packed"', '"gone"'))
    write_tree(plugins, {".versions/.cli-stage-abcd1234/tree/half": "x"})
    (plugins / "gone").symlink_to(".versions/gone/0123/tree")
    assert plugin(made, "disable", "packed").status == 0
    assert all((plugins / name).read_text() for name in foreign)
    assert not (plugins / ".versions/gone").exists()
    assert not (plugins / ".versions/.cli-stage-abcd1234").exists()
    assert not (plugins / "gone").is_symlink()
    assert set(registry(made)) == {"packed"}
    assert hidden(made) == [".change-log", ".editor.tmp"]

"""Kills, full disks, races and power cuts in the middle of changes of plugins."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from builtin_plugins.registry.registry import read_registry
from builtin_plugins.registry.registry_writer import write_registry
from testing.changes import MOVED_HERE, changes
from testing.installation import Made
from testing.packages import Environment
from testing.plugin_sources import (
    Repository,
    listed,
    plugin,
    plugin_files,
    registry,
    tar_of,
    wheel,
    write_tree,
)
from testing.sweep import INTERRUPT, run_sweep

Install = Callable[..., Made]

_PACKAGE = """
from host import CommandDeclaration, hookimpl

@hookimpl
def discover_commands(installation):
    keys = {"name": "New", "description": "New", "entrypoint": "new_cli.plugin:main"}
    yield CommandDeclaration(("fresh", "py"), keys)

def main(args):
    print("new")
"""


class Scene:
    """An installation with one plugin of each sort, and sources with something newer."""

    def __init__(self, made: Made, tmp_path: Path) -> None:
        self.made = made
        self.repository = Repository(
            tmp_path / "cloned", plugin_files("cloned/one", "one")
        )
        self.first = self.repository.git("rev-parse", "HEAD")
        self.local = write_tree(tmp_path / "linked", plugin_files("linked/hi"))
        self.packed = tmp_path / "packed.tar.gz"
        self.packed.write_bytes(tar_of(plugin_files("packed/hi")))
        self.fresh = write_tree(tmp_path / "fresh", plugin_files("fresh/hi"))
        self.fresh_packed = tmp_path / "newer.tar.gz"
        self.fresh_packed.write_bytes(tar_of(plugin_files("newer/hi")))
        self.fresh_repository = Repository(tmp_path / "other", plugin_files("other/hi"))
        made.write(
            {f"plugins/dropped/{n}": c for n, c in plugin_files("dropped/hi").items()}
        )
        for source in (self.repository.url, str(self.local), str(self.packed)):
            assert plugin(made, "add", source).status == 0
        wheels = tmp_path / "wheels"
        self.environ = {
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(wheels),
            "PIP_COMPILE": "0",
        }
        package = Environment(made.launcher, wheels, made)
        for version in ("1.0", "2.0"):
            package.acme(version, requires=("needed",))
            wheel(wheels, "needed", version, "", points={})
            assert plugin(made, "add", "pip:acme-cli", env=self.environ).status == 0
            assert plugin(made, "update", "acme-cli", env=self.environ).status == 0
        package.acme("3.0")
        self.new_package = wheel(wheels, "new-cli", "1.0", _PACKAGE)
        self.repository.commit(plugin_files("cloned/two", "two"))
        assert plugin(made, "update", "cloned").status == 0
        self.repository.commit(plugin_files("cloned/three", "three"))
        team = json.loads((made.root / "plugins/registry.json").read_text())
        assert plugin(made, "add", str(self.fresh_packed)).status == 0
        self.team = tmp_path / "team.json"
        shutil.copy(made.root / "plugins/registry.json", self.team)
        assert plugin(made, "remove", "newer").status == 0
        assert team
        self.plugins = tmp_path / "plugins"  # as they are before each change
        shutil.copytree(made.root / "plugins", self.plugins, symlinks=True)

    def words(self, name: str) -> list[str]:
        return {
            "add-local": ["add", str(self.fresh)],
            "add-git": ["add", self.fresh_repository.url],
            "add-archive": ["add", str(self.fresh_packed)],
            "add-package": ["add", str(self.new_package)],
            "update": ["update", "cloned"],
            "update-package": ["update", "acme-cli"],
            "rollback-package": ["rollback", "acme-cli", "1.0"],
            "remove-package": ["remove", "acme-cli"],
            "rollback": ["rollback", "cloned", self.first[:12]],
            "sync": ["sync", str(self.team)],
            "disable": ["disable", "cloned"],
            "remove-local": ["remove", "linked"],
            "remove-git": ["remove", "cloned"],
            "remove-archive": ["remove", "packed"],
            "share": ["add", str(self.packed), "--team"],
            "adopt": ["disable", "packed"],
        }[name]


NAMES = [
    "add-local", "add-git", "add-archive", "update", "rollback", "sync", "disable",
    "remove-local", "remove-git", "remove-archive", "share", "adopt",
    "add-package", "update-package", "rollback-package", "remove-package",
]  # fmt: skip


def test_an_entry_stays_personal_if_the_shared_registry_cannot_be_written(
    tmp_path: Path,
) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared/registry.json").write_text(
        '{"version": "1.0.0", "plugins": []}'
    )
    (tmp_path / "registry.json").symlink_to(tmp_path / "shared/registry.json")
    own = tmp_path / "registry.local.json"
    own.write_text(
        json.dumps({"version": "1.0.0", "plugins": [{"name": "a", "kind": "local"}]})
    )
    found = read_registry(str(tmp_path))
    found.put(found.entries["a"], team=True)
    (tmp_path / "shared").rename(tmp_path / "missing")
    with pytest.raises(FileNotFoundError):
        write_registry(found, "")
    assert [one["name"] for one in json.loads(own.read_text())["plugins"]] == ["a"]


@pytest.fixture(scope="module")
def scene(shared_install: Install, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return Scene(shared_install(), tmp_path_factory.mktemp("scene"))


def make_personal(plugins: Path, name: str) -> None:
    """Move the entry of a plugin from registry.json to registry.local.json."""
    shared = json.loads((plugins / "registry.json").read_text())
    own = [one for one in shared["plugins"] if one["name"] == name]
    shared["plugins"] = [one for one in shared["plugins"] if one["name"] != name]
    (plugins / "registry.local.json").write_text(json.dumps({**shared, "plugins": own}))
    (plugins / "registry.json").write_text(json.dumps(shared))


CASES = [
    (name, error)
    for name in NAMES
    for error in (0, errno.ENOSPC, errno.EIO, -errno.ENOSPC, INTERRUPT)
]


@pytest.mark.parametrize(("name", "error"), CASES)
def test_a_change_that_is_broken_off(
    scene: Scene, tmp_path: Path, shim: Path, name: str, error: int
) -> None:
    made, before = scene.made, tmp_path / "before"
    shutil.copytree(scene.plugins, before, symlinks=True)
    if name == "adopt":
        write_tree(before / "late", plugin_files("late/hi"))
    if name == "share":
        make_personal(before, "packed")
    asked = {
        "root": str(made.root),
        "before": str(before),
        "launcher": str(made.launcher),
        "words": ["self", "plugin", *scene.words(name)],
    }
    result = run_sweep(
        "plugins",
        asked,
        shim,
        error=error,
        home=made.home,
        environ=scene.environ,
    )
    assert result["steps"] > 3


EACH_FIRST = [
    (kind, error) for kind in ("archive", "git") for error in (errno.ENOSPC, errno.EIO)
]


@pytest.mark.parametrize(("kind", "error"), EACH_FIRST)
def test_a_first_plugin_that_cannot_be_added(
    scene: Scene, install: Install, tmp_path: Path, shim: Path, kind: str, error: int
) -> None:
    made, before = install(), tmp_path / "before"
    before.mkdir()
    asked = {
        "root": str(made.root),
        "before": str(before),
        "launcher": str(made.launcher),
        "words": ["self", "plugin", *scene.words(f"add-{kind}")],
    }
    run_sweep("plugins", asked, shim, error=error, home=made.home)


@pytest.mark.night
def test_eight_processes_and_two_plugins_each(install: Install, tmp_path: Path) -> None:
    """Every process adds its plugins and removes half of them; a reader reads each registry."""
    processes, each = 8, 2
    made = install()
    for number in range(processes):
        for index in range(each):
            name = f"p{number}-{index}"
            write_tree(tmp_path / "sources" / name, plugin_files(f"c{number}/{name}"))
    stop = threading.Event()
    seen: list[int] = []
    unreadable: list[str] = []

    def read() -> None:
        for kind in changes(made.root / "plugins", "registry.json", stop):
            seen.append(kind)
            try:
                json.loads((made.root / "plugins/registry.json").read_bytes())
            except ValueError as failure:
                unreadable.append(str(failure))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        script = (
            'for i in $(seq 0 $(($3 - 1))); do "$0" self plugin add "$1/p$2-$i" || exit 1; '
            'if [ $((i % 2)) = 1 ]; then "$0" self plugin remove "p$2-$i" || exit 1; fi; done'
        )
        running = [
            subprocess.Popen(
                [
                    "bash",
                    "-c",
                    script,
                    made.launcher,
                    tmp_path / "sources",
                    str(n),
                    str(each),
                ],
                env={"PATH": os.environ["PATH"], "HOME": str(made.home)},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
            for n in range(processes)
        ]
        complaints = [process.communicate(timeout=900)[1] for process in running]
    finally:
        stop.set()
        reader.join()
    assert [process.returncode for process in running] == [0] * processes, complaints
    assert unreadable == []
    assert len(seen) >= processes * each
    assert set(seen) == {MOVED_HERE}  # never written in its place
    expected = {f"p{n}-{i}" for n in range(processes) for i in range(0, each, 2)}
    assert set(registry(made)) == expected
    assert {
        name for name, row in listed(made).items() if row["state"] == "enabled"
    } == expected


def test_the_registry_survives_a_power_cut(install: Install, tmp_path: Path) -> None:
    """What was reported as done is on the disk when the machine loses its power."""
    image, disk, after = tmp_path / "image", tmp_path / "disk", tmp_path / "after"
    disk.mkdir()
    after.mkdir()
    with image.open("wb") as file:
        file.truncate(64 << 20)
    options = ["-o", "loop,commit=600,noauto_da_alloc"]
    try:
        subprocess.run(["mkfs.ext4", "-q", image], check=True, capture_output=True)
        subprocess.run(
            ["mount", *options, image, disk], check=True, capture_output=True
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs ext4 images and the right to mount them")
    try:
        made = install()
        (made.root / "plugins").rmdir()
        (disk / "plugins").mkdir()
        (made.root / "plugins").symlink_to(disk / "plugins")
        (tmp_path / "acme.tar.gz").write_bytes(tar_of(plugin_files()))
        assert plugin(made, "add", str(tmp_path / "acme.tar.gz")).status == 0
        copy = tmp_path / "copy"
        shutil.copy(image, copy)
        subprocess.run(
            ["mount", "-o", "loop", copy, after], check=True, capture_output=True
        )
        try:
            (made.root / "plugins").unlink()
            (made.root / "plugins").symlink_to(after / "plugins")
            assert set(registry(made)) == {"acme"}
            assert made.run("demo", "hi").stdout == "hi\n"
        finally:
            subprocess.run(["umount", after], check=False)
    finally:
        subprocess.run(["umount", disk], check=False)

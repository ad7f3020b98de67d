"""The Store, on a real file system, as `setup` uses it and as plugins will: a link elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from builtin_plugins.library.versioned_directory import STAGE, Store, abandoned, staging
from host.errors import OperationError
from testing.machine import PATHS

MARK = ".mark"
BUSY = "another change is in progress"


def store_at(root: Path, link: str = "versions/current") -> Store:
    directory = root / "versions"
    return Store(
        str(directory), str(root / link), lambda path: Path(path, MARK).exists()
    )


def add(store: Store, version: str, content: str = "") -> None:
    with staging(store.directory) as stage, ExitStack() as undo:
        made = Path(stage, "new")
        made.mkdir()
        (made / MARK).write_text(content or version)
        store.add(str(made), version, undo)
        undo.pop_all()


def activate(store: Store, version: str) -> None:
    with ExitStack() as undo:
        store.activate(version, undo)
        undo.pop_all()


@pytest.mark.parametrize(
    "link", ["versions/current", "plugin"], ids=["inside", "elsewhere"]
)
def test_stage_commit_activate_collect(link: str, tmp_path: Path) -> None:
    store = store_at(tmp_path, link)
    assert (store.current, store.versions()) == ("", [])
    with store.exclusive():
        for version in ("1", "2", "3", "4"):
            add(store, version)
            activate(store, version)
            assert store.current == version
            assert (tmp_path / link / MARK).read_text() == version
        assert store.versions() == ["1", "2", "3", "4"]
        assert store.collect(keep=["2", "3"]) == []
        assert store.versions() == ["2", "3", "4"]
        activate(store, "2")  # a rollback
        assert store.collect() == []
        assert store.versions() == ["2"]
        activate(store, "")
        assert store.collect() == []
    assert list(tmp_path.iterdir()) == []


def test_foreign_things_stay(tmp_path: Path) -> None:
    store = store_at(tmp_path)
    with store.exclusive():
        add(store, "1")
        Path(store.directory, "notes").mkdir()
        Path(store.directory, "text").write_text("mine")
        assert store.versions() == ["1"]
        assert store.collect() == []
    assert sorted(os.listdir(store.directory)) == ["notes", "text"]


@pytest.mark.parametrize("former", ["", "1"])
def test_each_step_has_its_undo(former: str, tmp_path: Path) -> None:
    store = store_at(tmp_path)
    with store.exclusive():
        if former:
            add(store, former)
            activate(store, former)
        with ExitStack() as undo, staging(store.directory) as stage:
            made = Path(stage, "new")
            made.mkdir()
            (made / MARK).write_text("other")
            store.add(str(made), "1", undo)
            store.activate("1", undo)
            assert Path(store.link, MARK).read_text() == "other"
            undo.close()
            assert (made / MARK).read_text() == "other"
        assert store.current == former
        assert [
            Path(store.path(one), MARK).read_text() for one in store.versions()
        ] == (["1"] if former else [])


def test_the_link_may_lead_elsewhere(tmp_path: Path) -> None:
    store = store_at(tmp_path)
    Path(store.directory).mkdir()
    for target in ("/usr", "../versions2/1", "1/2", "."):
        Path(store.link).symlink_to(target)
        assert store.current == ""
        Path(store.link).unlink()
    Path(store.link).mkdir()
    assert store.current == ""
    Path(store.link).rmdir()
    Path(store.link).symlink_to(f"{store.directory}/7")
    assert store.current == "7"


def test_a_stage_in_use_is_not_collected(tmp_path: Path) -> None:
    store = store_at(tmp_path)
    with store.exclusive():
        with staging(store.directory) as stage:
            assert store.collect() == []
            assert os.path.isdir(stage)
        left = Path(store.directory, f"{STAGE}killed", "half")
        left.mkdir(parents=True)
        assert abandoned(store.directory) == [str(left.parent)]
        assert store.collect() == []
        assert not left.parent.exists()


_STAGES = """
import os, sys
from builtin_plugins.library.versioned_directory import staging
for _ in range(100):
    with staging(sys.argv[1]) as stage:
        open(os.path.join(stage, "file"), "x").close()
        assert os.listdir(stage) == ["file"]
"""


def test_a_stage_is_in_use_from_its_first_moment(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _STAGES, str(tmp_path)]
    processes = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait() for process in processes] == [0] * 4
    assert os.listdir(tmp_path) == []


def test_two_changes_exclude_each_other(tmp_path: Path) -> None:
    store, other = store_at(tmp_path), store_at(tmp_path)
    with store.exclusive():
        with pytest.raises(OperationError, match=BUSY), other.exclusive():
            pass
        add(store, "1")
    with other.exclusive():
        assert other.versions() == ["1"]


@pytest.mark.parametrize("fails", [True, False])
def test_directories_that_stay_empty_are_removed(fails: bool, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    store = store_at(tmp_path / "own/new/newer")
    with ExitStack() as expected:
        if fails:
            expected.enter_context(pytest.raises(ZeroDivisionError))
        with store.exclusive():
            assert 1 / (not fails)
    assert [str(one) for one in tmp_path.rglob("*")] == [str(tmp_path / "own")]


def test_the_lock_is_of_the_directory_that_is_there(tmp_path: Path) -> None:
    """Many at once make, lock and remove the directory; each must be alone."""
    program = (
        "import os, sys\n"
        "from contextlib import suppress\n"
        "from builtin_plugins.library.versioned_directory import Store, staging\n"
        "from host import HostError\n"
        "store = Store(sys.argv[1], sys.argv[1] + '/current', lambda _: False)\n"
        "for _ in range(600):\n"
        "    with suppress(OSError, HostError), store.exclusive():\n"
        "        with staging(store.directory) as stage:\n"
        "            assert len(os.listdir(store.directory)) == 1\n"
    )
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", program, tmp_path / "a/b/store"],
            env={**os.environ, "PYTHONPATH": PATHS},
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    assert [run.communicate(timeout=120)[1] for run in runs] == [""] * 4
    assert not (tmp_path / "a/b/store").exists()


def test_a_version_that_cannot_be_renamed_is_reported(tmp_path: Path) -> None:
    """Nobody may rename a mount point."""
    store = store_at(tmp_path)
    with store.exclusive():
        add(store, "1")
        mounted = ["mount", "--bind", store.path("1"), store.path("1")]
        try:
            subprocess.run(mounted, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            pytest.skip("needs the right to mount")
        try:
            [problem] = store.collect()
        finally:
            subprocess.run(["umount", store.path("1")], check=True)
        assert str(problem).startswith(f"{store.path('1')} cannot be removed: ")
        assert store.collect() == []
        assert store.versions() == []

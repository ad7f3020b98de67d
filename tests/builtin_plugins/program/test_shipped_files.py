"""What an update renews of an installation, and what it leaves."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from builtin_plugins.program import shipped_files
from builtin_plugins.program.shipped_files import HASHES, renew
from testing.plugin_sources import write_tree

FORMER = {
    "core/lib/same.sh": "1\n",
    "core/lib/old.sh": "1\n",
    "core/lib/mine.sh": "1\n",
    "core/lib/linked.sh": "1\n",
    "core/cli.json": "1\n",
    "commands/demo/hello/main.sh": "1\n",
}
NEW = {path: "1\n" if "same" in path else "2\n" for path in FORMER} | {
    "core/lib/new.sh": "2\n",
    "core/schema/new.json": "2\n",
}


Renewed = Callable[..., list[str]]


def files_of(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): path.read_text()
        for path in root.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An installation with the files of the former version."""
    for name, files in (("former", FORMER), ("new", NEW), ("root", FORMER)):
        write_tree(tmp_path / name, files)
    return tmp_path / "root"


@pytest.fixture
def renewed(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Renewed:
    """Renew the installation from a version; return the files that warnings name."""

    def renewed(version: str) -> list[str]:
        monkeypatch.setattr(shipped_files, "_skeleton", lambda: tmp_path / version)
        warned: list[str] = []
        renew(str(root), warned.append)
        return [
            one.partition(": ")[0].removeprefix(f"{root}/core/lib/") for one in warned
        ]

    return renewed


def test_what_is_as_it_was_shipped_is_renewed_and_nothing_else(
    root: Path, renewed: Renewed, tmp_path: Path
) -> None:
    assert renewed("former") == []
    assert files_of(root).keys() - {HASHES} == FORMER.keys()
    (root / "core/lib/mine.sh").write_text("mine\n")
    (root / "core/lib/linked.sh").unlink()
    (root / "core/lib/linked.sh").symlink_to(tmp_path / "former/core/lib/linked.sh")
    before = files_of(root)
    assert renewed("new") == ["linked.sh", "mine.sh"]
    found = files_of(root) | {HASHES: before[HASHES]}
    assert found == before | {"core/lib/old.sh": "2\n", "core/lib/new.sh": "2\n"}


def test_a_second_time_goes_on_after_a_failure(root: Path, renewed: Renewed) -> None:
    renewed("former")
    in_the_way = root / "core/lib/.old.sh.tmp"  # where the successor of a file is made
    in_the_way.mkdir()
    with pytest.raises(OSError, match=r"old\.sh"):
        renewed("new")
    in_the_way.rmdir()
    assert renewed("new") == []
    assert files_of(root)["core/lib/old.sh"] == "2\n"


def test_what_a_kill_left_is_renewed(root: Path, renewed: Renewed) -> None:
    renewed("former")
    renewed("new")
    write_tree(root, {"core/lib/old.sh": "1\n"})  # recorded, and not written yet
    assert renewed("new") == []
    assert files_of(root)["core/lib/old.sh"] == "2\n"


def test_without_a_record_no_file_is_taken_for_a_shipped_one(renewed: Renewed) -> None:
    assert renewed("new") == ["linked.sh", "mine.sh", "old.sh"]


def test_files_of_others_stay(root: Path, renewed: Renewed) -> None:
    renewed("former")
    before = files_of(root)
    for words in ("init", "-q"), ("add", "-f", HASHES, "core/lib/old.sh"):
        subprocess.run(["git", *words], cwd=root, check=True)
    renewed("new")
    assert {name for name in before if (root / name).read_text() != before[name]} == {
        "core/lib/mine.sh",
        "core/lib/linked.sh",
    }


def test_a_library_that_is_linked_is_somebody_elses(
    root: Path, renewed: Renewed, tmp_path: Path
) -> None:
    (root / "core/lib").rename(tmp_path / "theirs")
    (root / "core/lib").symlink_to(tmp_path / "theirs")
    before = files_of(tmp_path / "theirs")
    assert renewed("new") == []
    assert files_of(tmp_path / "theirs") == before


def test_git_renews_the_files_of_a_checkout(root: Path, renewed: Renewed) -> None:
    renewed("former")
    write_tree(
        root, {".git/HEAD": "", "pyproject.toml": '[project]\nname = "cli-host"\n'}
    )
    before = files_of(root)
    assert renewed("new") == []
    assert files_of(root) == before

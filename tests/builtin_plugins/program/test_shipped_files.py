"""What an update renews of an installation, and what it leaves."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from builtin_plugins.program import shipped_files
from builtin_plugins.program.shipped_files import renew
from testing.plugin_sources import write_tree

FORMER = {
    "core/schema/same.json": "1\n",
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
    """Renew the installation from a version; return the lines that it shows."""

    def renewed(version: str, *, replaces: bool = False) -> list[str]:
        monkeypatch.setattr(shipped_files, "_skeleton", lambda: tmp_path / version)
        shown: list[str] = []
        renew(str(root), shown.append, replaces=replaces)
        return shown

    return renewed


def test_the_files_of_the_program_become_its_own(
    root: Path, renewed: Renewed, tmp_path: Path
) -> None:
    (root / "core/lib/mine.sh").write_text("mine\n")
    (root / "core/lib/linked.sh").unlink()
    (root / "core/lib/linked.sh").symlink_to(tmp_path / "former/core/lib/linked.sh")
    before = files_of(root)
    moved = "core/lib/linked.sh, core/lib/mine.sh, core/lib/old.sh"
    what = "differed from this program's own and are now NAME.old"
    assert renewed("new") == [f"{root}: {what}: {moved}"]
    own = {
        path: text
        for path, text in NEW.items()
        if path.startswith(("core/lib", "core/schema"))
    }
    old = {f"{path}.old": before[path] for path in moved.split(", ")}
    assert files_of(root) == before | own | old
    assert renewed("new") == []

    (root / "core/lib/old.sh").write_text("again\n")
    renewed("new")
    assert (root / "core/lib/old.sh.old").read_text() == before["core/lib/old.sh"]
    assert (root / "core/lib/old.sh.old.2").read_text() == "again\n"


def test_an_update_replaces_what_the_former_version_wrote(
    root: Path, renewed: Renewed
) -> None:
    assert renewed("new", replaces=True) == []
    assert (root / "core/lib/old.sh").read_text() == "2\n"
    assert list(root.rglob("*.old")) == []


def test_a_second_time_goes_on_after_a_failure(root: Path, renewed: Renewed) -> None:
    in_the_way = root / "core/lib/.old.sh.tmp"  # where the successor of a file is made
    in_the_way.mkdir()
    with pytest.raises(OSError, match=r"old\.sh"):
        renewed("new")
    in_the_way.rmdir()
    renewed("new")
    assert (root / "core/lib/old.sh").read_text() == "2\n"
    assert (root / "core/lib/old.sh.old").read_text() == "1\n"


def test_files_in_git_stay(root: Path, renewed: Renewed) -> None:
    for words in ("init", "-q"), ("add", "-f", "core/lib/old.sh"):
        subprocess.run(["git", *words], cwd=root, check=True)
    renewed("new")
    assert (root / "core/lib/old.sh").read_text() == "1\n"
    assert (root / "core/lib/mine.sh").read_text() == "2\n"


def test_a_library_that_is_linked_is_somebody_elses(
    root: Path, renewed: Renewed, tmp_path: Path
) -> None:
    (root / "core/lib").rename(tmp_path / "theirs")
    (root / "core/lib").symlink_to(tmp_path / "theirs")
    before = files_of(tmp_path / "theirs")
    assert renewed("new") == []
    assert files_of(tmp_path / "theirs") == before

"""What an update renews of an installation, and what it leaves."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from builtin_plugins.administration.program.shipped_files import RECORD, record_shipped, renew
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


def files_of(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()
    }


def test_what_is_as_it_was_shipped_is_renewed_and_nothing_else(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for name, files in (("former", FORMER), ("new", NEW), ("root", FORMER)):
        write_tree(tmp_path / name, files)
    record_shipped(str(root), tmp_path / "former", ExitStack())
    (root / "core/lib/mine.sh").write_text("mine\n")
    (root / "core/lib/linked.sh").unlink()
    (root / "core/lib/linked.sh").symlink_to(tmp_path / "former/core/lib/linked.sh")
    before = files_of(root)
    warned: list[str] = []
    with ExitStack() as undo:
        renew(str(root), warned.append, undo, tmp_path / "new")
        found = files_of(root) | {RECORD: before[RECORD]}
        assert found == before | {"core/lib/old.sh": "2\n", "core/lib/new.sh": "2\n"}
    assert [one.partition(": ")[0] for one in warned] == [
        f"{root}/core/lib/linked.sh",
        f"{root}/core/lib/mine.sh",
    ]
    assert files_of(root) == before  # undone


def test_files_that_another_tool_left_behind_are_renewed(tmp_path: Path) -> None:
    root, new = tmp_path / "root", tmp_path / "new"
    for name, files in (("former", FORMER), ("new", NEW), ("root", FORMER)):
        write_tree(tmp_path / name, files)
    record_shipped(str(root), tmp_path / "former", ExitStack())
    (root / "core/lib/mine.sh").write_text("mine\n")
    recorded = files_of(root)
    warned: list[str] = []
    with ExitStack() as undo:
        renew(str(root), warned.append, undo, new)
        found = files_of(root)
        assert [path for path in NEW if found.get(path) == NEW[path] != FORMER.get(path)] == [
            *("core/lib/old.sh", "core/lib/linked.sh", "core/lib/new.sh")
        ]
    assert [one.partition(": ")[0] for one in warned] == [f"{root}/core/lib/mine.sh"]
    assert files_of(root) == recorded  # undone
    record_shipped(str(root), new, ExitStack())  # as a kill right behind it leaves it
    renew(str(root), warned.append, ExitStack(), new)
    assert files_of(root)["core/lib/old.sh"] == "2\n"


def test_without_a_record_no_file_is_taken_for_a_shipped_one(tmp_path: Path) -> None:
    for name, files in (("new", NEW), ("root", FORMER)):
        write_tree(tmp_path / name, files)
    warned: list[str] = []
    renew(str(tmp_path / "root"), warned.append, ExitStack(), tmp_path / "new")
    assert [one.partition(": ")[0].rpartition("/")[2] for one in warned] == [
        *("linked.sh", "mine.sh", "old.sh")
    ]


def test_a_library_that_is_linked_is_somebody_elses(tmp_path: Path) -> None:
    for name, files in (("former", FORMER), ("new", NEW)):
        write_tree(tmp_path / name, files)
    (tmp_path / "root/core").mkdir(parents=True)
    (tmp_path / "root/core/lib").symlink_to(tmp_path / "former/core/lib")
    before = files_of(tmp_path / "former")
    with ExitStack() as undo:
        renew(str(tmp_path / "root"), print, undo, tmp_path / "new")
        assert files_of(tmp_path / "former") == before

"""The files of a real checkout, brought forward or left as they are."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from builtin_plugins.io.git import Git, check_fast_forward, fast_forward
from host.errors import HostError
from testing.plugin_sources import Repository

FILES = {"a/one": "old\n", "gone": "old\n", "node/x": "old\n", "z/last": "old\n", "mine": "\n"}


class Checkout:
    """A clone whose remote has gone on: a file changed, others went, a directory became one."""

    def __init__(self, tmp_path: Path, fresh: Mapping[str, str]) -> None:
        remote = Repository(tmp_path / "remote", FILES)
        self.root = tmp_path / "root"
        remote.git("clone", "-q", remote.url, str(self.root))
        remote.git("rm", "-q", "gone", "node/x")
        self.new = remote.commit({"a/one": "new\n", "node": "a file\n", **fresh})
        self.git = Git(str(self.root), os.environ, 60)
        self.git("fetch", "-q", remote.url, "main")
        self.old = self.head()

    def head(self) -> str:
        return self.git("rev-parse", "HEAD").decode().strip()

    def files(self) -> dict[str, str]:
        found = (path for path in self.root.rglob("*") if path.is_file())
        names = {str(path.relative_to(self.root)): path.read_text("latin-1") for path in found}
        return {name: text for name, text in names.items() if not name.startswith(".git/")}


def test_a_checkout_goes_forward_and_keeps_what_is_the_users(tmp_path: Path) -> None:
    made = Checkout(tmp_path, {"z/last": "new\n"})
    (made.root / "mine").write_text("changed\n")
    (made.root / "own").write_text("unknown to git\n")
    check_fast_forward(made.git, made.old, made.new)
    fast_forward(made.git, made.old, made.new)
    assert made.head() == made.new
    assert made.files() == {
        "a/one": "new\n", "node": "a file\n", "z/last": "new\n", "mine": "changed\n",
        "own": "unknown to git\n",
    }  # fmt: skip


def test_a_merge_that_fails_on_its_way_is_undone(tmp_path: Path) -> None:
    made = Checkout(tmp_path, {"a/[x]*": "added\n", "fresh/in": "added\n", "z/last": "new\n"})
    (made.root / "mine").write_text("changed\n")
    before = made.files()
    check_fast_forward(made.git, made.old, made.new)
    immutable = ["chattr", "+i", str(made.root / "z")]
    if shutil.which("chattr") is None or subprocess.run(immutable, check=False).returncode:
        pytest.skip("needs a file system with immutable directories")
    try:
        with pytest.raises(HostError, match="git merge: "):
            fast_forward(made.git, made.old, made.new)
    finally:
        subprocess.run(["chattr", "-i", str(made.root / "z")], check=True)
    assert made.files() == before
    assert made.head() == made.old
    assert made.git("status", "--porcelain").decode() == " M mine\n"


IN_THE_WAY = {
    "a changed file": ("a/one", "Entry 'a/one' not uptodate"),
    "a file that git does not know": ("fresh/in", "'fresh/in' would be overwritten"),
}


@pytest.mark.parametrize(("name", "said"), IN_THE_WAY.values(), ids=IN_THE_WAY)
def test_files_in_the_way_stop_it(tmp_path: Path, name: str, said: str) -> None:
    made = Checkout(tmp_path, {"fresh/in": "added\n"})
    (made.root / name).parent.mkdir(exist_ok=True)
    (made.root / name).write_text("mine\n")
    before = made.files()
    with pytest.raises(HostError, match=said):
        check_fast_forward(made.git, made.old, made.new)
    assert made.files() == before


def test_commits_of_its_own_stop_it(tmp_path: Path) -> None:
    made = Checkout(tmp_path, {})
    with pytest.raises(HostError, match="has local commits"):
        check_fast_forward(made.git, made.new, made.old)

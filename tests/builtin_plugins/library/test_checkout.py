"""The files of a real checkout, brought forward or left as they are."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from builtin_plugins.library.checkout import (
    MARK,
    check_fast_forward,
    differing_paths,
    fast_forward,
    fetch_newest,
)
from builtin_plugins.library.git import Git
from host.errors import HostError
from testing.plugin_sources import Repository

FILES = {
    "a/one": "old\n",
    "gone": "old\n",
    "node/x": "old\n",
    "z/last": "old\n",
    "mine": "\n",
}


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
        names = {
            str(path.relative_to(self.root)): path.read_text("latin-1")
            for path in found
        }
        return {
            name: text for name, text in names.items() if not name.startswith(".git/")
        }


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
    made = Checkout(
        tmp_path, {"a/[x]*": "added\n", "fresh/in": "added\n", "z/last": "new\n"}
    )
    (made.root / "mine").write_text("changed\n")
    before = made.files()
    check_fast_forward(made.git, made.old, made.new)
    immutable = ["chattr", "+i", str(made.root / "z")]
    if (
        shutil.which("chattr") is None
        or subprocess.run(immutable, check=False).returncode
    ):
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


# A git that is killed at one of its changes of the disk, in one or more of its commands.
_KILLED = """#!/bin/sh
for word in "$@"; do
  case $word in -*|*=*) ;; *) break ;; esac
done
case " $KILLED_COMMANDS " in
  *" $word "*)
    strace -f -qqq -e signal=none -o /dev/null -e trace=rename,unlink \\
      -e inject=rename,unlink:signal=KILL:when=$KILLED_AT "$REAL_GIT" "$@"
    status=$?
    if [ -n "$WITH_CALLER" ]; then kill -9 $PPID; fi
    exit $status ;;
esac
exec "$REAL_GIT" "$@"
"""
_PROGRAM = """
import os, sys
from builtin_plugins.library.checkout import fast_forward
from builtin_plugins.library.git import Git
fast_forward(Git(sys.argv[1], os.environ, 60), *sys.argv[2:])
"""
# 1 is ORIG_HEAD, 2 to 5 are files, 6 is the index, 7 the branch; 8 and 9 come after the branch.
_STEPS = (1, 3, 4, 6, 7, 8, 9)


@pytest.fixture
def killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a `git` that kills itself as the variables say."""
    git = shutil.which("git")
    if shutil.which("strace") is None or git is None:
        pytest.skip("needs strace")
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "git").write_text(_KILLED)
    (tools / "git").chmod(0o755)
    monkeypatch.setenv("REAL_GIT", git)
    return tools


def _path_with(tools: Path) -> str:
    return f"{tools}:{os.environ['PATH']}"


def _locks(made: Checkout) -> list[str]:
    return sorted(path.name for path in (made.root / ".git").rglob("*.lock"))


def _works(made: Checkout, before: dict[str, str]) -> None:
    """Check that nothing has changed, and that the update can be repeated."""
    assert made.files() == before
    assert made.head() == made.old
    assert made.git("status", "--porcelain").decode() == " M mine\n"
    assert _locks(made) == []
    fast_forward(made.git, made.old, made.new)
    assert made.head() == made.new
    assert made.git("status", "--porcelain").decode() == " M mine\n"
    assert (made.root / "a/one").read_text() == "new\n"


@pytest.mark.slow
@pytest.mark.parametrize("step", _STEPS)
def test_a_killed_merge_is_undone_with_its_locks(
    tmp_path: Path, killed: Path, step: int
) -> None:
    made = Checkout(tmp_path, {"fresh/in": "added\n", "z/last": "new\n"})
    (made.root / "mine").write_text("changed\n")
    before = made.files()
    environ = {
        "KILLED_COMMANDS": "merge",
        "KILLED_AT": str(step),
        "PATH": _path_with(killed),
    }
    git = Git(str(made.root), {**os.environ, **environ}, 60)
    with pytest.raises(HostError, match="git merge: "):
        fast_forward(git, made.old, made.new)
    _works(made, before)


@pytest.mark.slow
@pytest.mark.parametrize("step", _STEPS[1:])
def test_the_next_update_undoes_one_that_was_killed_with_git(
    tmp_path: Path, killed: Path, step: int
) -> None:
    made = Checkout(tmp_path, {"fresh/in": "added\n", "z/last": "new\n"})
    (made.root / "mine").write_text("changed\n")
    before = made.files()
    environ = {"KILLED_COMMANDS": "merge", "KILLED_AT": str(step), "WITH_CALLER": "1"}
    words = [sys.executable, "-c", _PROGRAM, made.root, made.old, made.new]
    path = _path_with(killed)
    done = subprocess.run(
        words, env={**os.environ, **environ, "PATH": path}, check=False
    )
    assert done.returncode == -9
    assert (made.root / ".git" / MARK).read_text() == f"{made.old} {made.new}"
    check_fast_forward(made.git, made.old, made.new)
    _works(made, before)


def test_an_undo_that_fails_is_finished_by_the_next_update(
    tmp_path: Path, killed: Path
) -> None:
    made = Checkout(tmp_path, {"fresh/in": "added\n", "z/last": "new\n"})
    (made.root / "mine").write_text("changed\n")
    before = made.files()
    environ = {"KILLED_COMMANDS": "merge update-index", "KILLED_AT": "1"}
    git = Git(str(made.root), {**os.environ, **environ, "PATH": _path_with(killed)}, 60)
    with pytest.raises(HostError, match="could not be undone"):
        fast_forward(git, made.old, made.new)
    check_fast_forward(made.git, made.old, made.new)
    _works(made, before)


def test_what_the_user_wrote_after_a_kill_stays(tmp_path: Path, killed: Path) -> None:
    made = Checkout(tmp_path, {"fresh/in": "added\n", "z/last": "new\n"})
    environ = {"KILLED_COMMANDS": "merge", "KILLED_AT": "8", "WITH_CALLER": "1"}
    words = [sys.executable, "-c", _PROGRAM, made.root, made.old, made.new]
    path = _path_with(killed)
    subprocess.run(words, env={**os.environ, **environ, "PATH": path}, check=False)
    (made.root / "a/one").write_text("mine\n")
    with pytest.raises(HostError, match="a/one"):
        check_fast_forward(made.git, made.old, made.new)
    assert (made.root / "a/one").read_text() == "mine\n"
    assert made.head() == made.old


def test_a_head_that_an_undo_forgot_is_not_the_newest(tmp_path: Path) -> None:
    """As an earlier version of this program left it: the files are undone, HEAD is not."""
    made = Checkout(tmp_path, {"z/last": "new\n"})
    made.git("merge", "--ff-only", "-q", made.new)
    made.git("checkout", "-q", made.old, "--", "a/one", "gone", "z/last")
    (made.root / "node").unlink()
    made.git("rm", "-q", "--cached", "node")
    made.git("checkout", "-q", made.old, "--", "node/x")
    made.git("config", "remote.origin.url", (tmp_path / "remote").as_uri())
    assert made.head() == made.new
    assert fetch_newest(made.git)[1:] == (made.old, made.new)
    assert made.git("status", "--porcelain") == b""
    fast_forward(made.git, made.old, made.new)
    assert fetch_newest(made.git)[1:] == (made.new, made.new)


def test_a_lock_of_somebody_else_is_named_and_stays(tmp_path: Path) -> None:
    made = Checkout(tmp_path, {})
    lock = made.root / ".git/index.lock"
    lock.touch()
    with pytest.raises(HostError) as caught:
        fast_forward(made.git, made.old, made.new)
    assert caught.value.what == f"{lock}: a git command was killed and left this lock"
    assert caught.value.remedy == f"rm {lock}"
    assert lock.exists()
    lock.unlink()
    lock = made.root / ".git/refs/heads/main.lock"
    lock.touch()
    with pytest.raises(
        HostError, match=r"refs/heads/main\.lock: a git command was killed"
    ):
        fast_forward(made.git, made.old, made.new)


def test_a_git_command_that_waits_for_its_editor_keeps_its_lock(tmp_path: Path) -> None:
    made = Checkout(tmp_path, {})
    (made.root / ".git" / MARK).write_text("-")  # as a killed update leaves it
    waiting = [
        "git",
        "-c",
        "core.editor=sleep 600; :",
        "-c",
        "user.name=n",
        "-c",
        "user.email=e",
    ]
    (made.root / "mine").write_text("changed\n")
    process = subprocess.Popen(
        [*waiting, "commit", "-qa"], cwd=made.root, start_new_session=True
    )
    lock = made.root / ".git/index.lock"
    try:
        while not lock.exists():
            assert process.poll() is None
        with pytest.raises(
            HostError, match=r"index\.lock: another git command is running"
        ):
            fast_forward(made.git, made.old, made.new)
        assert lock.exists()
    finally:
        os.killpg(process.pid, 9)
        process.wait()


def test_one_update_waits_for_another(tmp_path: Path) -> None:
    made = Checkout(tmp_path, {})
    heard: list[str] = []
    with (made.root / ".git" / MARK).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        words = [sys.executable, "-c", _PROGRAM, made.root, made.old, made.new]
        second = subprocess.Popen(words, stderr=subprocess.PIPE)
        with pytest.raises(subprocess.TimeoutExpired):
            second.wait(1.5)
    assert second.communicate(timeout=60)[1] == b""
    assert (second.returncode, heard) == (0, [])
    assert made.head() == made.new


def test_differing_paths_are_those_of_the_user(tmp_path: Path) -> None:
    made = Checkout(tmp_path, {})
    assert differing_paths(made.git) == []
    (made.root / "mine").write_text("changed\n")
    (made.root / "own").write_text("unknown to git\n")
    assert differing_paths(made.git) == ["mine"]

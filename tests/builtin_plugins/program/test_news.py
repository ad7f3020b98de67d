"""News of an installation's repository: who looks for it, when, and who mentions it."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from testing.installation import CLI, Made, command
from testing.plugin_sources import Repository
from testing.terminal import on_terminal
from testing.waiting import wait_until

Install = Callable[..., Made]

NEWS = "cli: your team's commands have changed; to update: cli self sync\n"
DAY = 86_400


def cloned(
    install: Install, tmp_path: Path, follow: str = "notice"
) -> tuple[Made, Repository]:
    """Return an installation made from a repository, and that."""
    made = install({"core/cli.json": {**CLI, "team": {"follow": follow}}})
    made.write(
        {"commands/a/b/command.json": command(), "commands/a/b/main.sh": "echo ran\n"}
    )
    repository = Repository(tmp_path / "team", {"README": "one"})
    repository.git(
        "clone", "-q", "--no-checkout", repository.url, str(tmp_path / "clone")
    )
    shutil.move(tmp_path / "clone/.git", made.root / ".git")
    return made, repository


def stamps(made: Made) -> list[Path]:
    return [*made.home.glob(".cache/cli-host/*.news")]


def stamp_with(made: Made, content: str) -> Path:
    """Return the stamp once the detached check has written this content to it."""
    wait_until(lambda: content in [stamp.read_text() for stamp in stamps(made)])
    [stamp] = stamps(made)
    return stamp


def next_day(stamp: Path) -> None:
    """Move the last check a day back."""
    past = time.time() - DAY - 1
    os.utime(stamp, (past, past))


@pytest.mark.slow
def test_news_is_mentioned_the_day_after(install: Install, tmp_path: Path) -> None:
    made, repository = cloned(install, tmp_path)
    # Starts the first check, which finds nothing; with LANG it is no fork, and pgrep finds it.
    assert NEWS not in on_terminal(made, LANG="C.UTF-8")[1]
    stamp = stamp_with(made, "")
    running = ["pgrep", "-f", made.launcher]
    wait_until(
        lambda: subprocess.run(running, check=False, capture_output=True).returncode
    )
    commit = repository.commit({"README": "two"})
    assert NEWS not in on_terminal(made)[1]
    assert stamp.read_text() == ""  # one check a day
    next_day(stamp)
    on_terminal(made)  # starts the check, whose answer may come while it lists
    stamp_with(made, commit)
    for words in (
        [],
        ["a"],
        ["self", "list"],
        ["self", "which", "a", "b"],
        ["self", "plugin"],
    ):
        status, shown = on_terminal(made, *words)
        assert (status, shown.endswith(NEWS), shown.count(NEWS)) == (0, True, 1), words
    # An error is no place for it, nor is a run.
    for words in (["nothing"], ["a", "b"], ["--version"]):
        assert NEWS not in on_terminal(made, *words)[1]
    git = Repository.__new__(Repository)
    git.path = made.root
    git.git("fetch", "-q")
    assert on_terminal(made)[1].endswith(NEWS)
    git.git("reset", "-q", "--mixed", "origin/main")
    assert NEWS not in on_terminal(made)[1]  # here by now, without another check
    next_day(stamp)
    on_terminal(made)
    stamp_with(made, "")


@pytest.mark.slow
def test_a_commit_of_ones_own_is_no_news(install: Install, tmp_path: Path) -> None:
    made, repository = cloned(install, tmp_path)
    git = Repository.__new__(Repository)
    git.path = made.root
    git.git("commit", "-q", "--allow-empty", "-m", "mine")
    on_terminal(made)
    stamp_with(made, "")
    stamps(made)[0].write_text(repository.git("rev-parse", "HEAD"))
    assert NEWS not in on_terminal(made)[1]


QUIET: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "never": ({"follow": "never"}, {}),
    "CI": ({}, {"CI": "true"}),
    "CLI_NO_NOTICE": ({}, {"CLI_NO_NOTICE": "1"}),
    "inside a run": ({}, {"CLI_RUN": "/x::"}),
}


@pytest.mark.slow
@pytest.mark.parametrize(("team", "env"), QUIET.values(), ids=QUIET)
def test_nothing_is_looked_for_or_mentioned(
    install: Install, tmp_path: Path, team: dict[str, str], env: dict[str, str]
) -> None:
    made, _ = cloned(install, tmp_path, **team)
    on_terminal(made, "self", "list", **env)
    assert stamps(made) == []
    cache = Path(made.home, ".cache/cli-host")
    cache.mkdir(parents=True)
    name = str(made.root / "cli.lock").replace("/", "%2F")
    (cache / f"{name}.news").write_text("0" * 40)
    assert NEWS not in on_terminal(made, **env)[1]
    assert (NEWS in on_terminal(made)[1]) == (not team)


@pytest.mark.slow
def test_only_a_terminal_is_served(install: Install, tmp_path: Path) -> None:
    made, _ = cloned(install, tmp_path)
    for words in ([], ["self", "list", "--format", "json"], ["a", "b"]):
        assert made.run(*words).stderr == ""
    assert stamps(made) == []
    assert (
        on_terminal(made, "a", "b")[1] == "ran\n"
    )  # a run on a terminal looks for nothing
    assert stamps(made) == []
    shutil.rmtree(made.root / ".git")
    on_terminal(made)
    assert stamps(made) == []  # there is no repository to ask


CALLS = {"ssh that fails": False, "an ssh of ours that hangs": True}


@pytest.mark.slow
@pytest.mark.parametrize("hangs", CALLS.values(), ids=CALLS)
def test_the_check_is_detached_cannot_ask_and_ends(
    install: Install, tmp_path: Path, hangs: bool
) -> None:
    """An ssh that hangs is ended after ten seconds."""
    made, _ = cloned(install, tmp_path)
    git = Repository.__new__(Repository)
    git.path = made.root
    git.git("remote", "set-url", "origin", "ssh://git.invalid/team")
    log = tmp_path / "log"
    ssh = tmp_path / "bin/ssh"
    ssh.parent.mkdir()
    lines = [
        "#!/bin/bash",
        f'echo "$*" >> {log}',
        f"(: < /dev/tty) 2>/dev/null && echo terminal >> {log}",
        f"echo $$ >> {log}.pid",
        f"until [[ -e {log}.fail ]]; do sleep 0.05; done",
        "exit 255",
    ]
    ssh.write_text("\n".join(lines) + "\n")
    ssh.chmod(0o755)
    begin = time.monotonic()
    path = f"{ssh.parent}:{os.environ['PATH']}"
    if hangs:
        ssh = ssh.rename(ssh.with_name("our-ssh"))
        git.git("config", "core.sshCommand", f"{ssh} -p 22")
    assert (
        on_terminal(made, PATH=path)[0] == 0
    )  # its terminal is closed when it has ended
    (stamp,) = stamps(made)
    pid = Path(f"{log}.pid")
    wait_until(lambda: pid.exists() and pid.read_text().endswith("\n"))
    ssh_process = Path("/proc", pid.read_text().strip())
    # The listing has ended before the check, unless this machine was busy for nine seconds.
    assert ssh_process.exists() or time.monotonic() - begin > 9
    if not hangs:
        Path(f"{log}.fail").touch()
    wait_until(lambda: not ssh_process.exists())
    assert not hangs or time.monotonic() - begin > 9
    called = log.read_text()
    assert called.startswith(f"{'-p 22 ' * hangs}-o BatchMode=yes ")
    assert "terminal" not in called
    assert stamp.read_text() == ""
    on_terminal(made, PATH=path)
    assert log.read_text() == called  # a check that failed is not repeated on that day


def test_a_cache_that_cannot_be_written_starts_nothing(
    install: Install, tmp_path: Path
) -> None:
    made, _ = cloned(install, tmp_path)
    (made.home / "file").touch()
    status, shown = on_terminal(made, XDG_CACHE_HOME=str(made.home / "file"))
    assert (status, "rror" in shown) == (0, False)

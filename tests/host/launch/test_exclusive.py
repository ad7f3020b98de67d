"""`exclusive`: one run at a time, and a message that says who holds the lock."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.installation import Made
from testing.terminal import Terminal
from testing.waiting import wait_until

WAITING = (
    'touch "$HOME/started"; while [ ! -e "$HOME/go" ]; do sleep 0.02; done; echo '
    '"finished $1"'
)


def script(text: str, **keys: object) -> str:
    return f"#!/bin/bash\n# /// command\n# {json.dumps(keys)}\n# ///\n{text}\n"


def start(made: Made, *words: str, **env: str) -> subprocess.Popen[str]:
    """Start a run in the background, and wait until its script has begun."""
    process = subprocess.Popen(
        [made.launcher, *words],
        env={"PATH": os.environ["PATH"], "HOME": str(made.home), **env},
        stdout=subprocess.PIPE,
        text=True,
    )
    wait_until((made.home / "started").exists)
    return process


def finish(made: Made, process: subprocess.Popen[str]) -> str:
    (made.home / "go").touch()
    assert process.stdout is not None
    assert process.wait(120) == 0
    return process.stdout.read()


@pytest.mark.parametrize(
    "recorded", [False, True], ids=["inherited", "held by the parent"]
)
def test_a_second_run_fails(install: Callable[..., Made], recorded: bool) -> None:
    made = install({"commands/m": script(WAITING, exclusive=True, record=recorded)})
    first = start(made, "m", "first")
    second = made.run("m", "second")
    assert (second.status, second.stdout) == (75, "")
    assert second.stderr.startswith("cli: m: another run is in progress (")
    assert f"@{os.uname().nodename}, process {first.pid}, since 20" in second.stderr
    assert second.stderr.count("\n") == 1
    assert finish(made, first) == "finished first\n"
    assert made.run("m", "third").all == (0, "finished third\n", "")


def test_a_run_waits(install: Callable[..., Made]) -> None:
    made = install({"commands/m": script(WAITING, exclusive="wait")})
    first = start(made, "m", "first")
    second = subprocess.Popen(
        [made.launcher, "m", "second"],
        env={"PATH": os.environ["PATH"], "HOME": str(made.home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert second.stderr is not None
    assert second.stderr.readline().startswith(
        "cli: m: waiting for another run to end ("
    )
    assert finish(made, first) == "finished first\n"
    assert second.communicate(timeout=30) == ("finished second\n", "")


def test_commands_with_one_name_exclude_each_other(
    install: Callable[..., Made],
) -> None:
    made = install(
        {
            "commands/a": script(WAITING, exclusive="database"),
            "commands/b": script("echo b", exclusive="database"),
            "commands/c": script("echo c", exclusive="other"),
        }
    )
    first = start(made, "a")
    assert made.run("b").status == 75
    assert made.run("c").all == (0, "c\n", "")
    finish(made, first)
    assert made.run("b").all == (0, "b\n", "")


def test_the_name_of_a_lock_is_not_the_word_of_a_command(
    install: Callable[..., Made],
) -> None:
    made = install(
        {
            "commands/deploy": script(WAITING, exclusive=True),
            "commands/other": script("echo other", exclusive="deploy"),
        }
    )
    first = start(made, "deploy")
    assert made.run("other").all == (0, "other\n", "")
    finish(made, first)


def test_the_lock_of_a_command_with_very_long_words(
    install: Callable[..., Made],
) -> None:
    words = [letter * 64 for letter in "abcd"]  # together longer than a file name
    last = [*words[:-1], "e" * 64]
    made = install(
        {
            f"commands/{'/'.join(words)}": script(WAITING, exclusive=True),
            f"commands/{'/'.join(last)}": script("echo last", exclusive=True),
        }
    )
    first = start(made, *words)
    assert made.run(*words).status == 75
    assert made.run(*last).all == (0, "last\n", "")
    finish(made, first)


@pytest.mark.parametrize("exclusive", [True, "wait"])
@pytest.mark.parametrize("recorded", [False, True])
def test_a_run_inside_its_holder_does_not_wait(
    install: Callable[..., Made], exclusive: object, recorded: bool
) -> None:
    text = '[ "$1" ] || exec true; "$CLI_DIR/core/cli" m; echo $?'
    made = install({"commands/m": script(text, exclusive=exclusive, record=recorded)})
    done = made.run("m", "again", timeout=30)
    assert done.all[:2] == (0, "75\n")
    assert "cannot start inside a run that holds the same lock" in done.stderr


def test_the_lock_lasts_as_long_as_a_background_process(
    install: Callable[..., Made],
) -> None:
    text = f'[ "$1" ] || {{ ({WAITING}) < /dev/null > /dev/null 2>&1 & }}; exit 0'
    made = install({"commands/m": script(text, exclusive=True)})
    assert made.run("m").status == 0
    assert made.run("m", "x").status == 75
    (made.home / "go").touch()
    wait_until(lambda: made.run("m", "x").status == 0)


def test_a_killed_run_leaves_no_lock(install: Callable[..., Made]) -> None:
    made = install({"commands/m": script(WAITING, exclusive=True)})
    first = start(made, "m")
    first.kill()
    first.wait()
    (made.home / "go").touch()
    wait_until(
        lambda: made.run("m").status == 0
    )  # its `sleep` holds the lock for a moment


ASKING = {"exclusive": True, "confirm": "Really?"}


def on_terminal(made: Made, *words: str) -> Terminal:
    environ = {"PATH": os.environ["PATH"], "HOME": str(made.home)}
    return Terminal([str(made.launcher), *words], environ)


def test_nobody_is_asked_about_a_run_that_must_not_start(
    install: Callable[..., Made],
) -> None:
    made = install({"commands/m": script(WAITING, **ASKING)})
    first = start(made, "--yes", "m")
    with on_terminal(made, "m") as second:
        shown = second.wait_for("m: ")
        assert second.wait() == 75
    assert "Really?" not in shown
    finish(made, first)


@pytest.mark.parametrize("recorded", [False, True])
def test_a_question_holds_the_lock_until_it_is_declined(
    install: Callable[..., Made], recorded: bool
) -> None:
    made = install({"commands/m": script("echo ran", record=recorded, **ASKING)})
    with on_terminal(made, "m") as first:
        first.wait_for("Really? [y/N] ")
        assert made.run("--yes", "m").status == 75
        first.type("n\n")
        assert first.wait() == 1
    assert made.run("--yes", "m").all == (0, "ran\n", "")


def test_a_run_that_nobody_can_confirm_does_not_wait(
    install: Callable[..., Made],
) -> None:
    keys = {**ASKING, "exclusive": "wait"}
    made = install({"commands/m": script(WAITING, **keys)})
    first = start(made, "--yes", "m")
    second = made.run("m", timeout=30)
    assert second.status == 1
    assert "m: needs confirmation" in second.stderr
    finish(made, first)


_TOO_LARGE = b'{"process": 1e400, "user": "a", "host": "b", "start": "c"}'


@pytest.mark.parametrize(
    "content", [b"", b"garbage", b'{"process": "x"}', _TOO_LARGE, b"\xff\0"]
)
def test_a_damaged_lock_file_only_changes_the_message(
    install: Callable[..., Made], content: bytes
) -> None:
    made = install({"commands/m": script(WAITING, exclusive=True)})
    first = start(made, "m")
    [file] = made.home.glob(".local/state/cli-host/locks/*/*")
    file.write_bytes(content)
    assert made.run("m").stderr == (
        "cli: m: another run is in progress (its file does not say who)\n"
    )
    finish(made, first)


def test_a_lock_that_cannot_be_made(
    install: Callable[..., Made], tmp_path: Path
) -> None:
    made = install({"commands/m": script("true", exclusive=True)})
    (tmp_path / "file").write_text("")
    done = made.run("m", env={"XDG_STATE_HOME": str(tmp_path / "file")})
    assert (done.status, done.stdout) == (1, "")
    assert (
        "the lock of an exclusive command cannot be used: Not a directory"
        in done.stderr
    )


def _replace_by_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


@pytest.mark.parametrize(
    ("replace", "reason"),
    [
        (lambda file: file.chmod(0o620), "it can be written by others; run: chmod 600"),
        (
            lambda file: file.parent.chmod(0o770),
            "that others can write to; run: chmod 700",
        ),
        (_replace_by_pipe, "it is not a regular file"),
        (lambda file: os.chown(file, 1, 1), "it belongs to user 1"),
    ],
    ids=["writable by others", "in such a directory", "a pipe", "another user's"],
)
def test_a_lock_file_that_another_user_could_have_written(
    install: Callable[..., Made], replace: Callable[[Path], None], reason: str
) -> None:
    if "user" in reason and os.getuid():
        pytest.skip("only root can give a file away")
    made = install({"commands/m": script("echo ran", exclusive=True)})
    assert made.run("m").status == 0
    [file] = made.home.glob(".local/state/cli-host/locks/*/*")
    replace(file)
    done = made.run("m")
    assert (done.status, done.stdout) == (1, "")
    assert reason in done.stderr


def test_a_holder_that_has_ended(install: Callable[..., Made]) -> None:
    text = '[ "$1" ] || { sleep 60 < /dev/null > /dev/null 2>&1 & echo $! ; }; exit 0'
    made = install({"commands/m": script(text, exclusive=True)})
    process = int(made.run("m").stdout)
    busy = made.run("m", "x")
    os.kill(process, signal.SIGKILL)
    assert busy.status == 75
    assert "which has ended; what it started holds '/" in busy.stderr


def test_process_1_of_another_container_is_no_ancestor(
    install: Callable[..., Made],
) -> None:
    """Its id is that of an ancestor here, but its host is another one, or this run is no inner."""
    made = install({"commands/m": script(WAITING, exclusive=True)})
    first = start(made, "m")
    [file] = made.home.glob(".local/state/cli-host/locks/*/*")
    holder = {**json.loads(file.read_bytes()), "process": os.getpid()}
    file.write_text(json.dumps(holder))
    assert "another run is in progress" in made.run("m").stderr
    file.write_text(json.dumps({**holder, "host": "another"}))
    inner = made.run("m", env={"CLI_RUN": f"{made.root}:::"})
    assert "another run is in progress" in inner.stderr
    finish(made, first)


def test_a_low_limit_of_open_files(install: Callable[..., Made]) -> None:
    made = install({"commands/m": script("echo ran", exclusive=True, record=True)})
    line = f"ulimit -n 20; exec {made.launcher} m"
    done = subprocess.run(
        ["/bin/bash", "-c", line],
        env={"PATH": os.environ["PATH"], "HOME": str(made.home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran\n", "")


def test_descriptors_of_an_exclusive_run(install: Callable[..., Made]) -> None:
    made = install({"commands/m": script("ls /proc/$$/fd", exclusive=True)})
    inherited = [int(name) for name in made.run("m").stdout.split()]
    assert [number for number in inherited if 2 < number < 200 and number != 255] == [
        101
    ]

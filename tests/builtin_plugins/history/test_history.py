"""`self history`: what is recorded, how it is shown, and that it never stops a run."""

from __future__ import annotations

import json
import os
import random
import select
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from host import OperationError
from host.launch.history_database import HistoryFile
from testing.installation import CLI, Made
from testing.terminal import on_terminal
from testing.waiting import wait_until

MOVED = json.dumps({"name": "a", "description": "b", "moved_to": "there"})


def script(text: str, **keys: object) -> str:
    """Return a bash script with these keys in its JSON block."""
    return f"#!/bin/bash\n# /// command\n# {json.dumps(keys)}\n# ///\n{text}\n"


def runs(made: Made, *options: str) -> list[dict[str, Any]]:
    shown = made.run("self", "history", *options, "--format", "json")
    assert (shown.status, shown.stderr) == (0, "")
    found: list[dict[str, Any]] = json.loads(shown.stdout)["runs"]
    return found


def database_of(made: Made) -> Path:
    [database] = made.home.glob(".local/state/cli-host/history/*.sqlite3")
    return database


def test_what_is_recorded(install: Callable[..., Made]) -> None:
    made = install({"commands/db/backup": script("exit 3", record=True)})
    assert made.run("db", "backup", "a b", "-x", cwd=made.home).status == 3
    [run] = runs(made)
    assert len(run.pop("id")) == 12
    assert run.pop("start").endswith("Z")
    assert 0 < run.pop("seconds") < 30
    assert run.pop("host") == os.uname().nodename
    assert run.pop("user")
    assert run == {
        "words": ["db", "backup"],
        "arguments": ["a b", "-x"],
        "directory": str(made.home),
        "version": CLI["version"],
        "plugin": "",
        "status": 3,
        "signal": 0,
        "origin": "script",
        "client": {},
        "hosts": [],
        "outer": "",
    }


@pytest.mark.parametrize(
    ("files", "env", "count"),
    [
        ({"commands/a/s": script("true")}, {}, 0),
        ({"commands/a/s": script("true")}, {"CLI_RECORD": "1"}, 1),
        (
            {"commands/a/s": script("true"), "core/cli.json": {**CLI, "record": True}},
            {},
            1,
        ),
        (
            {
                "commands/a/s": script("true", record=False),
                "core/cli.json": {**CLI, "record": True},
            },
            {},
            0,
        ),
        (
            {
                "commands/a/s": script("true"),
                "commands/a/category.json": {"record": True},
            },
            {},
            1,
        ),
        (
            {"commands/a/s": script("true"), "core/cli.json": {**CLI, "record": False}},
            {"CLI_RECORD": "1"},
            0,
        ),
    ],
    ids=[
        "by default",
        "variable",
        "cli.json",
        "nearest wins",
        "category.json",
        "never",
    ],
)
def test_which_runs_are_recorded(
    install: Callable[..., Made],
    files: dict[str, object],
    env: dict[str, str],
    count: int,
) -> None:
    made = install(files)
    assert made.run("a", "s", env=env).status == 0
    assert len(runs(made)) == count


@pytest.mark.slow
def test_filters(install: Callable[..., Made]) -> None:
    made = install(
        {
            "commands/a/good": script("true", record=True),
            "commands/a/bad": script("exit 1", record=True),
            "commands/b/killed": script("kill -TERM $$; sleep 9", record=True),
        }
    )
    made.run("a", "good")
    made.run("a", "bad")
    made.run("b", "killed", env={"CI": "true"})
    words = [run["words"] for run in runs(made)]
    assert words == [["b", "killed"], ["a", "bad"], ["a", "good"]]
    assert [run["words"][1] for run in runs(made, "--failed")] == ["killed", "bad"]
    assert [run["words"][1] for run in runs(made, "a")] == ["bad", "good"]
    assert [run["words"][1] for run in runs(made, "--limit", "1")] == ["killed"]
    assert [run["words"][1] for run in runs(made, "--origin", "ci")] == ["killed"]
    assert runs(made, "--since", "2100-01-01") == []
    assert len(runs(made, "--since", "1h")) == 3
    assert (runs(made)[0]["status"], runs(made)[0]["signal"]) == (143, 15)
    for limit in (
        "-1",
        "9" * 20,
    ):  # SQLite takes a negative number for "all", and no larger one
        refused = made.run("self", "history", f"--limit={limit}")
        assert (refused.status, refused.stdout) == (2, "")
        assert f"found {limit}\n" in refused.stderr
    for since in ("soon", "999999w"):
        wrong = made.run("self", "history", "--since", since)
        assert (wrong.status, wrong.stdout) == (2, "")
        assert f"--since: {since} is no time; use a number" in wrong.stderr


def test_the_table_fits_the_terminal(install: Callable[..., Made]) -> None:
    made = install({"commands/say": script("exit 4", record=True)})
    made.run("say", "a very long argument " * 9)
    status, shown = on_terminal(made, "self", "history", columns=90)
    heading, row = shown.splitlines()
    assert status == 0
    assert heading.replace("\033[1m", "").split()[:4] == [
        "ID",
        "WHEN",
        "WHO",
        "COMMAND",
    ]
    assert "…" in row
    assert row.startswith("\033[31m")  # it failed
    assert len(row) <= 90 + len("\033[31m\033[0m")


@pytest.mark.slow
def test_show_rerun_clear(install: Callable[..., Made], tmp_path: Path) -> None:
    made = install({"commands/where": script('echo "$PWD $1"', record=True)})
    if sys.platform == "linux":
        tmp_path /= "no\udce9 UTF-8 \\udce9\\udc5c\\"
        tmp_path.mkdir()
    made.run("where", "x", cwd=tmp_path)
    [run] = runs(made)
    beginning = run["id"][:6]
    shown = made.run("self", "history", "show", beginning)
    assert (shown.status, shown.stderr) == (0, "")
    assert "cli where x" in shown.stdout
    again = made.run("self", "history", "rerun", beginning, "--yes")
    assert again.all == (0, f"{tmp_path} x\n", "")
    assert (
        made.run("self", "history", "rerun", beginning).status == 1
    )  # no terminal to ask on
    assert len(runs(made)) == 2
    assert made.run("self", "history", "show", "zzz").status == 2

    (made.root / "commands/where").rename(made.root / "commands/there")
    made.write({"commands/where/command.json": MOVED})
    moved = made.run("self", "history", "rerun", beginning, "--yes")
    assert (moved.status, moved.stdout) == (0, f"{tmp_path} x\n")

    shutil.rmtree(made.root / "commands/where")
    # The directory of the recorded run decides which projects have commands.
    (tmp_path / ".cli/commands/where").mkdir(parents=True)
    (tmp_path / ".cli/commands/where/x").write_text(script("echo another"))
    changed = made.run("self", "history", "rerun", beginning, "--yes")
    assert changed.status == 1
    assert "cli where x is now another command: where x;" in changed.stderr


def test_the_outer_run(install: Callable[..., Made]) -> None:
    inner = '"$CLI_DIR/core/cli" '
    made = install(
        {
            "commands/outer": script(f"{inner} middle", record=True),
            "commands/middle": script(f"{inner} inner"),
            "commands/inner": script("true", record=True),
        }
    )
    made.run("outer")
    inner_run, outer_run = runs(made)
    assert (inner_run["words"], inner_run["outer"]) == (["inner"], outer_run["id"])
    assert outer_run["outer"] == ""


def test_no_secret_is_recorded(install: Callable[..., Made], tmp_path: Path) -> None:
    secrets = {
        "of a file": "fromfile9c1",
        "of the caller": "fromcaller8b2",
        "of an argument": "fromargument7a3",
        "in an address": "fromaddress6d4",
    }
    (tmp_path / "key").write_text(secrets["of a file"])
    made = install(
        {
            "commands/s": script(
                'echo "$FROM_FILE $API_TOKEN $ARG_PIN $2"; echo "$FROM_FILE" >&2',
                record=True,
                secrets={"FROM_FILE": f"file:{tmp_path}/key"},
                args=[
                    {"name": "--pin", "value": "PIN", "secret": True},
                    {"name": "rest..."},
                ],
            )
        }
    )
    address = f"https://ada:{secrets['in an address']}@example.org/"
    env = {"API_TOKEN": secrets["of the caller"]}
    words = [
        f"--pin={secrets['of an argument']}",
        address,
        secrets["of the caller"],
        "open",
    ]
    done = made.run("s", *words, env=env)
    assert all(
        secret in done.stdout + done.stderr for secret in [*secrets.values()][:3]
    )
    [run] = runs(made)
    assert run["arguments"] == [
        "--pin=********",
        "https://…@example.org/",
        "********",
        "open",
    ]
    for file in made.home.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert not [
                name for name, text in secrets.items() if text.encode() in content
            ]
    refused = made.run("self", "history", "rerun", run["id"], "--yes")
    assert (refused.status, refused.stdout) == (1, "")
    assert "arguments 1, 2 and 3 had a secret, which is not recorded" in refused.stderr
    shown = made.run("self", "history", "show", run["id"]).stdout
    assert "masked:    arguments 1, 2 and 3\n" in shown


def test_an_argument_that_looks_masked_is_repeated(
    install: Callable[..., Made],
) -> None:
    made = install({"commands/say": script('echo "$@"', record=True)})
    words = ["********", "https://…@example.org", "wait …"]
    words += ["docker:me@db", "nginx:1.25@sha256:0a"]  # no password of an address
    made.run("say", *words)
    [run] = runs(made)
    again = made.run("self", "history", "rerun", run["id"], "--yes")
    assert again.all == (0, f"{' '.join(words)}\n", "")

    # An assistant's call that could not run has lost its arguments.
    with sqlite3.connect(database_of(made)) as connection:
        client = '{"confirmation": "not asked"}'
        connection.execute("UPDATE runs SET client = ?, arguments = '[]'", [client])
    refused = made.run("self", "history", "rerun", run["id"], "--yes")
    what = f"{run['id'][:7]} was refused and did not run: cli say"
    assert refused.all == (1, "", f"cli: {what}; run the command by hand\n")


def test_a_secret_of_an_outer_run(install: Callable[..., Made], tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("outer5e6f")
    secrets = {"DEPLOY": f"file:{key}"}
    call = '"$CLI_DIR/core/cli" inner "x-$DEPLOY" "$API_KEY"'
    made = install(
        {
            "commands/outer": script(
                call, secrets=secrets, envs={"API_KEY": "key7a8b"}
            ),
            "commands/inner": script('echo "$@ ${API_KEY-unset}"', record=True),
        }
    )
    assert made.run("outer").stdout == "x-outer5e6f key7a8b unset\n"
    [run] = runs(made)
    assert run["arguments"] == ["x-********", "********"]


@pytest.mark.slow
@pytest.mark.night
def test_fifty_runs_at_once(install: Callable[..., Made]) -> None:
    """Some are killed at random, while others read the history: no finished run is lost."""
    made = install({"commands/s": script("exit 3", record=True)})
    environ = {"PATH": os.environ["PATH"], "HOME": str(made.home)}
    chance = random.Random(39)  # noqa: S311 - not for secrets

    def run(number: int) -> tuple[int, int]:
        process = subprocess.Popen([made.launcher, "s", str(number)], env=environ)
        if number % 3 == 0:
            time.sleep(chance.random() / 10)
            process.kill()
        return number, process.wait(60)

    with ThreadPoolExecutor(10) as pool:
        jobs = [pool.submit(run, number) for number in range(50)]
        readers = [pool.submit(runs, made) for _ in range(3)]
    ended = dict(job.result() for job in jobs)
    finished = {number for number, status in ended.items() if status == 3}
    assert finished >= {number for number in range(50) if number % 3}
    assert all(reader.result() is not None for reader in readers)
    recorded = {int(run["arguments"][0]): run for run in runs(made, "--limit", "0")}
    assert {
        number for number, run in recorded.items() if run["status"] == 3
    } >= finished


def test_a_killed_run_is_lost_and_others_are_not(install: Callable[..., Made]) -> None:
    made = install({"commands/s": script("echo ready; sleep 60", record=True)})
    process = subprocess.Popen(
        [made.launcher, "s"],
        env={"PATH": os.environ["PATH"], "HOME": str(made.home)},
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()
    wait_until(lambda: runs(made, "--running"))
    process.kill()
    process.wait()
    assert runs(made, "--running") == []
    assert "lost" in made.run("self", "history").stdout


def test_clear_deletes_all_but_living_runs(install: Callable[..., Made]) -> None:
    made = install({"commands/s": script("echo ready; read line", record=True)})

    def started() -> subprocess.Popen[bytes]:
        environ = {"PATH": os.environ["PATH"], "HOME": str(made.home)}
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        process = subprocess.Popen([made.launcher, "s"], env=environ, **streams)
        assert process.stdout is not None
        process.stdout.readline()
        wait_until(lambda: process.pid in _processes(made))
        return process

    made.run("s")
    lost = started()
    lost.kill()
    lost.communicate()
    living = started()
    with sqlite3.connect(database_of(made)) as connection:
        connection.execute(
            "INSERT INTO runs (id, start, words, arguments, directory, user, host, version, plugin,"
            " origin, outer, process) SELECT 'elsewhere', start, words, arguments, directory, user,"
            " 'another', version, plugin, origin, outer, 1 FROM runs LIMIT 1"
        )
    assert made.run("self", "history", "clear", "--yes").stdout == "deleted 2 runs\n"
    assert [run["status"] for run in runs(made)] == [None, None]
    with sqlite3.connect(database_of(made)) as connection:
        connection.execute("DELETE FROM runs WHERE id = 'elsewhere'")
    living.communicate(b"end\n")
    [run] = runs(made)
    assert (run["status"], run["words"]) == (0, ["s"])


def _processes(made: Made) -> list[int]:
    with sqlite3.connect(database_of(made)) as connection:
        return [row[0] for row in connection.execute("SELECT process FROM runs")]


def test_a_limit_of_file_sizes_stops_no_run(install: Callable[..., Made]) -> None:
    made = install({"commands/s": script("echo done", record=True)})
    limited = 'ulimit -f 1; exec "$0" "$@"'  # files of at most 1024 bytes
    # Python 3.11 would keep the first 1024 bytes of a module that it compiles (-B: it keeps none).
    done = subprocess.run(
        ["bash", "-c", limited, sys.executable, "-BIS", made.launcher, "s"],
        env={"PATH": os.environ["PATH"], "HOME": str(made.home)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "done\n"
    [warning] = done.stderr.splitlines()
    assert warning.startswith("cli: warning: the run is not recorded: ")


def test_a_locked_database_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "history/acme.sqlite3"
    with HistoryFile(str(path)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(OperationError, match="database is locked"):
            HistoryFile(str(path), seconds=0.05).__enter__()


def test_a_locked_database_keeps_no_signal_from_a_run(
    install: Callable[..., Made],
) -> None:
    """Its start is written with its end."""
    made = install({"commands/s": script("echo ready; read line", record=True)})
    made.run("s")
    with sqlite3.connect(database_of(made)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        process = subprocess.Popen(
            [made.launcher, "s"],
            env={"PATH": os.environ["PATH"], "HOME": str(made.home)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        process.stdout.readline()
        process.terminate()
        ended, _, _ = select.select([process.stdout], [], [], 5)
        assert ended
    process.communicate()
    assert [run["status"] for run in runs(made)] == [143, 1]


def _make_newer(database: Path) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA user_version = 99")


def _make_pipe(database: Path) -> None:
    database.unlink()
    os.mkfifo(database)


def _make_link(database: Path) -> None:
    database.rename(database.parent / "else")
    database.symlink_to("else")


def _make_file_of_folder(database: Path) -> None:
    shutil.rmtree(database.parent)
    database.parent.write_text("not a directory")


# What is done to the database, and what the warning and `self doctor` say.
DAMAGES: Mapping[str, tuple[Callable[[Path], object], str]] = {
    "garbage": (lambda path: path.write_bytes(b"garbage" * 999), "is not a database"),
    "newer": (_make_newer, "was written by a newer version"),
    "a pipe": (_make_pipe, "is not a regular file"),
    "a link": (_make_link, "Too many levels of symbolic links"),
    "writable by others": (lambda path: path.chmod(0o666), "run: chmod 600"),
    "others write there": (lambda path: path.parent.chmod(0o770), "run: chmod 700"),
    "no folder": (_make_file_of_folder, "Not a directory"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_history_never_stops_a_run(
    install: Callable[..., Made], damage: str
) -> None:
    made = install({"commands/s": script("echo done", record=True)})
    made.run("s")
    database = database_of(made)
    destroy, reason = DAMAGES[damage]
    destroy(database)

    done = made.run("s")
    assert done.all[:2] == (0, "done\n")
    [warning] = done.stderr.splitlines()
    assert f"the run is not recorded: {database}" in warning
    assert reason in warning

    shown = made.run("self", "history")
    assert (shown.status, shown.stdout) == (1, "")
    assert shown.stderr.count("\n") == 1
    assert reason in shown.stderr
    checked = made.run("self", "doctor")
    assert checked.status == 1
    assert reason in checked.stdout


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_the_history_of_another_user_is_not_used(install: Callable[..., Made]) -> None:
    made = install({"commands/s": script("echo done", record=True)})
    made.run("s")
    database = database_of(made)
    for path, reason in (
        (database.parent, "is in a directory of user 1"),
        (database, "belongs to user 1"),
    ):
        os.chown(path, 1, 1)
        done = made.run("s")
        assert done.all[:2] == (0, "done\n")
        assert reason in done.stderr


def test_a_history_of_version_1(install: Callable[..., Made]) -> None:
    made = install({"commands/s": script("true", record=True)})
    made.run("s", "********")
    with sqlite3.connect(database_of(made)) as connection:
        connection.execute("ALTER TABLE runs DROP COLUMN masked")
        connection.execute("ALTER TABLE runs ADD COLUMN output TEXT")
        connection.execute("PRAGMA user_version = 1")
    made.run("s", "new")
    new, old = runs(made)
    assert (old["arguments"], new["arguments"]) == (["********"], ["new"])
    refused = made.run("self", "history", "rerun", old["id"], "--yes")
    assert refused.status == 1


@pytest.mark.slow
def test_a_damaged_row(install: Callable[..., Made]) -> None:
    made = install({"commands/s": script("true", record=True)})
    made.run("s")
    database = database_of(made)
    for words in ("half", "5", "[5]", "[" * 100_000):
        with sqlite3.connect(database) as connection:
            connection.execute("UPDATE runs SET words = ?", (words,))
        shown = made.run("self", "history")
        assert (shown.status, shown.stdout) == (1, "")
        assert shown.stderr.endswith(
            f"{database}: the history cannot be used: a row is damaged;"
            " move the file away to begin a new history\n"
        )


@pytest.mark.slow
def test_old_runs_are_deleted(install: Callable[..., Made]) -> None:
    limits = {**CLI, "record": True, "history": {"runs": 3, "days": 30}}
    made = install({"commands/s": script("true"), "core/cli.json": limits})
    made.run("s", "old")
    database = database_of(made)
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE runs SET start = '2020-01-01T00:00:00.000Z'")
    for number in range(5):
        made.run("s", str(number))
        if number == 1:  # as if it were still running
            with sqlite3.connect(database) as connection:
                connection.execute(
                    "UPDATE runs SET status = NULL WHERE arguments = '[\"1\"]'"
                )
    assert [run["arguments"] for run in runs(made)] == [["4"], ["3"], ["2"], ["1"]]
    assert database.stat().st_mode & 0o777 == 0o600

"""`self history`: what is recorded, how it is shown, and that it never stops a run."""

from __future__ import annotations

import fcntl
import json
import os
import random
import sqlite3
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from host.launch.spool import LARGE_SPOOL
from testing.installation import CLI, Made
from testing.terminal import on_terminal
from testing.waiting import wait_until


def script(text: str, **keys: object) -> str:
    """Return a bash script with these keys in its JSON block."""
    return f"#!/bin/bash\n# /// command\n# {json.dumps(keys)}\n# ///\n{text}\n"


def runs(made: Made, *options: str) -> list[dict[str, Any]]:
    shown = made.run("self", "history", *options, "--format", "json")
    assert (shown.status, shown.stderr) == (0, "")
    found: list[dict[str, Any]] = json.loads(shown.stdout)["runs"]
    return found


def spool(made: Made) -> Path:
    """Return the path of the spool file."""
    [database] = made.home.glob(".local/state/cli-host/history/*.sqlite3")
    return database.with_suffix(".spool")


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
        "output": "",
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
        (
            {"commands/a/s": script("true", record=True)},
            {"CLI_RECORDED": "0123456789ab"},
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
        "by the caller",
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
    wrong = made.run("self", "history", "--since", "soon")
    assert (wrong.status, wrong.stdout) == (2, "")
    assert "12h" in wrong.stderr


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
    assert made.run("self", "history", "clear", "--yes").stdout == "deleted 2 runs\n"
    assert runs(made) == []


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


def test_csv(install: Callable[..., Made]) -> None:
    made = install({"commands/s": script("true", record=True)})
    made.run("s", "a b")
    heading, row = made.run("self", "history", "--format", "csv").stdout.splitlines()
    assert heading.startswith("id,start,seconds,words,arguments,directory")
    assert ",s,'a b'," in row


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
                record="output",
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
    assert run["output"].count("********") == 4
    for file in made.home.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert not [
                name for name, text in secrets.items() if text.encode() in content
            ]
    assert (
        made.run("self", "history", "rerun", run["id"], "--yes").status == 1
    )  # masked


@pytest.fixture
def keyed(install: Callable[..., Made], tmp_path: Path) -> tuple[Made, Path]:
    """An installation with commands that print the secret in a file, and that file."""
    key = tmp_path / "key"
    secrets = {"DEPLOY": f"file:{key}"}
    made = install(
        {
            "commands/key": script(
                f"cat {key}; sed -n 2p {key}", record="output", secrets=secrets
            ),
            "commands/many": script(
                'for ((i = 0; i < 60; i++)); do printf %s "$DEPLOY"; done',
                record="output",
                secrets=secrets,
            ),
            "commands/outer": script(
                '"$CLI_DIR/core/cli" inner "x-$DEPLOY"', secrets=secrets
            ),
            "commands/inner": script('echo "$1"', record="output"),
        }
    )
    return made, key


def test_the_lines_of_a_secret(keyed: tuple[Made, Path]) -> None:
    made, key = keyed
    lines = ["-----BEGIN KEY-----", "first9b1c", "second7d2e", "-----END KEY-----"]
    key.write_text("\n".join(lines) + "\n")
    assert made.run("key").status == 0
    assert on_terminal(made, "key")[0] == 0  # a terminal prints CR LF
    terminal, pipe = runs(made)
    assert pipe["output"].splitlines() == ["********", "********"]
    assert terminal["output"].splitlines() == ["********"] * 5


def test_a_secret_in_json(install: Callable[..., Made], tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text('pa"ss9b1c')
    printed = r'{"key": "pa\"ss9b1c"}'
    files = {
        "commands/key": script(
            f"echo '{printed}'", record="output", secrets={"DEPLOY": f"file:{key}"}
        )
    }
    made = install(files)
    assert made.run("key").stdout == f"{printed}\n"
    [run] = runs(made)
    assert run["output"] == '{"key": "********"}\n'


def test_a_secret_at_the_cut(keyed: tuple[Made, Path]) -> None:
    made, key = keyed
    secret = "".join(chr(ord("a") + number * number % 23) for number in range(4001))
    key.write_text(secret)
    assert made.run("many").status == 0
    [run] = runs(made)
    assert set(run["output"]) == {"*"}


def test_a_secret_of_an_outer_run(keyed: tuple[Made, Path]) -> None:
    made, key = keyed
    key.write_text("outer5e6f")
    assert made.run("outer").stdout == "x-outer5e6f\n"
    [run] = runs(made)
    assert (run["arguments"], run["output"]) == (["x-********"], "x-********\n")


def test_the_end_of_long_output(install: Callable[..., Made]) -> None:
    made = install({"commands/s": script("seq 100000; echo the end", record="output")})
    done = made.run("s")
    assert len(done.stdout.splitlines()) == 100_001
    [run] = runs(made)
    assert run["output"].endswith("100000\nthe end\n")
    assert len(run["output"]) == 64 << 10


@pytest.mark.slow
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
    assert [run["status"] for run in runs(made, "--running")] == [None]
    process.kill()
    process.wait()
    assert runs(made, "--running") == []
    assert "lost" in made.run("self", "history").stdout


def test_a_line_that_is_cut_off_is_reported_with_one_path(
    install: Callable[..., Made],
) -> None:
    made = install({"commands/s": script("echo done", record=True)})
    made.run("s")
    assert len(runs(made)) == 1
    spool(made).write_bytes(b"\n" * 1000)
    limited = 'ulimit -f 1; exec "$0" "$@"'  # files of at most 1024 bytes
    done = subprocess.run(
        ["bash", "-c", limited, made.launcher, "s"],
        env={"PATH": os.environ["PATH"], "HOME": str(made.home)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "done\n"
    [warning] = done.stderr.splitlines()
    assert warning.startswith(
        f"cli: warning: the run is not recorded: {spool(made)}: only 24 of "
    )


@pytest.mark.parametrize(
    "damage",
    [
        "locked",
        "garbage",
        "empty",
        "newer",
        "directory",
        "read-only folder",
        "full disk",
    ],
)
def test_a_damaged_history_never_stops_a_run(
    install: Callable[..., Made], damage: str, tmp_path: Path
) -> None:
    made = install({"commands/s": script("echo done", record=True)})
    made.run("s")
    assert len(runs(made)) == 1
    database = spool(made).with_suffix(".sqlite3")
    connection = sqlite3.connect(database)
    if damage == "locked":
        connection.execute("BEGIN EXCLUSIVE")
    elif damage == "garbage":
        database.write_bytes(b"garbage" * 999)
    elif damage == "empty":
        database.write_bytes(b"")
    elif damage == "newer":
        connection.execute("PRAGMA user_version = 99")
    elif damage == "directory":
        database.unlink()
        database.mkdir()
    elif damage == "read-only folder":
        database.parent.rename(tmp_path / "away")
        database.parent.write_text("not a directory")
    elif damage == "full disk":
        spool(made).symlink_to("/dev/full")
    done = made.run("s")
    assert done.all[:2] == (0, "done\n")
    if damage in ("read-only folder", "full disk"):
        assert done.stderr.count("\n") == 1
        assert "the run is not recorded" in done.stderr
    else:
        assert done.stderr == ""
        shown = made.run("self", "history")
        if damage == "empty":  # a new history begins
            assert shown.status == 0
        else:
            assert (shown.status, shown.stdout) == (1, "")
            assert shown.stderr.count("\n") == 1
            assert str(database) in shown.stderr
    connection.close()
    if damage in ("locked", "newer"):
        with sqlite3.connect(database) as repaired:
            repaired.execute("PRAGMA user_version = 1")
        assert len(runs(made)) == 2  # the second run waited in the spool


def test_a_lock_on_the_spool_stops_no_run(install: Callable[..., Made]) -> None:
    made = install({"commands/s": script("echo done", record=True)})
    made.run("s")
    runs(made)
    with spool(made).open("w") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        fcntl.flock(file, fcntl.LOCK_EX)
        assert made.run("s").all == (0, "done\n", "")
        assert len(runs(made)) == 2


def test_lines_that_no_run_has_written(install: Callable[..., Made]) -> None:
    made = install({"commands/s": script("true", record=True)})
    made.run("s")
    [run] = runs(made)
    end = {
        "id": run["id"],
        "seconds": 1,
        "status": 0,
        "signal": 0,
        "output": "",
        "hosts": [],
    }
    lines = [
        "null",
        "{}",
        "[" * 100_000,
        '{"id": "half',
        json.dumps({"id": "0123456789ab", "start": "2026-01-01", "words": 5}),
        json.dumps({**end, "status": 10**30}),
        json.dumps({**end, "seconds": float("nan")}),
        json.dumps({**end, "hosts": ["web1"]}),
        json.dumps({**end, "id": 5}),
        json.dumps({**end, "id": "only an end"}),
    ]
    spool(made).write_text("\n".join([*lines, "\xff\0", ""]), encoding="latin-1")
    assert runs(made) == [run]
    assert made.run("self", "history", "show", "only").status == 2


@pytest.mark.slow
def test_a_damaged_row(install: Callable[..., Made]) -> None:
    made = install({"commands/s": script("true", record=True)})
    made.run("s")
    runs(made)
    database = spool(made).with_suffix(".sqlite3")
    for words in ("half", "5", "[5]", "[" * 100_000):
        with sqlite3.connect(database) as connection:
            connection.execute("UPDATE runs SET words = ?", (words,))
        shown = made.run("self", "history")
        assert (shown.status, shown.stdout) == (1, "")
        assert shown.stderr.endswith(
            f"{database}: the history cannot be used: a row is damaged;"
            " move the file aside to begin a new history\n"
        )


def test_an_interrupted_import_is_repeated(install: Callable[..., Made]) -> None:
    made = install({"commands/s": script("true", record=True)})
    made.run("s")
    runs(made)
    made.run("s")
    file = spool(made)
    file.rename(f"{file}.0123456789ab")  # as an import that was killed leaves it
    made.run("s")
    damaged = file.read_bytes() + b'\n{"id": "half'
    file.write_bytes(damaged)
    assert len(runs(made)) == 3
    assert len(runs(made)) == 3
    assert sorted(file.parent.iterdir()) == [file.with_suffix(".sqlite3")]


def test_a_large_spool_is_moved_without_a_reader(install: Callable[..., Made]) -> None:
    made = install({"commands/s": script("true", record=True)})
    made.run("s")
    runs(made)
    file = spool(made)
    file.write_bytes(b"\n" * (LARGE_SPOOL - 1))
    made.run("s")
    wait_until(lambda: not file.exists() and not list(file.parent.glob("*.spool.*")))
    assert len(runs(made)) == 2


@pytest.mark.slow
def test_old_runs_are_deleted(install: Callable[..., Made]) -> None:
    limits = {**CLI, "record": True, "history": {"runs": 3, "days": 30}}
    made = install({"commands/s": script("true"), "core/cli.json": limits})
    made.run("s", "old")
    runs(made)
    database = spool(made).with_suffix(".sqlite3")
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE runs SET start = '2020-01-01T00:00:00.000Z'")
    for number in range(5):
        made.run("s", str(number))
    assert [run["arguments"] for run in runs(made)] == [["4"], ["3"], ["2"]]
    assert database.stat().st_mode & 0o777 == 0o600

"""Options of `fleet run` that do not select hosts."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from collections.abc import Callable

import pytest

from conftest import MEET, Cli
from testing.fork_server import started


def test_a_dry_run_connects_to_nobody_and_shows_no_value(cli: Cli) -> None:
    files = [".env", "${MINE:-mine.vars}", "$CHOSEN", "$STAGE.link", "${HOSTNAME}"]
    cli.command("true\n", envs={"TOKEN": "s3cr3t"}, env_files=files)
    folder = cli.root / "commands" / "demo" / "do"
    (folder / ".env").write_text("PASS=hidden\n")
    for name in ("mine.vars", "chosen.vars", "staged.vars", "down"):
        (folder / name).write_text("PASS=hidden\n")
    (folder / "prod.link").symlink_to("staged.vars")
    settings = cli.root / "config/settings.conf"
    settings.write_text("CHOSEN=chosen.vars STAGE=prod\n")
    (folder / "lib").mkdir()
    (folder / "lib" / "more.sh").write_text("true\n")
    (folder / "lib" / "settings.txt").symlink_to("../../.env")
    above = {"env_files": ["do/vars"], "secrets": {"PIN": "file:do/pin"}}
    (folder.parent / "category.json").write_text(json.dumps(above))
    (folder / "vars").write_text("PASS=hidden\n")
    (folder / "pin").write_text("hidden\n")
    (folder.parent / ".env").write_text("PASS=hidden\n")
    cli.command("true\n", "demo do inner", secrets={"PASS": "file:token"})
    (folder / "inner" / "token").write_text("hidden\n")
    on = (*cli.on("down,web[01-03]"), "--dry-run", "--serial", "2")
    done = cli.fleet("run", *on, "demo", "do", "x")
    assert (done.status, done.stderr) == (0, "")
    shown = done.stdout.decode()
    assert (
        "command    demo do x\nbatch 1    down web01\nbatch 2    web02 web03\n" in shown
    )
    assert "TOKEN" in shown
    assert "PASS" in shown
    assert "s3cr3t" not in shown
    assert "hidden" not in shown
    away = cli.root / "away.txt"
    away.write_text("away\n")
    (folder / "away").symlink_to("../../../away.txt")
    plan = json.loads(cli.fleet("run", *on, "--format", "json", "demo", "do").stdout)
    own = [name for name in plan["files"] if name.startswith("commands/")]
    assert own == [
        f"commands/demo/do/{name}"
        for name in ("away", "command.json", "main.sh", "lib/more.sh")
    ]
    assert plan["links"] == {"commands/demo/do/away": str(away)}
    (folder / "web02").write_text("PASS=hidden\n")
    done = cli.fleet("run", *on, "demo", "do")
    what = f"web02: {folder}/web02 has variables of this command, but would be sent"
    assert done.stderr == f"cli fleet run: {what}; rename it to .env.NAME\n"
    (folder / "key").symlink_to(key := cli.home / "key")
    key.write_text("private\n")
    done = cli.fleet("run", *on, "demo", "do")
    what = f"{folder}/key: leads to {key}, which stays on this machine"
    assert done.stderr == f"cli fleet run: {what}; replace the link by a copy\n"


def test_links_and_modes_of_the_folder(cli: Cli) -> None:
    cli.command(
        "./tool && cat data away\n".replace("./", "${0%/*}/").replace(
            " data away", " ${0%/*}/data ${0%/*}/away"
        )
    )
    folder = cli.root / "commands" / "demo" / "do"
    (folder / "tool").write_text("#!/bin/sh\necho tool\n")
    (folder / "tool").chmod(0o755)
    (folder / "real").write_text("inside\n")
    (folder / "data").symlink_to(folder / "real")
    (cli.root / "outside").write_text("outside\n")
    (folder / "away").symlink_to(cli.root / "outside")
    (folder / "nowhere").symlink_to("missing")
    os.mkfifo(folder / "fifo")
    done = cli.run("web01")
    assert done.hosts()["web01"]["stdout"] == "tool\ninside\noutside\n", done


@pytest.mark.parametrize(
    ("script", "executable", "stdout"),
    [
        ("#!/bin/sh\necho sh ${BASH_VERSION-none}\n", True, "sh none\n"),
        ("#!/bin/sh\necho sh ${BASH_VERSION-none}\n", False, "sh none\n"),
        ("#!/usr/bin/env bash\ntype -t log_info\n", True, "function\n"),
        ("type -t log_info\n", False, "function\n"),
        ("#!/bin/bash -e\nfalse; echo not reached\n", False, ""),
    ],
)
def test_how_an_entrypoint_starts(
    cli: Cli, script: str, executable: bool, stdout: str
) -> None:
    cli.command(script)
    (cli.root / "commands/demo/do/main.sh").chmod(0o755 if executable else 0o644)
    assert cli.run("web01").hosts()["web01"]["stdout"] == stdout


def test_stdin_of_each_command(cli: Cli) -> None:
    cli.command("cat\n")
    (cli.root / "in").write_bytes(b"a\0b\n")
    done = cli.run("web[01-02]", "--stdin", str(cli.root / "in"))
    assert done.outputs() == ["a\0b\n"] * 2
    ours = cli.fleet(
        "run",
        *cli.on("web01"),
        "--stdin",
        "-",
        "--format",
        "json",
        "demo",
        "do",
        stdin=b"piped",
    )
    assert ours.hosts()["web01"]["stdout"] == "piped"


def test_another_system(cli: Cli) -> None:
    cli.command("true\n", os=["mac"])
    result = cli.run("web01").hosts()["web01"]
    assert (result["state"], result["reason"]) == (
        "refused",
        "runs on mac only; this is linux",
    )


def test_what_a_command_requires_is_checked_on_the_host(cli: Cli) -> None:
    lacking = [
        "bash>=3",
        "nothere>=1",
        {"program": "cat", "version": ">99", "hint": "ask Ada"},
    ]
    cli.command("echo ran\n", requires=lacking)
    result = cli.run("web01").hosts()["web01"]
    assert result["state"] == "refused"
    assert result["reason"].startswith("needs nothere>=1 (not on PATH), cat>99 (")
    assert result["reason"].endswith("; ask Ada")
    cli.command("echo ran\n", requires=["bash>=3,<99", "cat"])
    assert cli.run("web01").hosts()["web01"]["stdout"] == "ran\n"


def test_secrets_are_resolved_once_and_here(cli: Cli) -> None:
    asked = cli.home / "asked"
    give = f"run:sh -c 'echo x >>{asked}; echo hidden'"
    cli.command('echo "$TOKEN"\n', secrets={"TOKEN": give})
    done = cli.run("web[01-02]")
    assert done.outputs() == ["hidden\n"] * 2
    assert asked.read_text() == "x\n"


def test_references_in_env_files_are_resolved_once_and_here(cli: Cli) -> None:
    asked = cli.home / "asked"
    give = f"run:sh -c 'echo x >>{asked}; echo TOKEN=hidden; echo REGION=here; echo STAGE=file'"
    cli.command(
        'echo "$TOKEN $REGION $STAGE $URL $(ls -A "${0%/*}")"\n',
        env_files=[give, "file:variables"],
        envs={"STAGE": "envs", "URL": "https://$REGION"},
        secrets={"PIN": "file:pin.txt"},
    )
    folder = cli.root / "commands/demo/do"
    (folder / "variables").write_text("REGION=there\n")
    (folder / "pin.txt").write_text("1234\n")
    done = cli.run("web[01-02]")
    shown = "hidden there envs https://there command.json\nmain.sh\n"
    assert done.outputs() == [shown] * 2
    assert asked.read_text() == "x\n"
    cli.command("echo ran\n", env_files=["none:x"])
    done = cli.run("web[01-02]")
    assert (done.status, done.stdout) == (1, b"")
    assert '"env_files": none:x: unknown scheme none' in done.stderr


def test_a_command_that_asks_first(cli: Cli) -> None:
    cli.command("echo ran\n", confirm="Restart?")
    refused = cli.run("web01")
    assert (refused.status, refused.stdout) == (1, b"")
    assert (
        refused.stderr
        == "cli fleet run: demo do: needs confirmation; to confirm: --yes\n"
    )
    assert cli.run("web01", "--yes").states() == {"web01": "ok"}
    assert cli.run("web01", env={"CLI_YES": "1"}).states() == {"web01": "ok"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--env", "NOT_SET", "demo", "do"),
            "--env NOT_SET: no variable of that name is set",
        ),
        (("--env", "a.b", "demo", "do"), "--env a.b: no variable of that name is set"),
        (
            ("--keep-connections", "x", "demo", "do"),
            "--keep-connections x: expected a time",
        ),
        (
            ("--stdin", "/missing", "demo", "do"),
            "--stdin /missing: No such file or directory",
        ),
        (
            ("--become-user", "-x", "demo", "do"),
            "--become-user -x: not a valid user name",
        ),
        (
            ("--become-user", "", "demo", "do"),
            "--become-user: must not be empty",
        ),
        (
            ("--inventory", "/missing", "demo", "do"),
            "/missing: No such file or directory",
        ),
        (("demo", "dod"), " demo do?"),
        (("--serial", "x", "demo", "do"), "expected a number of hosts or a percentage"),
    ],
)
def test_what_is_refused_before_anything_runs(
    cli: Cli, words: tuple[str, ...], said: str
) -> None:
    cli.command("echo >/opt/ran-all-the-same\n")
    done = cli.fleet("run", *cli.on("web01"), *words)
    assert (done.status, done.stdout) == (2, b"")
    assert said in done.stderr
    assert not (cli.rig.machines["web01"].root / "opt" / "ran-all-the-same").exists()


@pytest.mark.parametrize("word", ["run", "check"])
def test_ssh_is_missing(cli: Cli, word: str) -> None:
    """The user answers no question first."""
    cli.command("true\n", confirm="Restart?")
    done = cli.fleet(word, *cli.on("web01"), "demo", "do", env={"PATH": "/missing"})
    assert (done.status, done.stdout) == (127, b"")
    expected = "ssh is not installed or not on PATH; install openssh-client"
    assert done.stderr == f"cli fleet {word}: {expected}\n"


def test_a_dry_run_needs_no_ssh(cli: Cli) -> None:
    cli.command("true\n")
    words = ("run", *cli.on("web01"), "--dry-run", "demo", "do")
    assert cli.fleet(*words, env={"PATH": "/missing"}).status == 0


def test_the_live_view_on_a_terminal(cli: Cli) -> None:
    """A live line is erased before each output; with NO_COLOR there is only plain text."""
    cli.command(f"{MEET}sleep 0.4; echo done; [[ $HOSTNAME == web01 ]]\n")

    def shown_with(**env: str) -> str:
        meet = cli.meeting("web01", "web02")
        argv = cli.argv("run", *cli.on("web[01-02]"), "demo", "do")
        return _on_a_terminal(argv, cli.environ(env), meet)

    shown = shown_with(TERM="xterm")
    assert re.search(r"0/2 · no hosts · web01 web02\r\x1b\[K", shown)
    assert "\r\x1b[K\x1b[1mweb[01-02] (2):\x1b[0m\r\ndone\r\n" in shown
    assert "\x1b[32mok    \x1b[0m" in shown
    assert "\x1b[31mfailed\x1b[0m" in shown
    assert "\x1b" not in shown_with(TERM="xterm", NO_COLOR="1")
    assert "\x1b" not in shown_with(TERM="dumb")


def _on_a_terminal(
    argv: list[str], env: dict[str, str], meet: Callable[[], None]
) -> str:
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        started(argv, env), env=env, stdin=terminal, stdout=terminal, stderr=terminal
    )
    os.close(terminal)
    meet()
    shown = b""
    while True:
        try:
            piece = os.read(controller, 65536)
        except OSError:
            break
        shown += piece
        if not piece:
            break
    process.wait(timeout=120)
    os.close(controller)
    return shown.decode()

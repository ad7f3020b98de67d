"""A host without bash: sh runs scripts for sh and programs, under the same promises."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

import rig as rigs
from cli_host_fleet.shipment import Shipment, stem_of_a_run
from cli_host_fleet.to_host import opening_in_sh, order_in_sh, script
from conftest import Cli

_SH = "#!/bin/sh\n"


def _command(cli: Cli, script: str, **definition: object) -> None:
    cli.command(_SH + script, **definition)
    (cli.root / "commands/demo/do/main.sh").chmod(0o755)


def test_a_script_for_sh(cli: Cli) -> None:
    """It gets its arguments, variables, files and stdin; its status and signals arrive."""
    _command(
        cli,
        'printf "%s|" "$@" "$X"; cat "${0%/*}/data"; cat; exit 3\n',
        envs={"X": "it's"},
    )
    (cli.root / "commands/demo/do/data").write_text("data\n")
    (cli.root / "in").write_text("stdin\n")
    options = (
        "--stdin",
        str(cli.root / "in"),
        "demo",
        "do",
        "a b",
        "",
        "$HOME",
        "'",
        "é",
        "-n",
    )
    done = cli.run("nobash,web01", *options)
    for name in ("nobash", "web01"):
        host = done.hosts()[name]
        assert host["stdout"] == "a b||$HOME|'|é|-n|it's|data\nstdin\n", host
        assert (host["state"], host["status"], host["stderr"]) == ("failed", 3, "")
    _command(cli, "kill -9 $$\n")
    assert cli.run("nobash").hosts()["nobash"]["reason"] == "killed by SIGKILL"
    assert cli.rig.machines["nobash"].leftovers() == []


def test_what_needs_bash_is_refused(cli: Cli) -> None:
    cli.command("echo ran\n")
    assert cli.run("nobash").hosts()["nobash"]["reason"] == "no bash on this host"
    _command(cli, "true\n", requires=["cat", "nothere"])
    assert (
        cli.run("nobash").hosts()["nobash"]["reason"] == "needs nothere (not on PATH)"
    )
    _command(cli, "true\n", requires=["cat>=1"])
    reason = cli.run("nobash").hosts()["nobash"]["reason"]
    assert reason == "the version of cat cannot be checked: no bash here"


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (("printf", "%s|", "$HOME", "a b", "'"), "$HOME|a b|'|"),
        (("--shell", "echo $1 | tr a-z A-Z", "word"), "WORD\n"),
    ],
)
def test_exec(cli: Cli, words: tuple[str, ...], printed: str) -> None:
    done = cli.fleet("exec", *cli.on("nobash"), "--format", "json", *words)
    assert done.hosts()["nobash"]["stdout"] == printed


def test_another_user(cli: Cli) -> None:
    _command(cli, 'echo "$(id -un) $HOME"\n')
    done = cli.run("nobash", "--become-user", "deploy")
    assert done.hosts()["nobash"]["stdout"] == "deploy /home/deploy\n", done


def test_a_timeout_ctrl_c_and_a_kill_leave_nothing(cli: Cli) -> None:
    mark = f"83{os.getpid()}"
    secret = f"s3cr3t{mark}"
    machine = cli.rig.machines["nobash"]
    _command(
        cli,
        f"trap '' TERM INT HUP; echo up; sleep {mark} & sleep {mark}; sleep {mark}\n",
        envs={"TOKEN": secret},
    )
    assert cli.run("nobash", "--timeout", "2").states() == {"nobash": "timeout"}
    assert rigs.running(mark) == []
    for number, keep in (
        (signal.SIGINT, "60s"),
        (signal.SIGKILL, "60s"),
        (signal.SIGKILL, "0"),
    ):
        process = cli.lead(
            "run", *cli.on("nobash"), "--keep-connections", keep, "demo", "do"
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"nobash: up\n"
        assert rigs.running(secret) == [], "no argv shows a variable"
        os.kill(process.pid, number)
        process.communicate(timeout=60)
        rigs.wait_for(lambda: not rigs.running(mark), "the host ends the command")
        rigs.wait_for(lambda: not machine.leftovers(), "the host removes the directory")


def test_a_command_that_ends_leaves_no_process(cli: Cli) -> None:
    """The process that waits for the end of the connection ends with the command."""
    _command(cli, "exit 0\n")
    assert cli.run("nobash").status == 0
    machine = cli.rig.machines["nobash"]
    rigs.wait_for(
        lambda: not [pid for pid in rigs.running("lifeline") if machine.has(pid)],
        "ended",
    )


@pytest.mark.parametrize("late", ["the lifeline", "the command"])
def test_a_signal_reaches_a_process_that_is_not_yet_a_leader(
    tmp_path: Path, late: str
) -> None:
    """On a busy host, the command can end, or the connection, before setsid has run."""
    is_late = "*lifeline*" if late == "the lifeline" else "*eval*"
    setsid = tmp_path / "setsid"
    setsid.write_text(
        f'#!/bin/sh\ncase "$*" in {is_late}) exec sleep 200 ;; esac\nexec /usr/bin/setsid "$@"\n'
    )
    setsid.chmod(0o755)
    shipment, stem = Shipment(), stem_of_a_run()
    shipment.close()
    place = f"{tmp_path}/{stem}"
    shell = subprocess.Popen(
        ["sh", "-c", script("greeting.sh")],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert shell.stdin is not None
    shell.stdin.write(opening_in_sh("nonce", shipment.size, place, []))
    for chunk in shipment.chunks(stem):
        shell.stdin.write(chunk)
    shell.stdin.write(order_in_sh({}, ["true"]))
    shell.stdin.flush()
    if late == "the command":
        shell.stdin.close()
    shell.wait(60)
    assert not os.path.exists(place)

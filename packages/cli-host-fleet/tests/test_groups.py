"""Equal outputs are printed once; no host holds back the output of others."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import time
from collections.abc import Callable

import pytest

import rig as rigs
from cli_host_fleet.grouped_view import differences
from conftest import AT_THE_GATE, MEET, Cli
from testing.fork_server import started

_FOUR = ("web01", "web02", "web03", "web04")
_TWO_DIFFER = MEET + "[[ $HOSTNAME == web03 ]] && echo other || echo same; echo end\n"


def _printed(
    cli: Cli, meet: Callable[[], None], *words: str
) -> tuple[int, bytes, bytes]:
    """Return the status, stdout and stderr of a run whose hosts meet."""
    process = cli.start(*words)
    meet()
    printed, said = process.communicate(timeout=120)
    return process.returncode, printed, said


def _on_a_terminal(cli: Cli, meet: Callable[[], None], *words: str) -> str:
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        started(cli.argv(*words), cli.environ()),
        env=cli.environ({"NO_COLOR": "1"}),
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    meet()
    shown = b""
    while select.select([controller], [], [], 60)[0]:
        try:
            shown += os.read(controller, 65536)
        except OSError:
            break
    os.close(controller)
    process.wait(60)
    return shown.decode().replace("\r\n", "\n")


def test_equal_outputs_are_one(cli: Cli) -> None:
    cli.command(_TWO_DIFFER)
    words = ("run", *cli.on("web[01-04]"), "--group", "demo", "do")
    _, printed, said = _printed(cli, cli.meeting(*_FOUR), *words)
    assert printed == b"web[01-02,04] (3):\nsame\nend\nweb03:\nother\nend\n"
    rows = [line.split()[:3] for line in said.decode().splitlines()]
    assert rows[:2] == [["HOST", "STATE", "STATUS"], ["web[01-04]", "ok", "0"]]
    assert len(rows) == 3, "hosts that ended alike share a row"


def test_differences_from_the_largest_group(cli: Cli) -> None:
    cli.command(_TWO_DIFFER)
    words = ("run", *cli.on("web[01-04]"), "--diff", "demo", "do")
    assert _printed(cli, cli.meeting(*_FOUR), *words)[1] == (
        b"web[01-02,04] (3):\nsame\nend\n"
        b"web03: differs from web[01-02,04]\n@@ -1,2 +1,2 @@\n-same\n+other\n end\n"
    )


def test_hosts_that_ended_differently_have_rows_of_their_own(cli: Cli) -> None:
    cli.command(f"{MEET}echo same; [[ $HOSTNAME != web02 ]]\n")
    words = ("run", *cli.on("web[01-03],down"), "--group", "demo", "do")
    status, printed, said = _printed(cli, cli.meeting(*_FOUR[:3]), *words)
    assert status == 4
    # If the others take more than a second, `down` is a group of its own, which has no output.
    assert printed.removesuffix(b"down: no output\n") == b"web[01-03] (3):\nsame\n"
    rows = [line.split()[:2] for line in said.decode().splitlines()[1:-1]]
    assert rows == [["down", "unreachable"], ["web[01,03]", "ok"], ["web02", "failed"]]


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("a b c", "a b d", "@@ -2,2 +2,2 @@,  b, -c, +d"),
        ("x " * 2000, "x " * 1999 + "y", "@@ -1999,2 +1999,2 @@"),
        ("x y " * 1000, "y x x " * 66, None),
        ("x " * 400 + "y", "x " * 199, None),
        (" ".join(map(str, range(1900))), "a", "@@ -1,1900 +1 @@"),
    ],
)
def test_outputs_that_take_too_long_to_compare(
    before: str, after: str, shown: str | None
) -> None:
    """With many equal lines, it would be minutes, and nothing else would happen."""
    lines = differences(before.split(), after.split())
    assert (lines is None) == (shown is None)
    assert ", ".join(lines or []).startswith(shown or "")


def test_on_a_terminal_equal_outputs_are_grouped_without_being_asked(cli: Cli) -> None:
    """An output that no other host has is printed as lines; with --no-group all are."""
    cli.command(_TWO_DIFFER)
    words = ("run", *cli.on("web[01-04]"))
    shown = _on_a_terminal(cli, cli.meeting(*_FOUR), *words, "demo", "do")
    assert shown.startswith("web[01-02,04] (3):\nsame\nend\nweb03: other\nweb03: end\n")
    shown = _on_a_terminal(cli, cli.meeting(*_FOUR), *words, "--no-group", "demo", "do")
    assert min(shown.splitlines()[:8]) == "web01: end"
    cli.command(f"{MEET}echo $HOSTNAME\n")
    words = ("run", *cli.on("web[01-02]"), "demo", "do")
    shown = _on_a_terminal(cli, cli.meeting(*_FOUR[:2]), *words)
    assert sorted(shown.splitlines()[:2]) == ["web01: web01", "web02: web02"]


def test_json_has_every_host_in_their_order(cli: Cli) -> None:
    cli.command("[[ $HOSTNAME == web01 ]] && sleep 1; echo same\n")
    done = cli.fleet(
        "run", *cli.on("web[01-03]"), "--group", "--format", "json", "demo", "do"
    )
    assert [*done.hosts()] == ["web01", "web02", "web03"]
    assert {host["stdout"] for host in done.hosts().values()} == {"same\n"}


def test_a_slow_host_holds_back_no_group(cli: Cli) -> None:
    """The groups so far are printed after a second, and the slow host's output at its end."""
    gate = cli.gate("web01")
    meet = cli.meeting("web02", "web03")
    cli.command(f"{MEET}echo same\n")
    process = cli.start("run", *cli.on("web[01-03]"), "--group", "demo", "do")
    assert process.stdout is not None
    meet()
    assert process.stdout.readline() == b"web[02-03] (2):\n"
    assert process.stdout.readline() == b"same\n"
    gate.touch()
    assert process.communicate(timeout=60)[0] == b"web01: the same as web[02-03]\n"


def test_a_host_that_runs_on_prints_lines_on_a_terminal(cli: Cli) -> None:
    """Its output is held back for a second; with --group, until its end."""
    gate = cli.gate("web01")
    cli.command(f"echo begun; [[ $HOSTNAME == web01 ]] && {AT_THE_GATE}; echo end\n")
    controller, terminal = pty.openpty()
    argv = cli.argv("run", *cli.on("web[01-02]"), "demo", "do")
    process = subprocess.Popen(
        started(argv, cli.environ()),
        env=cli.environ({"NO_COLOR": "1"}),
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=subprocess.DEVNULL,
    )
    os.close(terminal)
    shown = ""
    end = time.monotonic() + 60
    while "web01: begun" not in shown:
        assert time.monotonic() < end
        shown += os.read(controller, 65536).decode()
    gate.touch()
    while "web01: end" not in shown:
        shown += os.read(controller, 65536).decode()
    process.wait(60)
    os.close(controller)


def test_interrupted_runs_print_what_they_have(cli: Cli) -> None:
    here = cli.gate("web01").with_name("here")
    here.unlink(missing_ok=True)
    cli.command(
        "echo begun; >/opt/here; [[ $HOSTNAME == web01 ]] && sleep 60; echo end\n"
    )
    process = cli.lead("run", *cli.on("web[01-02]"), "--group", "demo", "do")
    assert process.stdout is not None
    assert process.stdout.readline() == b"web02:\n"
    rigs.wait_for(here.exists, "the other host has begun")
    process.send_signal(2)
    printed = process.stdout.read()
    assert process.wait(60) == -2
    assert printed == b"begun\nend\nweb01:\nbegun\n"

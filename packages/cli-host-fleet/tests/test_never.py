"""Events that must never happen: a test for each sentence of the list in docs/fleet.md."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import rig as rigs
from conftest import AT_THE_GATE, FULL, Cli, Done, rare
from relay import Relay

_SECRET = "s3cr3t-of-the-fleet"
_counter = iter(range(100000, 200000))


@pytest.fixture
def mark() -> Iterator[str]:
    """An argument of `sleep` that only this test's processes have."""
    made = f"{next(_counter)}.{os.getpid()}"
    yield made
    rigs.end(rigs.running(made))


def _gone(cli: Cli, mark: str) -> Callable[[], bool]:
    """Return a function that checks that a run left no process and no directory on a host."""

    def look() -> bool:
        left = [machine.leftovers() for machine in cli.rig.machines.values()]
        return not rigs.running(mark) and not any(left)

    return look


def _check_gone(cli: Cli, mark: str, said: bytes) -> None:
    """Check that nothing is left when the run has ended.

    On a very busy machine, a host can take longer to end a command than the run waits; the run
    then says that the host did not confirm the end.
    """
    if b"did not confirm" not in said:
        assert not rigs.running(mark)
    rigs.wait_for(_gone(cli, mark), "the hosts end it")


# A command that ignores TERM, and whose children ignore TERM.
_STUBBORN = (
    "trap '' TERM HUP INT; echo up; sleep {0} & sleep {0}; sleep {0}; sleep {0}\n"
)
_POLITE = "echo up; sleep {0}\n"


def test_a_timeout_leaves_nothing(cli: Cli, mark: str) -> None:
    """Neither a command that ignores TERM nor one that obeys it leaves anything.

    Two runs at once, because each waits for its time limit: one as it is, one with --become.
    """
    running = []
    for number, become in ((1, ()), (3, ("--become",))):
        stubborn = _STUBBORN.format(f"{mark}{number}")
        polite = _POLITE.format(f"{mark}{number}")
        words = ["demo", f"do{number}"]
        cli.command(
            f"if [[ $HOSTNAME == web0{number} ]]; then {stubborn}else {polite}fi\n",
            " ".join(words),
        )
        hosts = [f"web0{number}", f"web0{number + 1}"]
        options = (
            *cli.on(",".join(hosts)),
            "--timeout",
            "8",
            "--format",
            "json",
            *become,
        )
        running.append((number, hosts, cli.start("run", *options, *words)))
    for number, hosts, process in running:
        printed, said = process.communicate(timeout=120)
        done = Done(process.returncode, printed, said.decode())
        _check_gone(cli, f"{mark}{number}", printed)
        assert (done.status, done.states()) == (4, dict.fromkeys(hosts, "timeout"))
        assert done.outputs() == ["up\n", "up\n"]


def test_ctrl_c_leaves_nothing(cli: Cli, mark: str) -> None:
    """Neither a command that ignores TERM nor one that obeys it leaves anything."""
    stubborn, polite = _STUBBORN.format(mark), _POLITE.format(mark)
    cli.command(f"if [[ $HOSTNAME == web02 ]]; then {polite}else {stubborn}fi\n")
    process = cli.lead("run", *cli.on("web[01-04]"), "--forks", "3", "demo", "do")
    assert process.stdout is not None
    for _ in range(3):
        assert process.stdout.readline().endswith(b": up\n")
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGINT
    _check_gone(cli, mark, said)
    rows = [line.split() for line in said.decode().splitlines()]
    assert [row[1] for row in rows if row[0].startswith("web")] == [
        "interrupted"
    ] * 3 + ["skipped"]


def test_sigkill_of_the_controller_leaves_nothing(cli: Cli, mark: str) -> None:
    """Whether its connections were to be kept or not."""
    cli.command(_STUBBORN.format(mark))
    for hosts, keep in (("web[01-02]", "0"), ("web[03-04]", "60s")):
        process = cli.lead(
            "run", *cli.on(hosts), "--keep-connections", keep, "demo", "do"
        )
        assert process.stdout is not None
        for _ in range(2):
            assert process.stdout.readline().endswith(b": up\n")
        process.kill()
        process.communicate()
    rigs.wait_for(_gone(cli, mark), "the hosts end it by themselves")


def test_a_connection_cut_in_the_middle_leaves_nothing(cli: Cli, mark: str) -> None:
    port = cli.rig.machines["web01"].port
    relay = Relay(port)
    cli.rig.describe("cut", relay.port, f"HostKeyAlias [127.0.0.1]:{port}")
    gate = cli.gate("web02")
    waits = f"[[ $HOSTNAME != web02 ]] || {{ {AT_THE_GATE}; exit; }}\n"
    cli.command(waits + _STUBBORN.format(mark))
    process = cli.start("run", *cli.on("cut,web02"), "demo", "do")
    assert process.stdout is not None
    assert process.stdout.readline() == b"cut: up\n"
    relay.cut()
    gate.touch()
    _, said = process.communicate(timeout=120)
    relay.close()
    states = {
        line.split()[0]: line.split()[1] for line in said.decode().splitlines() if line
    }
    assert process.returncode == 4
    assert (states["cut"], states["web02"]) == ("lost", "ok")
    rigs.wait_for(_gone(cli, mark), "the host ends it by itself")


@pytest.mark.skipif(not FULL, reason="takes two minutes; set FULL_SWEEP=1")
def test_a_network_that_is_gone_without_a_word_leaves_nothing(
    cli: Cli, mark: str
) -> None:
    """No connection is closed: ssh notices within one minute, and the host within two."""
    port = cli.rig.machines["web01"].port
    relay = Relay(port)
    cli.rig.describe("gone", relay.port, f"HostKeyAlias [127.0.0.1]:{port}")
    cli.command(_STUBBORN.format(mark))
    process = cli.start("run", *cli.on("gone"), "demo", "do")
    assert process.stdout is not None
    assert process.stdout.readline() == b"gone: up\n"
    relay.freeze()
    _, said = process.communicate(timeout=90)
    assert process.returncode == 4
    assert b"lost" in said
    rigs.wait_for(_gone(cli, mark), "the host ends it by itself", 150)
    relay.close()


def test_a_cut_while_the_command_is_sent_runs_nothing(cli: Cli, tmp_path: Path) -> None:
    """Half of an archive runs no command."""
    port = cli.rig.machines["web01"].port
    relay = Relay(port, 1_000_000)
    cli.rig.describe("half", relay.port, f"HostKeyAlias [127.0.0.1]:{port}")
    cli.command("echo >/opt/half\n")
    (tmp_path / "big").write_bytes(os.urandom(8_000_000))
    done = cli.run("half", "--stdin", str(tmp_path / "big"))
    relay.close()
    assert done.hosts()["half"]["state"] in ("lost", "unreachable", "refused")
    assert not (cli.rig.machines["web01"].root / "opt" / "half").exists()
    rigs.wait_for(_gone(cli, "no such process"), "no directory is left")


def test_no_secret_on_any_argv_or_in_a_file_that_stays(cli: Cli, mark: str) -> None:
    """Variables, arguments and stdin reach the command; only the command's argv shows arguments."""
    cli.command(
        f'[[ ${{#TOKEN}} == {len(_SECRET)} && $(cat) == "$TOKEN" ]] || exit 9\nsleep {mark} & '
        f"exec sleep {mark}\n",
        env_files=[".env"],
    )
    (cli.root / "commands" / "demo" / "do" / ".env").write_text(f"TOKEN={_SECRET}\n")
    (cli.root / "in").write_text(_SECRET)
    seen: set[str] = set()
    ended = threading.Event()
    watcher = threading.Thread(target=_watch_argv, args=(seen, ended))
    watcher.start()
    process = cli.lead(
        *(
            "run",
            *cli.on("web[01-02]"),
            "--become",
            "--stdin",
            str(cli.root / "in"),
            "demo",
            "do",
        ),
    )
    rigs.wait_for(lambda: len(rigs.running(mark)) >= 4, "the command runs")
    held = _files_with(_SECRET, cli)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=120)
    ended.set()
    watcher.join()
    assert any("cli-fleet" in argv for argv in seen), "the watcher saw what ran"
    assert [argv for argv in seen if _SECRET in argv] == []
    assert all(path.name == "stdin" for path in held), held
    rigs.wait_for(_gone(cli, mark), "nothing is left")
    assert _files_with(_SECRET, cli) == []


def _watch_argv(seen: set[str], ended: threading.Event) -> None:
    while not ended.is_set():
        for pid in filter(str.isdigit, os.listdir("/proc")):
            words = rigs.argv_of(int(pid)).replace(b"\0", b" ")
            seen.add(words.decode(errors="replace"))
        time.sleep(0.002)


def _files_with(text: str, cli: Cli) -> list[Path]:
    roots = [
        machine.root / place
        for machine in cli.rig.machines.values()
        for place in ("tmp", "root", "home", "opt")
    ]
    files = [path for root in roots for path in root.rglob("*") if path.is_file()]
    return [path for path in files if text.encode() in path.read_bytes()]


_WRITES_ON = "echo up; setsid bash -c 'while :; do echo more; {0}; done' {1} & {2}\n"


@pytest.mark.parametrize(
    ("stream", "pace"),
    [
        pytest.param("", "sleep 0.05", id="stdout now and then"),
        pytest.param("exec >&2; ", ":", id="a flood on stderr", marks=rare),
    ],
)
def test_a_process_that_keeps_writing_does_not_hold_up_the_end(
    cli: Cli, mark: str, stream: str, pace: str
) -> None:
    """The command ends by itself on one host, and because of --timeout on the other."""
    ending = "[[ $HOSTNAME == web01 ]] && exit 3; sleep 100"
    cli.command(stream + _WRITES_ON.format(pace, mark, ending))
    hosts = cli.run("web[01-02]", "--timeout", "6", "--keep-connections", "0").hosts()
    assert {
        name: (result["state"], result["status"]) for name, result in hosts.items()
    } == {
        "web01": ("failed", 3),
        "web02": ("timeout", None),
    }


@pytest.mark.parametrize(
    ("number", "pace"), [(signal.SIGINT, ":"), (signal.SIGTERM, "sleep 0.05")]
)
def test_a_process_that_keeps_writing_does_not_hold_up_a_signal(
    cli: Cli, mark: str, number: signal.Signals, pace: str
) -> None:
    cli.command(_WRITES_ON.format(pace, mark, "sleep 100"))
    process = cli.lead(
        "run", *cli.on("web[01-02]"), "demo", "do", stdout=subprocess.DEVNULL
    )
    rigs.wait_for(lambda: len(rigs.running(mark)) >= 2, "the command runs")
    os.kill(process.pid, number)
    _, said = process.communicate(timeout=120)
    assert process.returncode == -number
    assert said.decode().count("interrupted") == 3


def test_ctrl_c_ends_a_run_whose_output_nobody_reads(cli: Cli, mark: str) -> None:
    """As text and as JSON, at once."""
    waits = f"[[ $HOSTNAME == web0[13] ]] && sleep {mark}"
    cli.command(f"{waits}; head -c 4000000 /dev/zero\n")
    running = [
        cli.lead("run", *cli.on(hosts), "--format", form, "demo", "do")
        for hosts, form in (("web[01-02]", "text"), ("web[03-04]", "jsonl"))
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.read(1), "it writes"
    rigs.wait_for(lambda: len(rigs.running(mark)) >= 2, "the commands run")
    time.sleep(1)  # until the pipes are full
    for process in running:
        os.kill(process.pid, signal.SIGINT)
    for process in running:
        assert process.wait(timeout=120) == -signal.SIGINT
        process.communicate()
    rigs.wait_for(_gone(cli, mark), "the hosts end it by themselves")


def test_a_slow_reader_gets_all_output(cli: Cli) -> None:
    """The command ends long before all of its output is read."""
    cli.command("yes 0123456789abcde | head -c 1600000\n")
    process = cli.start("run", *cli.on("web01"), "demo", "do")
    assert process.stdout is not None
    printed = b""
    while piece := process.stdout.read(60000):
        printed += piece
        time.sleep(0.05)
    assert process.wait() == 0
    assert printed.count(b"web01: 0123456789abcde\n") == 100000


def test_ctrl_c_of_a_check(cli: Cli, mark: str) -> None:
    program = cli.rig.machines["web01"].root / "opt" / "stuck"
    program.write_text(f"#!/bin/sh\nexec sleep {mark}\n")
    program.chmod(0o755)
    cli.command("true\n")
    process = cli.lead(
        "check", *cli.on("web01"), "--installed", "/opt/stuck", "demo", "do"
    )
    rigs.wait_for(lambda: rigs.running(mark), "the program there runs")
    os.kill(process.pid, signal.SIGINT)
    process.communicate(timeout=120)
    assert process.returncode == -signal.SIGINT


def test_a_reader_that_goes_away_ends_the_run(cli: Cli, mark: str) -> None:
    cli.command(f"yes | head -c 1000000; sleep {mark}\n")
    line = " ".join(cli.argv("run", *cli.on("web[01-02]"), "demo", "do"))
    done = subprocess.run(
        ["bash", "-c", f"{line} | head -n 1; exit ${{PIPESTATUS[0]}}"],
        env=cli.environ(),
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 128 + signal.SIGPIPE
    assert b"Traceback" not in done.stderr
    assert _gone(cli, mark)()


# Text and JSON are views of their own, and `check` ends in a way of its own.
_VIEWS = [("run", "text"), ("run", "json"), ("check", "jsonl")]


@pytest.mark.parametrize("hosts", [pytest.param("web01", marks=rare), "web[01-02]"])
@pytest.mark.parametrize(("word", "form"), _VIEWS)
def test_no_room_for_the_output_is_reported(
    cli: Cli, word: str, form: str, hosts: str
) -> None:
    """The error comes at the end of the run, or during it."""
    cli.command("echo hi\n")
    options = (*cli.on(hosts), "--forks", "1", "--format", form)
    with open("/dev/full", "wb") as full:
        process = cli.start(word, *options, "demo", "do", stdout=full)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 1
    line = f"cli fleet {word}: cannot write the output: No space left on device"
    assert said.decode().splitlines()[-1 if form == "text" else 0 :] == [line]


@pytest.mark.parametrize(("word", "form"), _VIEWS)
def test_a_reader_that_is_gone_before_the_end(cli: Cli, word: str, form: str) -> None:
    cli.command("echo hi\n")
    reader, writer = os.pipe()
    os.close(reader)
    process = cli.start(
        word, *cli.on("web01"), "--format", form, "demo", "do", stdout=writer
    )
    os.close(writer)
    _, said = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGPIPE
    assert form == "text" or not said


def test_many_at_once(cli: Cli) -> None:
    """Each line is a whole line of one host, and no line is missing."""
    count = 20 if FULL else 4
    for number in range(5, count + 1):
        if f"web{number:02}" not in cli.rig.machines:
            cli.rig.add(f"web{number:02}")
    cli.rig.start(*(f"web{number:02}" for number in range(1, count + 1)))
    cli.command(
        'for ((n = 0; n < 200; n++)); do printf "%s" "$HOSTNAME"; echo " $n"; done\n'
    )
    done = cli.fleet("run", *cli.on(f"web[01-{count:02}]"), "demo", "do")
    assert done.status == 0, done.stderr
    expected = {
        f"web{host:02}: web{host:02} {n}"
        for host in range(1, count + 1)
        for n in range(200)
    }
    lines = done.stdout.decode().splitlines()
    assert not re.search(r"^web\d+: ", done.stderr, re.MULTILINE), (
        "bash there kept silent"
    )
    assert len(lines) == count * 200
    assert set(lines) == expected

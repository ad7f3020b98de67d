"""A run with a parent that waits: on a terminal, at its time limit, and if it cannot start.

What its script gets is compared with an ordinary run in test_kinds_of_run.py.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.installation import Made
from testing.interactive import typed
from testing.machine import needs
from testing.processes import processes_left_with
from testing.rows import night_but
from testing.waiting import wait_until

RECORDED = {"CLI_RECORD": "1"}
_PYTHON = sys.executable

_FOREVER = "while :; do sleep 0.05; done"
_SUDO = "sudo -n -u nobody"  # with `use_pty`, the default of Debian, it is a terminal of its own


@pytest.fixture(scope="module")
def made(shared_install: Callable[..., Made]) -> Made:
    return shared_install({"commands/s": "#!/bin/bash\nexit 9\n"})


def _need_sudo(script: str) -> None:
    if _SUDO in script:
        needs("sudo")
        if subprocess.run(
            [*_SUDO.split(), "true"], capture_output=True, check=False
        ).returncode:
            pytest.skip("sudo asks for a password")


# Each situation: a script, and what a person types; $RUN starts the script.
TYPED = {
    "Ctrl-C": (
        f"exec {_PYTHON} -c 'print(\"ready\", flush=True); input()'",
        [("$RUN\n", "ready\n"), ("\x03", "% "), ("echo $?\n", "130")],
    ),
    "Ctrl-C with a trap": (
        "trap 'echo trapped; exit 5' INT; echo ready; while :; do sleep 0.05; done",
        [("$RUN\n", "ready\n"), ("\x03", "trapped[^%]*% "), ("echo =$?\n", "=5")],
    ),
    "Ctrl-C is ignored": (
        "trap '' INT; echo ready; sleep 0.5; echo finished",
        [("$RUN\n", "ready\n"), ("\x03", "finished[^%]*% ")],
    ),
    "Ctrl-\\": (  # bash itself ignores SIGQUIT
        f"ulimit -c 0; exec {_PYTHON} -c 'print(1, flush=True); input()'",
        [("$RUN\n", "1\n"), ("\x1c", "% "), ("echo =$?\n", "=131")],
    ),
    "Ctrl-Z, jobs, fg": (
        "echo ready; until [ -e $HOME/go ]; do sleep 0.05; done; echo finished; exit 6",
        [
            ("$RUN\n", "ready\n"),
            ("\x1a", "Stopped[^%]*% "),
            ("echo =$?; jobs\n", "=148[^%]*Stopped[^%]*% "),
            ("touch $HOME/go; fg\n", "finished[^%]*% "),
            ("echo =$?\n", "=6"),
        ],
    ),
    "Ctrl-Z, bg, Ctrl-C": (
        "echo ready; until [ -e $HOME/go ]; do sleep 0.05; done; echo finished",
        [
            ("$RUN\n", "ready\n"),
            ("\x1a", "Stopped[^%]*% "),
            ("bg; touch $HOME/go; wait\n", "finished[^%]*% "),
        ],
    ),
    "stops itself": (
        "kill -STOP $$; echo awake",
        [("$RUN\n", "Stopped[^%]*% "), ("fg\n", "awake[^%]*% ")],
    ),
    "reads the terminal": (
        'read -p "name: " name; echo "<$name>"',
        [("$RUN\n", "name: "), ("Ada\n", "<Ada>[^%]*% ")],
    ),
    "reads without an echo": (
        'read -sp "word: " word; echo; echo "<${#word}>"',
        [("$RUN\n", "word: "), ("hidden\n", "<6>[^%]*% ")],
    ),
    "has a terminal": (
        "[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && (exec < /dev/tty) && echo all",
        [("$RUN\n", "all[^%]*% ")],
    ),
    "full screen": (
        "stty raw -echo; echo ready; dd bs=1 count=1 2> /dev/null | od -An -c; stty sane;"
        " echo finished",
        [("$RUN\n", "ready"), ("\x03", "003[^%]*finished[^%]*% ")],
    ),
    "in the background": (
        "sleep 0.2; echo finished",
        [("$RUN &\n", "% "), ("wait; echo waited\n", "finished[^%]*waited")],
    ),
    "sudo reads the terminal": (
        f'exec {_SUDO} bash -c \'read -p "name: " name; echo "<$name>"\'',
        [("$RUN\n", "name: "), ("Ada\n", "<Ada>[^%]*% ")],
    ),
    "sudo, Ctrl-C with a trap": (
        f"{_SUDO} bash -c \"trap 'echo trapped; exit 5' INT; echo ready; {_FOREVER}\"; exit $?",
        [("$RUN\n", "ready\n"), ("\x03", "trapped[^%]*% ")],
    ),
    "sudo, Ctrl-Z, fg": (
        f"exec {_SUDO} bash -c 'echo ready; read line; echo \"<$line>\"'",
        [
            ("$RUN\n", "ready\n"),
            ("\x1a", "Stopped[^%]*% "),
            ("fg\n", "\n"),
            ("text\n", "<text>[^%]*% "),
        ],
    ),
    "Ctrl-C arrives once": (
        f'exec {sys.executable} -c "import signal, time; got = [];'
        " signal.signal(signal.SIGINT, lambda *_: got.append(1)); print('ready', flush=True);"
        " [time.sleep(0.05) for _ in range(8)]; print('signals', len(got))\"",
        [("$RUN\n", "ready\n"), ("\x03", "signals 1[^%]*% ")],
    ),
    "in a pipeline": (
        "trap 'echo trapped >&2; exit 5' INT; echo ready; while :; do sleep 0.05; done",
        [
            ("$RUN | cat\n", "ready\n"),
            ("\x03", "trapped[^%]*% "),
            ("echo =$PIPESTATUS\n", "=5"),
        ],
    ),
}


# A plain run is the script itself, so by day it is only compared in some situations.
_PLAIN_BY_DAY = (
    *("Ctrl-C", "Ctrl-Z, jobs, fg", "reads the terminal", "in a pipeline"),
    "sudo, Ctrl-Z, fg",
)


@pytest.mark.parametrize(
    ("name", "env"),
    [
        *(pytest.param(name, RECORDED, id=f"watched-{name}") for name in TYPED),
        *night_but(
            [f"plain-{name}" for name in _PLAIN_BY_DAY],
            {f"plain-{name}": (name, {}) for name in TYPED},
        ),
    ],
)
def test_on_a_terminal(
    made: Made, name: str, env: dict[str, str], tmp_path: Path
) -> None:
    script, steps = TYPED[name]
    _need_sudo(script)
    made.write({"commands/s": f"#!/bin/bash\n{script}\n"})
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **env}
    run = f"{made.launcher} s"
    typed(environ, [(text.replace("$RUN", run), pattern) for text, pattern in steps])


def _start(
    made: Made, script: str, home: Path, mark: str, **env: str
) -> subprocess.Popen[bytes]:
    made.write({"commands/s": f"#!/bin/bash\n{script}\n"})
    process = subprocess.Popen(
        [made.launcher, "s"],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "MARK": mark,
            **RECORDED,
            **env,
        },
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def test_the_command_goes_on_if_its_parent_is_killed(
    made: Made, tmp_path: Path
) -> None:
    script = "echo ready; until [ -e $HOME/go ]; do sleep 0.05; done; touch $HOME/end"
    process = _start(made, script, tmp_path, "killed-parent")
    process.kill()
    process.wait()
    (tmp_path / "go").touch()
    wait_until((tmp_path / "end").exists)


# Ends a command after 0.1 seconds, and kills it 0.2 seconds later.
_DRIVER = """
import os, sys
from host.processes.process import Exec
from host.launch.watched_run import WatchedRun

command = Exec("/bin/bash", ["bash", "-c", sys.argv[1]], os.environ)
watched = WatchedRun(command, 0.1, grace=0.2)
watched.start()
print(watched.wait().values(), file=sys.stderr)
"""


def _ended_in_time(script: str, mark: str) -> str:
    """Return what a driver says of a command that its time limit has ended."""
    done = subprocess.run(
        [sys.executable, "-c", _DRIVER, script],
        env={**os.environ, "MARK": mark},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_time_limit_ends_everything_below_the_command() -> None:
    needs("setsid")
    script = """
trap '' TERM
setsid bash -c 'trap "" TERM; sleep 70 & sleep 71' &
(set -m; bash -c 'sleep 72; sleep 73') &
setsid bash -c 'trap "" TERM; kill -STOP $$; sleep 76' &
sleep 74; sleep 75
"""
    shown = _ended_in_time(script, "time-limit")
    assert "'status': 124, 'signal': 0, 'timed_out': True" in shown
    assert processes_left_with("MARK=time-limit") == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_what_has_left_the_chain_of_parents_survives(tmp_path: Path) -> None:
    file = tmp_path / "process"
    _ended_in_time(f"(sleep 78 2>&- & echo $! >{file}); sleep 79", "left-the-chain")
    process = int(file.read_text())
    os.kill(process, signal.SIGKILL)  # raises ProcessLookupError if it has ended


def test_a_time_limit_gives_the_command_time_to_clean_up(
    install: Callable[..., Made],
) -> None:
    made = install(
        {
            "commands/s": "#!/bin/bash\n"
            '# /// command\n# {"timeout": "1s"}\n# ///\n'
            "trap 'echo cleaned; exit 3' TERM\nsleep 100 & wait\n"
        }
    )
    assert made.run("s").all == (
        124,
        "cleaned\n",
        "cli: s: ended by its time limit of 1s\n",
    )


def test_a_run_within_its_time_limit(install: Callable[..., Made]) -> None:
    script = (
        '#!/bin/bash\n# /// command\n# {"timeout": "1m"}\n# ///\necho quick; exit 3\n'
    )
    assert install({"commands/s": script}).run("s").all == (3, "quick\n", "")


@pytest.mark.parametrize(
    ("content", "status", "text"),
    [
        ("#!/no/such\n", 127, 'its interpreter "/no/such" is missing'),
        (b"#!/bin/sh\0\n", 127, "is missing"),
        (b"\x7fELF\0 damaged", 126, "Exec format error"),
    ],
    ids=["no interpreter", "NUL", "damaged binary"],
)
def test_a_command_that_cannot_start(
    install: Callable[..., Made], content: str | bytes, status: int, text: str
) -> None:
    made = install({"commands/s": content})
    (made.root / "commands/s").chmod(0o755)
    plain = made.run("s")
    watched = made.run("s", env=RECORDED)
    assert watched.all == plain.all
    assert watched.status == status
    assert text in watched.stderr


def test_no_second_core_file(made: Made, tmp_path: Path) -> None:
    """The parent dies of the same signal, but must not write a core file of its own."""
    pattern = Path("/proc/sys/kernel/core_pattern")
    if (
        not pattern.exists()
        or "/" in pattern.read_text()
        or pattern.read_text()[0] == "|"
    ):
        pytest.skip("core files go elsewhere")
    made.write({"commands/s": "#!/bin/bash\nkill -SEGV $$; sleep 9\n"})
    line = f"ulimit -c unlimited; cd {tmp_path}; {made.launcher} s; ls | grep -c core"
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **RECORDED}
    done = subprocess.run(
        ["/bin/bash", "-c", line], env=environ, capture_output=True, check=False
    )
    assert done.stdout == b"1\n"


def test_a_python_command(install: Callable[..., Made], tmp_path: Path) -> None:
    made = install(
        {"commands/s": f"#!{_PYTHON}\nimport sys; print(sys.argv[1:]); sys.exit(4)\n"}
    )
    assert made.run("s", "x", env=RECORDED).all == (4, "['x']\n", "")


def test_a_terminal_that_closes(made: Made, tmp_path: Path) -> None:
    made.write({"commands/s": "#!/bin/bash\necho ready; sleep 60\n"})
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "MARK": "closed",
        **RECORDED,
    }
    typed(environ, [(f"{made.launcher} s\n", "ready\n")])
    assert processes_left_with("MARK=closed") == []


def test_a_signal_reaches_a_stopped_run(made: Made, tmp_path: Path) -> None:
    process = _start(made, "echo ready; kill -STOP $$; sleep 60", tmp_path, "stopped")
    state = Path(f"/proc/{process.pid}/status")
    wait_until(lambda: b"\nState:\tT" in state.read_bytes())
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGCONT)
    assert process.wait(120) == -signal.SIGTERM

"""A run with a parent that watches it, compared with the same run that becomes its command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.installation import CLI, Made
from testing.interactive import typed
from testing.machine import needs
from testing.processes import processes_left_with
from testing.waiting import wait_until

RECORDED = {"CLI_RECORD": "1"}
_PYTHON = sys.executable

_WAIT = "cat <&${COPROC[0]}; wait $pid"
_FOREVER = "while :; do sleep 0.05; done"
_SUDO = "sudo -n -u nobody"  # with `use_pty`, the default of Debian, it is a terminal of its own
_COPROC = "coproc $RUN; pid=$COPROC_PID; read -u ${COPROC[0]} x"

# Each situation: a bash script, and a shell line in which "$RUN" starts it.
SITUATIONS = {
    "success": ("echo done", "$RUN"),
    "status": ("exit 7", "$RUN"),
    "status 255": ("exit 255", "$RUN"),
    "arguments": ('printf "<%s>" "$@"', "$RUN 'a b' '' -x --help y"),
    "killed by TERM": ("kill -TERM $$; sleep 9", "$RUN"),
    "killed by KILL": ("kill -KILL $$; sleep 9", "$RUN"),
    "killed by INT": ("kill -INT $$; sleep 9", "$RUN"),
    "killed by PIPE": ("kill -PIPE $$; sleep 9", "$RUN"),
    "dumped core": ("ulimit -c 0; kill -SEGV $$; sleep 9", "$RUN"),
    "stdin is a pipe": ("cat; echo end", "printf 'a\\nb' | $RUN"),
    "stdin is a file": ("read line; echo $line", "$RUN < /etc/passwd"),
    "stdin is empty": ("cat; echo end", "$RUN < /dev/null"),
    "stdin is closed": (
        "[ -e /proc/self/fd/0 ] && readlink /proc/self/fd/0",
        "$RUN <&-",
    ),
    "stdout is closed": ("echo lost || echo cannot >&2", "$RUN >&-"),
    "stdout is full": ("echo lost; echo status $? >&2", "$RUN > /dev/full"),
    "stdout and stderr": (
        "echo out; echo err >&2",
        "{ $RUN 2>&3 | tr a-z A-Z; } 3>&1 | sort",
    ),
    "the reader ends first": (
        "yes; echo $? >&2",
        "$RUN | head -2; echo ${PIPESTATUS[0]}",
    ),
    "SIGPIPE kills": ("exec yes", "$RUN | head -1; echo ${PIPESTATUS[0]}"),
    "much output": ("head -c 100000000 /dev/zero", "$RUN | wc -c"),
    "sudo": (f"{_SUDO} id -un; {_SUDO} false; echo $?", "$RUN"),
    "sudo, killed by TERM": (f"exec {_SUDO} bash -c 'kill -TERM $$; sleep 9'", "$RUN"),
    "sudo, traps TERM": (
        f"exec {_SUDO} bash -c \"trap 'echo got; exit 3' TERM; echo ready; {_FOREVER}\"",
        f"{_COPROC}; kill -TERM $pid; {_WAIT}",
    ),
    "umask": ("umask", "umask 027; $RUN"),
    "directory": ("pwd; echo $PWD", "cd /usr/bin; $RUN"),
    "limit of files": ("ulimit -n", "ulimit -n 333; $RUN"),
    "descriptor to read": ("cat <&7", "$RUN 7< /etc/hostname"),
    "descriptor to write": ("echo text >&9", "$RUN 9>&1"),
    "process substitution": ('cat "$1"', "$RUN <(echo inner)"),
    "a descriptor closed early": (
        "exec 8>&-; until [ -s $HOME/seen ]; do sleep 0.05; done; cat $HOME/seen",
        'mkfifo $HOME/p; (cat < $HOME/p; echo "reader saw the end" > $HOME/seen) & $RUN 8> $HOME/p',
    ),
    "stdout closed early": (
        "exec >&-; while [ ! -e $HOME/seen ]; do sleep 0.05; done; echo seen >&2",
        "$RUN | { cat; touch $HOME/seen; }",
    ),
    "background job goes on": ("(sleep 0.3; echo late) & echo early", "$RUN | cat"),
    "traps TERM": (
        "trap 'echo got; exit 3' TERM; echo ready; while :; do sleep 0.05; done",
        f"{_COPROC}; kill -TERM $pid; {_WAIT}",
    ),
    "traps HUP": (
        "trap 'echo hup; exit 4' HUP; echo ready; while :; do sleep 0.05; done",
        f"{_COPROC}; kill -HUP $pid; {_WAIT}",
    ),
    "traps USR1 and USR2": (
        "trap 'echo 1' USR1; trap 'echo 2; exit 0' USR2; echo ready; while :; do sleep 0.05; done",
        f"{_COPROC}; kill -USR1 $pid; read -u ${{COPROC[0]}} y; echo $y; kill -USR2 $pid; {_WAIT}",
    ),
    "an ignored INT stays ignored": ("kill -INT $$; echo alive", "trap '' INT; $RUN"),
    "an ignored HUP stays ignored": (
        "kill -HUP $$; echo alive",
        "nohup $RUN 2> /dev/null",
    ),
    "an ignored CHLD stays ignored": (
        "grep SigIgn /proc/self/status",
        f"exec {_PYTHON} -c 'import os, signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN);"
        ' os.execv(os.environ["RUN"].split()[0], os.environ["RUN"].split())\'',
    ),
    "blocked signals": ("grep SigBlk /proc/self/status", "$RUN"),
    "two runs in a pipeline": ("tr a-y b-z", "echo HAL hal | $RUN | $RUN"),
    "a run inside a run": ('[ "$1" ] && "$CLI_DIR/core/cli" s; echo $#', "$RUN again"),
    "environment": (
        "env | grep -v -e ^CLI_ -e ^_= -e ^BASH_ENV | sort",
        "X='a b' $RUN",
    ),
    "a time limit that waits for it": ("echo slow; exit 5", "timeout -k 1 100 $RUN"),
    "killed by timeout": ("sleep 60", "timeout 3 $RUN"),
}


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


def _outcome(
    made: Made, script: str, line: str, env: dict[str, str], home: Path
) -> tuple[object, ...]:
    home.mkdir()
    made.write({"commands/s": f"#!/bin/bash\n{script}\n"})
    done = subprocess.run(
        ["/bin/bash", "-c", line],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "RUN": f"{made.launcher} s",
            **env,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )
    # bash reports signals with the process id and the line's text
    errors = [
        row
        for row in done.stderr.splitlines()
        if not row.startswith(b"/bin/bash: line")
    ]
    stdout = done.stdout.replace(os.fsencode(home), b"HOME")
    return done.returncode, stdout, errors


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_parent_makes_no_difference(made: Made, name: str, tmp_path: Path) -> None:
    script, line = SITUATIONS[name]
    _need_sudo(script)
    plain = _outcome(made, script, line, {}, tmp_path / "plain")
    watched = _outcome(made, script, line, RECORDED, tmp_path / "watched")
    assert watched == plain
    assert (
        tmp_path / "watched/.local/state/cli-host/history"
    ).is_dir()  # it was recorded


OF_OUTPUT = {
    *(
        "success",
        "status",
        "killed by TERM",
        "killed by KILL",
        "stdin is a pipe",
        "stdin is a file",
    ),
    *(
        "stdout is closed",
        "stdout and stderr",
        "the reader ends first",
        "SIGPIPE kills",
    ),
    *("much output", "stdout closed early", "background job goes on", "traps TERM"),
    *(
        "an ignored CHLD stays ignored",
        "blocked signals",
        "two runs in a pipeline",
        "sudo",
    ),
}


@pytest.fixture(scope="module")
def recording_output(shared_install: Callable[..., Made]) -> Made:
    return shared_install({"core/cli.json": {**CLI, "record": "output"}})


@pytest.mark.parametrize("name", sorted(OF_OUTPUT))
def test_recorded_output_makes_no_difference(
    recording_output: Made, name: str, tmp_path: Path
) -> None:
    script, line = SITUATIONS[name]
    _need_sudo(script)
    plain = _outcome(
        recording_output, script, line, {"CLI_RECORDED": "x"}, tmp_path / "plain"
    )
    watched = _outcome(recording_output, script, line, {}, tmp_path / "watched")
    assert watched == plain
    assert (
        tmp_path / "watched/.local/state/cli-host/history"
    ).is_dir()  # it was recorded


def test_output_that_cannot_be_written(recording_output: Made, tmp_path: Path) -> None:
    lost = _outcome(
        recording_output, "echo lost", "$RUN > /dev/full", {}, tmp_path / "full"
    )
    reason = b"cli: s: its output could not be written: No space left on device"
    assert lost == (1, b"", [reason])


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
    "in a pipeline": (
        "trap 'echo trapped >&2; exit 5' INT; echo ready; while :; do sleep 0.05; done",
        [
            ("$RUN | cat\n", "ready\n"),
            ("\x03", "trapped[^%]*% "),
            ("echo =$PIPESTATUS\n", "=5"),
        ],
    ),
}


@pytest.mark.parametrize("name", TYPED)
@pytest.mark.parametrize("env", [{}, RECORDED], ids=["plain", "watched"])
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


@pytest.mark.skipif(sys.platform != "linux", reason="needs pidfd")
def test_the_command_ends_if_its_parent_is_killed(made: Made, tmp_path: Path) -> None:
    process = _start(made, "echo ready; sleep 60", tmp_path, "killed-parent")
    process.kill()
    process.wait()
    assert processes_left_with("MARK=killed-parent") == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs a subreaper and /proc")
def test_a_time_limit_ends_everything_that_the_command_started(
    install: Callable[..., Made],
) -> None:
    needs("setsid")
    made = install(
        {
            "commands/s": "#!/bin/bash\n"
            '# /// command\n# {"timeout": "1s"}\n# ///\n'
            "trap '' TERM\n"
            "setsid bash -c 'trap \"\" TERM; sleep 70 & sleep 71' &\n"
            "(set -m; bash -c 'sleep 72; sleep 73' &)\n"
            "setsid bash -c 'trap \"\" TERM; kill -STOP $$; sleep 76' &\n"
            "(setsid bash -c '(sleep 77 &); kill -STOP $$' &)\n"
            "sleep 74; sleep 75\n"
        }
    )
    began = time.monotonic()
    done = made.run("s", env={"MARK": "time-limit"})
    assert done.all == (124, "", "cli: s: ended by its time limit of 1s\n")
    assert time.monotonic() - began < 60
    assert processes_left_with("MARK=time-limit") == []


def test_a_time_limit_gives_the_command_time_to_clean_up(
    install: Callable[..., Made],
) -> None:
    made = install(
        {
            "commands/s": "#!/bin/bash\n"
            '# /// command\n# {"timeout": "3s"}\n# ///\n'
            "trap 'echo cleaned; exit 3' TERM\nsleep 100 & wait\n"
        }
    )
    assert made.run("s").all == (
        124,
        "cleaned\n",
        "cli: s: ended by its time limit of 3s\n",
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

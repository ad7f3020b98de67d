"""What a script gets is the same in every kind of run and from every caller (Linux).

Each column is a kind of run started by a caller, each row something that the script gets or shows.
The columns of one caller must be equal. Nothing is left out before they are compared; where a run
is allowed to differ, `_expected` has the exact value.
"""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from testing.installation import Made, command
from testing.probe import SCRIPT, STATUS, read_report, variables

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")

HOOKS = """
from host import AfterRun, hookimpl

@hookimpl
def after_run(installation):
    yield AfterRun("report", "builtins:repr", words=("WORD",))
"""
PLUGIN = {"name": "reporter", "hooks": "hooks.py"}
RECORDED = {"record": True}
LIMITED = {"timeout": "10m"}
EXCLUSIVE = {"exclusive": True}
_SECONDS = 60  # without output

# Each kind of run: the keys of its command, and whether a plugin waits for its end.
KINDS: Mapping[str, tuple[Mapping[str, object], bool]] = {
    "plain": ({}, False),
    "recorded": (RECORDED, False),
    "limited": (LIMITED, False),
    "exclusive": (EXCLUSIVE, False),
    "after_run": ({}, True),
    "all": ({**RECORDED, **LIMITED, **EXCLUSIVE}, True),
}

# Each caller: what $RUN is in a line of bash, and whether the three streams are a terminal.
CALLERS: Mapping[str, tuple[str, bool]] = {
    "pipe": ("{launcher} s", False),
    "terminal": ("{launcher} s", True),
    "another command": ("{launcher} outer", False),
    "Program.run": ("{python} {home}/program.py", False),
}
OUTER = '#!/bin/bash\nexec "$CLI_DIR/core/acme" s "$@"\n'
PROGRAM_RUN = """
import os, signal, sys
from host import Program

signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # else Python cannot wait for the status
program = Program.at(os.environ["ROOT"], os.environ)
done = program.run(("s",), sys.argv[1:], close_fds=False)
if done.returncode < 0:
    if done.returncode != -signal.SIGKILL:
        signal.signal(-done.returncode, signal.SIG_DFL)
    os.kill(os.getpid(), -done.returncode)
sys.exit(done.returncode)
"""

# A caller with as much of its own as possible: descriptors, limits, signals, priority, directory.
UNUSUAL = """
umask 027; ulimit -n 333; ulimit -S -c 0; trap '' USR2; cd "$HOME/here"
export BASH_ENV='$HOME/startup' PS4='+ '
exec 7<"$HOME/data" 9>>"$HOME/nine"
find /proc/$$/fd -type l -printf '%f %l\\n' >"$HOME/descriptors"
cat /proc/$$/limits >"$HOME/limits"
"""
_CALLER = """
cut -d ' ' -f 5-8 /proc/$$/stat >"$HOME/group"
readlink -n /proc/$$/fd/2 >"$HOME/output"
"""
ARGUMENTS = [b"a b", b"two\nlines", b"", b"-x", b"--", b"\xff\xfe", b"$HOME", b"*"]
_WORDS = rb"""'a b' $'two\nlines' '' -x -- $'\xff\xfe' '$HOME' '*'"""
_PROBED = os.fsdecode(rb"nice -n 3 $RUN " + _WORDS)
_CATCHES = "trap 'echo caught %s' %s"
_WAITING = "echo ready; while :; do sleep 0.05; done"


def _killed_by(name: str) -> str:
    """Return the script of the probe, which ends by a signal to itself."""
    beginning, _, _ = SCRIPT.rpartition("exit ")
    return f"{beginning}kill -{name} $$; sleep 9\n"


@dataclass(frozen=True)
class Row:
    """A script, the line that starts it, how it ends, and the signals that the caller sends.

    Each signal is sent when the script has printed the text before it. A program in Python that
    waits for a run keeps its own descriptors and gets its signals itself, so some rows are not
    `for_program_run`.
    """

    script: str
    line: str
    status: int = 0
    sent: Sequence[tuple[bytes, int]] = ()
    for_program_run: bool = True

    @property
    def is_probe(self) -> bool:
        return self.script.startswith("#!")


ROWS: Mapping[str, Row] = {
    "probe": Row(SCRIPT, f'{UNUSUAL} {_PROBED} <"$HOME/data"', STATUS),
    # stdin is empty, stdout full, CHLD ignored.
    "killed by TERM": Row(
        _killed_by("TERM"),
        "trap '' CHLD; exec $RUN </dev/null >/dev/full",
        -signal.SIGTERM,
    ),
    "stdin and stdout are closed, killed by KILL": Row(
        _killed_by("KILL"), "exec $RUN <&- >&-", -signal.SIGKILL
    ),
    # A process substitution, a background job that goes on, and a reader of stdout and of another
    # descriptor that see their ends before the script ends.
    "pipes": Row(
        """
        cat; cat "$1"
        { until [ -e $HOME/over ]; do sleep 0.05; done; echo late; rm $HOME/over; } >&2 8>&- &
        echo early
        exec >&- 8>&-
        until [ -e $HOME/seen -a -e $HOME/closed ]; do sleep 0.05; done
        echo seen >&2
        """,
        """
        mkfifo $HOME/p
        { cat <$HOME/p; >$HOME/closed; } &
        printf 'a\nb\n' | $RUN <(echo inner) 8>$HOME/p | { cat; >$HOME/seen; }
        >$HOME/over; until [ ! -e $HOME/over ]; do sleep 0.05; done
        wait; rm $HOME/{p,closed,seen}
        """,
        for_program_run=False,
    ),
    "the reader ends first, killed by PIPE": Row(
        "yes; echo $? >&2; kill -PIPE $$; sleep 9",
        "$RUN | sed -u 2q; echo ${PIPESTATUS[0]}",  # `head` closes its input before it writes
    ),
    "TERM kills": Row(
        f"{_CATCHES % ('USR1', 'USR1')}; {_CATCHES % ('INT', 'INT')}; {_WAITING}",
        "exec $RUN",
        -signal.SIGTERM,
        (
            (b"ready", signal.SIGUSR1),
            (b"caught USR1", signal.SIGINT),
            (b"caught INT", signal.SIGTERM),
        ),
        for_program_run=False,
    ),
    "INT kills": Row(
        f"trap 'echo caught TERM; exec sleep 60' TERM; {_WAITING}",
        "exec $RUN",
        -signal.SIGINT,
        ((b"ready", signal.SIGTERM), (b"caught TERM", signal.SIGINT)),
        for_program_run=False,
    ),
}


class Observed(dict[str, Any]):
    """What each row of a column has shown."""


class Table:
    """One installation, whose command `s` becomes each kind of run in turn."""

    def __init__(self, install: Callable[..., Made]) -> None:
        self.made = install({"commands/outer": OUTER}, "acme")
        self.made.write({"plugins/reporter/plugin.json": PLUGIN})
        self.home = self.made.home
        for name in ("here", "report"):
            (self.home / name).mkdir()
        (self.home / "report").rmdir()
        (self.home / "data").write_bytes(b"some\0data\n")
        (self.home / "startup").write_text("FROM_STARTUP=yes\n")
        (self.home / "program.py").write_text(PROGRAM_RUN)
        self._hooks = ""

    def column(self, kind: str, caller: str) -> Observed:
        """Return what all rows show for a kind of run and a caller."""
        keys, waits = KINDS[kind]
        definition = command(entrypoint="s.sh", envs={"SET": "value"}, **keys)
        self.made.write({"commands/s/command.json": definition})
        hooks = HOOKS.replace("WORD", "s" if waits else "other")
        if hooks != self._hooks:
            self.made.write({"plugins/reporter/hooks.py": hooks})
            (self.made.root / "cli.lock").unlink(missing_ok=True)
            self._hooks = hooks

        observed = Observed()
        rows = _rows_of(caller)
        for name, row in rows.items():
            observed[name] = self._shown(row, caller)
            assert observed[name][0] == row.status, (name, observed[name])
            if not row.is_probe:
                continue
            report = read_report(self.home)
            # The process group, the session, the terminal, and its group in the foreground.
            assert report.pop("group") == (self.home / "group").read_bytes()
            # Each row writes to a pipe or a terminal of its own.
            output = (self.home / "output").read_bytes()
            for subject, content in report.items():
                observed[f"{name}: {subject}"] = content.replace(output, b"output")
            if name == "probe":
                for subject in ("descriptors", "limits"):
                    content = (self.home / subject).read_bytes()
                    observed[f"caller's {subject}"] = content.replace(output, b"output")
        if "record" in keys:
            observed["id"] = self._ids(len(rows))
        return observed

    def _ids(self, number: int) -> list[str]:
        """Return the ids of the last recorded runs, the oldest of them first."""
        shown = self.made.run("self", "history", "--limit", "0", "--format", "json")
        runs = json.loads(shown.stdout)["runs"][:number]
        return [run["id"] for run in reversed(runs)]

    def _shown(self, row: Row, caller: str) -> tuple[int, bytes]:
        """Return the status of a row's line, negative for a signal, and all its output."""
        script = row.script
        if not row.is_probe:
            script = f"#!/bin/bash\n{script}\n"
        self.made.write({"commands/s/s.sh": script})

        started_as, has_terminal = CALLERS[caller]
        run = started_as.format(
            launcher=self.made.launcher, home=self.home, python=sys.executable
        )
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "ROOT": str(self.made.root),
            "RUN": run,
            "LINES_": "two\nlines",
            "with.dot": "x",
            "EMPTY": "",
            "BYTES": os.fsdecode(b"\xff"),
        }
        argv = ["/bin/bash", "-c", f"{_CALLER} {row.line}"]
        if has_terminal:
            process, output = pty.fork()
            if process == 0:
                os.execve(argv[0], argv, environ)
        else:
            output, writing = os.pipe()
            streams = {"stdout": writing, "stderr": writing}
            started = subprocess.Popen(
                argv, env=environ, stdin=subprocess.DEVNULL, **streams
            )
            started.returncode = 0  # it is waited for below
            process = started.pid
            os.close(writing)
        try:
            return _end_of(process, output, row.sent)
        finally:
            os.close(output)


def _rows_of(caller: str) -> Mapping[str, Row]:
    if caller != "Program.run":
        return ROWS
    return {name: row for name, row in ROWS.items() if row.for_program_run}


def _end_of(
    process: int, output: int, sent: Sequence[tuple[bytes, int]]
) -> tuple[int, bytes]:
    """Send signals to a process when it is ready; return how it ends, and its whole output.

    Raises TimeoutError if it prints nothing for a minute and goes on.
    """
    shown = b""
    waiting = [*sent]
    while True:
        if not select.select([output], [], [], _SECONDS)[0]:
            os.kill(process, signal.SIGKILL)
            raise TimeoutError(shown)
        try:
            chunk = os.read(output, 1 << 16)
        except OSError:  # the end of a terminal
            break
        if not chunk:
            break
        shown += chunk
        if waiting and waiting[0][0] in shown:
            _, number = waiting.pop(0)
            os.kill(process, number)
    _, status = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status), shown


def _expected(plain: Observed, column: Observed, kind: str, made: Made) -> Observed:
    """Return what a column must show: the same as the plain one, but for what is named here."""
    keys, _ = KINDS[kind]
    expected = Observed(plain)
    ids = column.get("id")
    if ids is not None:
        expected["id"] = ids

    probes = [name for name, row in ROWS.items() if row.is_probe]
    for number, probe in enumerate(probes):
        # The shell library is for this process only.
        process = column[f"{probe}: process"]
        expected[f"{probe}: process"] = process
        environment = f"{probe}: environment"
        expected[environment] = plain[environment].replace(
            b"CLI_HOST_INIT=%s:" % plain[f"{probe}: process"],
            b"CLI_HOST_INIT=%s:" % process,
        )

        # The id of a recorded run is in its CLI_RUN.
        if ids is not None:
            for subject in ("environment", "exported"):
                name = f"{probe}: {subject}"
                chain = variables(plain[name])[b"CLI_RUN"]
                with_id = b"%s::%s" % (chain, ids[number].encode())
                expected[name] = expected[name].replace(
                    b"CLI_RUN=%s\0" % chain, b"CLI_RUN=%s\0" % with_id
                )

        # An exclusive run has its lock.
        if keys.get("exclusive"):
            name = f"{probe}: descriptors"
            [lock] = made.home.glob(".local/state/cli-host/locks/*/command s")
            expected[name] = _lines(plain[name] + b"101 %s\n" % os.fsencode(lock))
            column[name] = _lines(column[name])
    return expected


def _lines(content: bytes) -> bytes:
    return b"".join(sorted(content.splitlines(keepends=True)))


def _columns() -> list[Any]:
    """Return the columns that are compared: by day all kinds for one caller, and `all` for each."""
    kinds = [kind for kind in KINDS if kind != "plain"]
    columns = []
    for caller in CALLERS:
        by_day = kinds if caller == "pipe" else ["all"]
        columns.append(pytest.param(caller, by_day, id=caller))
        if others := [kind for kind in kinds if kind not in by_day]:
            night = {"id": f"{caller}, each kind", "marks": pytest.mark.night}
            columns.append(pytest.param(caller, others, **night))
    return columns


@pytest.mark.slow
@pytest.mark.parametrize(("caller", "kinds"), _columns())
def test_what_a_script_gets(
    install: Callable[..., Made], caller: str, kinds: Sequence[str]
) -> None:
    table = Table(install)
    plain = table.column("plain", caller)
    for kind in kinds:
        column = table.column(kind, caller)
        expected = _expected(plain, column, kind, table.made)
        assert column.keys() == expected.keys()
        for name in column:
            assert (kind, name, column[name]) == (kind, name, expected[name])

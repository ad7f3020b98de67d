"""settings.conf: everything that a shell file can do, and what of it reaches a command."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

import host.variables.settings
from host.errors import MissingError
from host.variables.settings import parse_exports
from testing.installation import command
from testing.processes import processes_left_with
from testing.rows import night_but
from testing.waiting import wait_until


@pytest.fixture(scope="module")
def place(shared_install):
    """Run a command under a settings.conf and give back what its environment was."""
    made = shared_install(
        {
            "commands/demo/show/command.json": command(),
            "commands/demo/show/main.sh": f"#!{sys.executable} -IS\n"
            "import sys; sys.stdout.buffer.write(open('/proc/self/environ', 'rb').read())\n",
            "commands/demo/say/command.json": command(),
            "commands/demo/say/main.sh": "#!/bin/bash -p\n"
            'echo "$PWD|$(umask)|$-|${IFS@Q}|$(trap)|$(cat)|$#:$*"; declare -F f; alias a\n',
        }
    )
    made.write({"config/settings.conf": ""})
    made.run("demo", "show")
    return made


@pytest.fixture
def gate(tmp_path):
    """A FIFO: who opens it to read waits until the test has ended."""
    path = tmp_path / "gate"
    os.mkfifo(path)
    yield path
    os.close(os.open(path, os.O_RDWR))


NEEDS_PROC = pytest.mark.skipif(
    not os.path.exists("/proc/self/environ"), reason="needs /proc"
)

FRAMEWORK = {
    *(
        "CLI_DIR",
        "CORE_DIR",
        "LIB_DIR",
        "PLUGINS_DIR",
        "GLOBAL_CONFIG_FILE",
        "COMMAND_NAME",
    ),
    *("COMMAND_CATEGORY", "CLI_RUN", "PATH", "HOME"),
}


def variables(text: str) -> dict[str, str]:
    found = dict(entry.split("=", 1) for entry in text.split("\0")[:-1])
    return {name: value for name, value in found.items() if name not in FRAMEWORK}


def write(place, text):
    place.write({"config/settings.conf": text})
    return f"{place.root}/config/settings.conf"


# What a file may do, and the variables that the command then has.
REACHES = {
    "assignment": ("X=1\n", {"X": "1"}),
    "no newline at the end": ("X=1", {"X": "1"}),
    "export": ("export X=1\n", {"X": "1"}),
    "declare": (
        "declare X=1\ndeclare -x Y=2\ntypeset Z=3\n",
        {"X": "1", "Y": "2", "Z": "3"},
    ),
    "shell expansion": ("A=a\nX=${A^^}$((1+2))$(echo c)\n", {"A": "a", "X": "A3c"}),
    "readonly": ("readonly X=1\ndeclare -r Y=2\n", {"X": "1", "Y": "2"}),
    "unset again": ("X=1\nY=2\nunset X\n", {"Y": "2"}),
    "empty": ("X=\nY=''\n", {"X": "", "Y": ""}),
    "quotes": ("""X='a"b'"c'd"\\$e\\\\\n""", {"X": "a\"bc'd$e\\"}),
    "newlines": ("X='a\nb\n'\nY=$'\\n'\n", {"X": "a\nb\n", "Y": "\n"}),
    "control characters": (
        "X=$'\\a\\b\\e\\f\\r\\t\\v\\001\\177'\n",
        {"X": "\a\b\x1b\f\r\t\v\1\x7f"},
    ),
    "looks like output": (
        "X=$'\\ndeclare -x FAKE=\"1\"\\n'\nY='declare -x FAKE=\"1\"'\n",
        {"X": '\ndeclare -x FAKE="1"\n', "Y": 'declare -x FAKE="1"'},
    ),
    "not UTF-8": ("X=$'\\xe9\\xff'\n", {"X": "\udce9\udcff"}),
    "huge": ("X=$(printf %0100000d 7)\n", {"X": "7".rjust(100000, "0")}),
    "many": (
        "".join(f"X{n}={n}\n" for n in range(300)),
        {f"X{n}": str(n) for n in range(300)},
    ),
    "array": (
        "X=1\nA=(1 2 ')')\ndeclare -A M=([k]=v ['a) b']=c)\nY=2\n",
        {"X": "1", "Y": "2"},
    ),
    "array with keys like output": (
        "declare -A M\nM[$'a)\\nFAKE=\"x\"']=c\nM['FAKE=$'\"'\"'x']=d\nM['b) FAKE=\"']='\"'\nY=2\n",
        {"Y": "2"},
    ),
    "exported function": ("f() { :; }\nexport -f f\nX=1\n", {"X": "1"}),
    "functions with the names of builtins": (
        "printf() { :; }\nset() { :; }\nexport() { :; }\nexit() { :; }\ntrap() { :; }\nX=1\n",
        {"X": "1"},
    ),
    "alias": ("shopt -s expand_aliases\nalias a=b set=echo\nX=1\n", {"X": "1"}),
    "cd": ("cd /\nX=$PWD\n", {"X": "/"}),
    "shell's own names": ("X=1\nPWD=/x\nSHLVL=7\nOLDPWD=/y\n", {"X": "1"}),
    "IFS": ('IFS=,\nA=(1 2)\nX="${A[*]}"\nunset IFS\n', {"X": "1,2"}),
    "set -e": ("set -e\nX=1\n", {"X": "1"}),
    "set -a and off again": ("set -a\n. /dev/null\nset +a\nX=1\n", {"X": "1"}),
    "shopt": ("shopt -s nullglob extglob extdebug\nX=$(echo none*)\n", {"X": ""}),
    "trap EXIT": ("trap 'echo bye >&2; exit 3' EXIT\nX=1\n", {"X": "1"}),
    "trap ERR": ("trap 'exit 4' ERR\nX=1\n", {"X": "1"}),
    "return": ("X=1\nreturn\nY=2\n", {"X": "1"}),
    "last command fails": ("X=1\n[ -f /none ] && . /none\n", {"X": "1"}),
    "stdin is empty": ("X=$(cat)\nread Y\nZ=${Y-unset}\n", {"X": "", "Y": "", "Z": ""}),
    "carriage returns": ("X=$'a\\r\\r'\nY='a\rb'\n", {"X": "a", "Y": "a\rb"}),
    "BASH_ENV": (
        "X=1\nBASH_ENV=/x\nENV=/y\n",
        {"X": "1", "BASH_ENV": "/x", "ENV": "/y"},
    ),
    "closed descriptors": ("exec 1>&- 2>&- 0<&-\nX=1\n", {"X": "1"}),
    "a descriptor of its own": (
        'exec 200>&-\nfor n in {3..249}; do eval "exec $n>&-"; done\nunset n\nX=1\n',
        {"X": "1"},
    ),
    "coproc": ("coproc sleep 60\nX=1\nunset COPROC_PID\n", {"X": "1"}),
    "return before what is no bash": (
        "X=1\nreturn 0\n[[ -z && ]]\n) done\n",
        {"X": "1"},
    ),
    "a comment that ends in a backslash": ("X=1\n# c \\\n", {"X": "1"}),
    "a value that ends in backslashes": ("X=1\\\\\n", {"X": "1\\"}),
    "locale": (
        "X=$LC_ALL:$LANGUAGE:$LANG\nexport LC_ALL=C LANGUAGE=de\nLANG=de_DE.UTF-8\n",
        {"X": "::", "LC_ALL": "C", "LANGUAGE": "de", "LANG": "de_DE.UTF-8"},
    ),
}


@pytest.mark.parametrize(("text", "expected"), REACHES.values(), ids=REACHES.keys())
def test_what_reaches_the_command(place, text, expected):
    write(place, text)
    result = place.run("demo", "show")
    assert (result.status, result.stderr) == (0, "")
    if expected is not None:
        assert variables(result.stdout) == expected


def test_where_the_file_is(place):
    path = write(
        place, 'X=${BASH_SOURCE[0]}\nY=$#\n. "${BASH_SOURCE[0]%/*}/other.conf"\n'
    )
    place.write({"config/other.conf": "Z=${BASH_SOURCE[0]}\nset +a\nW=1\nreturn 1\n"})
    result = place.run("demo", "show")
    assert (result.status, result.stderr) == (0, "")
    assert (
        variables(result.stdout)
        == {
            "X": path,
            "Y": "2",
            "Z": path.replace("settings", "other"),
            "W": "1",
        }
        or variables(result.stdout)["Y"] in "012"
    )


# Words of bash that a file may redefine, and how.
WORDS = [
    *(
        "builtin",
        "jobs",
        "export",
        "printf",
        "declare",
        "trap",
        "eval",
        "unset",
        "set",
        "exit",
    ),
    *("test", "enable", "return", "shopt"),
]
REDEFINES = {
    **{word: f"{word}() {{ echo ran {word} >&2; return 1; }}\nX=1\n" for word in WORDS},
    "all at once": "".join(f"{word}() {{ echo ran {word} >&2; }}\n" for word in WORDS)
    + "X=1\n",
    "alias": "shopt -s expand_aliases\nalias unset='no such thing'\nX=1\n",
    "disabled": "enable -n declare\nX=1\n",
    "under set -e": "set -eu\njobs() { return 1; }\nX=1\n",
}


@pytest.mark.parametrize(
    "text",
    night_but(["all at once", "alias", "disabled", "under set -e"], REDEFINES),
)
def test_a_file_that_redefines_a_builtin_loses_nothing(place, text):
    write(place, text)
    result = place.run("demo", "show")
    assert (result.status, result.stderr, variables(result.stdout)) == (
        0,
        "",
        {"X": "1"},
    )


# What else a file may do to the shell that reads it.
DISTURBS = {
    "BASH beside an array": ("export BASH=sh\nA=([a]=1)\nX=1\nfalse\n", {"X": "1"}),
    "all words at once": (
        "".join(f"{word}() {{ :; }}\n" for word in WORDS if word.isalpha()) + "X=1\n",
        {"X": "1"},
    ),
    "set, and set +a": ("set +a\nset() { :; }\nX=1\nY=2\n", {"X": "1", "Y": "2"}),
    "POSIX mode that is left": (
        "set -o posix\nX=1\nset +o posix\nY=2\n",
        {"X": "1", "Y": "2"},
    ),
    "POSIXLY_CORRECT that is readonly": (
        "readonly POSIXLY_CORRECT=1\nX=1\n",
        {"X": "1", "POSIXLY_CORRECT": "1"},
    ),
    "readonly locale": (
        "readonly LC_ALL=C LANGUAGE=de\nX=1\n",
        {"X": "1", "LC_ALL": "C", "LANGUAGE": "de"},
    ),
    "readonly IFS": (
        "readonly IFS=x BASH_ENV=y\nX=1\n",
        {"X": "1", "IFS": "x", "BASH_ENV": "y"},
    ),
    "readonly functions": (
        "builtin() { :; }\nexport() { :; }\nreadonly -f builtin export\nX=1\n",
        {"X": "1"},
    ),
}


@pytest.mark.parametrize(("text", "expected"), DISTURBS.values(), ids=DISTURBS)
def test_a_file_that_disturbs_its_shell_loses_nothing(place, text, expected):
    write(place, text)
    result = place.run("demo", "show")
    assert (result.status, result.stderr, variables(result.stdout)) == (0, "", expected)


# What ends it before its end: text, the line that is named ("" for none).
ENDS = {
    "exit": ("X=1\nexit\n", "2"),
    "exit among builtins that are functions": (
        "builtin() { :; }\nprintf() { :; }\ntrap() { :; }\nexit 3\n",
        "4",
    ),
    "exit in a function": ("f() {\n  exit 3\n}\nf\n", "2"),
    "exec": ("X=1\nexec true\n", ""),
    "set -e": ("set -e\nX=1\nfalse\nY=2\n", "3"),
    "set -u": ("set -u\nX=$NONE\nY=2\n", "2"),
    "required": ("X=1\nY=${NONE:?needed}\n", "2"),
    "kill": ("X=1\nkill -9 $$\nY=2\n", ""),
    "trap EXIT and exit": ("trap 'echo bye' EXIT\nexit 0\n", None),
}


# Where a file stops being bash, and the line that is named; bash itself goes on after some.
BAD_SYNTAX = {
    "if": ("X=1\nif\nY=2\n", ":4: syntax error"),
    "test": ("X=1\n[[ -z $Q && ]] && C=1\nY=2\n", ": syntax error after line 1"),
    "open array": ("X=1\nA=(\nY=2\n", ":2: syntax error"),
    "open double quote": ('X=1\nY="a\nZ=3\n', ":2: syntax error"),
    "open substitution": ("X=1\nY=$(a\nZ=1\n", ":4: syntax error"),
    "stray brace": ("X=1\n}\nY=2\n", ":2: syntax error"),
    "open here-document": ("X=1\nread Y <<END\nY=2\nZ=3\n", ":5: syntax error"),
    "a backslash at the end": ("X=1\nY=2\\\n", ":4: syntax error"),
    "an operator at the end": ("X=1\ntrue &&\n", ":3: syntax error"),
    "after a function that returns": (
        "f() { return; }\nX=1\nf\n)\n",
        ":4: syntax error",
    ),
    "after a word like return": ("returned=1\n)\n", ":2: syntax error"),
    "POSIX mode": ("set -o posix\nX=1\nif\n", ":4: syntax error"),
}


IN_GERMAN = ("if", "test", "open array", "open double quote")


@pytest.mark.parametrize("name", BAD_SYNTAX)
def test_a_syntax_error_is_an_error_in_every_language(place, name):
    text, expected = BAD_SYNTAX[name]
    path = write(place, text)
    env = {"CLI_SETTINGS_TIMEOUT": "60"}
    if name in IN_GERMAN:
        env |= {"LANGUAGE": "de", "LC_ALL": "C.UTF-8"}
    result = place.run("demo", "show", env=env)
    assert (result.status, result.stdout) == (1, "")
    assert result.stderr.splitlines()[-1] == f"cli: {path}{expected}"
    assert "__cli" not in result.stderr


@pytest.mark.parametrize(("text", "line"), ENDS.values(), ids=ENDS.keys())
def test_what_does_not_reach_its_end(place, text, line):
    path = write(place, text)
    result = place.run("demo", "show")
    assert (result.status, result.stdout) == (1, "")
    last = result.stderr.splitlines()[-1]
    if line is None:
        assert last.startswith(f"cli: {path}")
    else:
        assert last.startswith(f"cli: {path}:{line}: " if line else f"cli: {path}: ")
    assert "Traceback" not in result.stderr
    assert "__cli" not in result.stderr


# What bash would read otherwise than it is meant: content, where and what is told.
NO_TEXT = {
    "CR LF": (b"X=1\r\nY=2\r\n", ":1: this line ends with CR LF"),
    "CR at the end": (b"X=1\nY=2\r", ":2: this line ends with CR LF"),
    "BOM": (
        b"\xef\xbb\xbfX=1\nY=2\n",
        ": is UTF-16 or begins with a byte-order mark; save it as",
    ),
    "UTF-16 without BOM": (
        "X=1\nY=2\n".encode("utf-16-le"),
        ": is UTF-16 or begins with a byte-order mark; save it as",
    ),
}


@pytest.mark.parametrize(("content", "told"), NO_TEXT.values(), ids=NO_TEXT)
def test_what_is_no_text_for_bash_is_an_error_with_the_way_out(place, content, told):
    path = write(place, content)
    result = place.run("demo", "show")
    assert (result.status, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert result.stderr.startswith(f"cli: {path}{told}")


def test_the_way_out_of_cr_lf_works(place):
    write(place, b"X=1\r\nY='a b'\r\n")
    told = place.run("demo", "show").stderr
    subprocess.run(["sh", "-c", told.partition("or run: ")[2]], check=True)
    assert variables(place.run("demo", "show").stdout) == {"X": "1", "Y": "a b"}


@pytest.mark.parametrize("mode", [0o666, 0o602])
def test_a_file_that_everybody_may_write_is_an_error_with_the_chmod(place, mode):
    path = write(place, "X=1\n")
    os.chmod(path, mode)
    result = place.run("demo", "show")
    assert result.all == (
        1,
        "",
        f"cli: {path}: every user can write to it; run: chmod o-w {path}\n",
    )
    subprocess.run(["sh", "-c", result.stderr.partition("run: ")[2]], check=True)
    assert variables(place.run("demo", "show").stdout) == {"X": "1"}
    os.chmod(path, 0o664)
    assert place.run("demo", "show").status == 0
    os.chmod(path, 0o644)


def test_blanks_around_the_equals_sign_get_a_hint(place):
    write(place, "A=1\nNAME = value\nB=2\nif true; then\n  X =y\nfi\nmissing command\n")
    result = place.run("demo", "show")
    assert (result.status, variables(result.stdout)) == (0, {"A": "1", "B": "2"})
    assert result.stderr.splitlines() == [
        "settings.conf: line 2: NAME: command not found",
        "settings.conf: line 2: an assignment must not have blanks around its =",
        "settings.conf: line 5: X: command not found",
        "settings.conf: line 5: an assignment must not have blanks around its =",
        "settings.conf: line 7: missing: command not found",
    ]


def test_a_trace_shows_the_files_lines_only(place):
    write(place, "set -x\nX=1\nf() { Y=2; }\nf\n")
    result = place.run("demo", "show")
    assert variables(result.stdout) == {"X": "1", "Y": "2"}
    assert result.stderr == "++ X=1\n++ f\n++ Y=2\n"
    write(place, "set -x\nX=1\nexit 3\n")
    assert place.run("demo", "show").stderr.splitlines()[:-1] == ["++ X=1", "++ exit 3"]


def test_the_message_of_an_early_end_names_what_can_end_it(place):
    path = write(place, "set -u\nX=$NONE\n")
    told = place.run("demo", "show").stderr.splitlines()[-1]
    what = "(exit, exec, set -e, set -u or a signal)"
    assert told == f"cli: {path}:2: bash did not reach the end of the file {what}"


# How a settings.conf calls the program that reads it.
CALLS = {
    "plain": "X=1\n{launcher} demo show >/dev/null\nY=2\n",
    "in a substitution": "X=$({launcher} demo show)1\nY=2\n",
    "from a session of its own": "X=1\nsetsid -w {launcher} demo show\nY=2\n",
    "self env": "X=1\n{launcher} self env demo show\nY=2\n",
}


@NEEDS_PROC
@pytest.mark.parametrize("text", CALLS.values(), ids=CALLS)
def test_a_file_that_calls_the_program_is_not_read_again(place, text):
    path = write(place, text.format(launcher=place.launcher))
    mark = f"mark-{time.monotonic_ns()}"
    env = {"MARK": mark, "CLI_SETTINGS_TIMEOUT": "60"}
    result = place.run("demo", "show", env=env)
    told = [line for line in result.stderr.splitlines() if "calls this program" in line]
    assert len(told) == 1
    assert told[0].startswith("cli: ")
    assert os.path.basename(path) in told[0]
    assert (result.status, variables(result.stdout)["Y"]) == (0, "2")
    assert "__cli" not in result.stdout
    assert processes_left_with(mark) == []


@pytest.mark.slow
@NEEDS_PROC
def test_runs_inside_it_are_gone_when_time_is_out(place):
    """Each of them has a session of its own, so each ends its own child."""
    write(place, f"env -u __cli_reading {place.launcher} demo show\n")
    mark = f"mark-{time.monotonic_ns()}"
    env = {"MARK": mark, "CLI_SETTINGS_TIMEOUT": "1.5"}
    result = place.run("demo", "show", env=env)
    assert (result.status, result.stdout) == (1, "")
    write(place, "")
    assert processes_left_with(mark) == []


@pytest.mark.slow
@NEEDS_PROC
def test_a_file_that_ignores_sigterm_ends_too_when_time_is_out(place):
    write(place, "trap '' TERM\nsleep 60\nsleep 60\n")
    mark = f"mark-{time.monotonic_ns()}"
    result = place.run(
        "demo", "show", env={"MARK": mark, "CLI_SETTINGS_TIMEOUT": "0.5"}
    )
    assert (result.status, result.stdout) == (1, "")
    assert processes_left_with(mark) == []


def test_a_command_of_another_installation_may_be_called(place, shared_install):
    other = shared_install(
        {
            "commands/demo/say/command.json": command(),
            "commands/demo/say/main.sh": "#!/bin/sh\necho said $Y\n",
            "config/settings.conf": "Y=there\n",
        }
    )
    write(place, f"X=$({other.launcher} demo say)\n")
    result = place.run("demo", "show")
    assert (variables(result.stdout), result.stderr) == ({"X": "said there"}, "")
    path = f"{other.root}/config/settings.conf"
    other.write({"config/settings.conf": f"Y=$({place.launcher} demo show)there\n"})
    result = place.run("demo", "show")
    assert variables(result.stdout) == {"X": "said there"}
    assert (
        result.stderr.count("calls this program, which would read the file again") == 1
    )
    assert path


TIMES = {
    "sleep": "sleep 60\n",
    "stopped": "kill -STOP $$\n",
    "fifo": "mkfifo $CLI_DIR/fifo 2>/dev/null\nX=$(cat $CLI_DIR/fifo)\n",
    "ignores all signals": "trap '' INT TERM HUP\nsleep 60\n",
}


@pytest.mark.parametrize("text", TIMES.values(), ids=TIMES.keys())
def test_what_takes_too_long(place, text):
    path = write(place, "X=1\n" + text)
    result = place.run("demo", "show", env={"CLI_SETTINGS_TIMEOUT": "0.3"}, timeout=30)
    assert result.all == (
        1,
        "",
        (
            f"cli: {path}: did not end within 0.3 s; "
            "if it needs longer, set CLI_SETTINGS_TIMEOUT to a larger number of seconds\n"
        ),
    )


@pytest.mark.parametrize("value", ["0", "-1", "nan", "1s", "1e999", "\uff11"])
def test_a_time_limit_that_is_none(place, value):
    write(place, "X=1\n")
    result = place.run("demo", "show", env={"CLI_SETTINGS_TIMEOUT": value})
    assert result.all == (
        *(1, ""),
        "cli: CLI_SETTINGS_TIMEOUT: expected a number of seconds above 0\n",
    )


@pytest.mark.parametrize("value", ["", "9" * 400], ids=["empty", "for ever"])
def test_a_time_limit_that_is_usual_or_very_long(place, value):
    write(place, "X=1\n")
    assert place.run("demo", "show", env={"CLI_SETTINGS_TIMEOUT": value}).status == 0


@NEEDS_PROC
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["TERM", "HUP"])
def test_nothing_of_it_outlives_a_run_that_is_ended(place, tmp_path, gate, number):
    started, late = tmp_path / "started", tmp_path / "late"
    write(place, f"echo > {started}\n: <{gate}\necho > {late}\n")
    mark = f"mark-{time.monotonic_ns()}"
    environ = {"HOME": str(place.home), "PATH": os.environ["PATH"], "MARK": mark}
    run = subprocess.Popen(
        [place.launcher, "demo", "show"], env=environ, stdout=subprocess.PIPE
    )
    wait_until(started.exists)
    run.send_signal(number)
    assert run.communicate(timeout=60)[0] == b""
    assert run.returncode == -number
    assert processes_left_with(mark) == []
    assert not late.exists()


@NEEDS_PROC
def test_background_jobs_do_not_outlive_it(place, tmp_path, gate):
    """Nor does it wait for them: one never ends, the other when the gate is opened."""
    marker = tmp_path / "marker"
    write(place, f"X=1\n(: <{gate}; echo late > {marker}) &\nsleep 600 &\nY=2\n")
    mark = f"mark-{time.monotonic_ns()}"
    result = place.run("demo", "show", env={"MARK": mark})
    found = variables(result.stdout)
    assert (result.status, found) == (0, {"X": "1", "Y": "2", "MARK": mark})
    assert processes_left_with(mark) == []
    assert not marker.exists()


def test_output_goes_to_stderr_and_stdin_stays_the_commands(place):
    write(place, "echo out; echo err >&2; cat; printf x > /dev/stdout\nX=1\n")
    result = place.run("demo", "say", "a b", "", input=b"for the command")
    assert result.stderr.splitlines()[0:2] == ["out", "err"]
    assert "|for the command|2:a b " in result.stdout


def test_the_shells_state_does_not_reach_the_command(place, tmp_path):
    write(place, "")
    plain = place.run("demo", "say", "a", cwd=tmp_path, input=b"")
    write(
        place,
        "cd /\numask 777\nset -fux 2>/dev/null\nset +x\ntrap 'echo T' EXIT TERM INT\nf() { :; }\n"
        "export -f f\nshopt -s expand_aliases\nalias a=b\nset -- x y z\nulimit -n 20\n",
    )
    changed = place.run("demo", "say", "a", cwd=tmp_path, input=b"")
    assert plain.stdout == changed.stdout
    assert (
        plain.stdout.startswith(f"{tmp_path}|0022|") or os.umask(os.umask(0)) != 0o022
    )


def test_a_change_of_the_callers_names_has_no_effect(place):
    write(
        place,
        "unset A\nB=changed\nexport -n C\nD+=more\nreadonly E\nE2=$E\nunset PATH HOME\n",
    )
    env = {"A": "a", "B": "b", "C": "c", "D": "", "E": "e"}
    result = place.run("demo", "show", env=env)
    assert variables(result.stdout) == {**env, "E2": "e"}
    assert f"\0HOME={place.home}\0" in "\0" + result.stdout
    assert f"\0PATH={os.environ['PATH']}\0" in "\0" + result.stdout


def caller_things(place, tmp_path):
    trouble = tmp_path / "trouble.sh"
    trouble.write_text("echo TROUBLE; exit 7\n")
    return {
        "BASH_ENV": {"BASH_ENV": str(trouble), "ENV": str(trouble)},
        "SHELLOPTS": {"SHELLOPTS": "errexit:noexec:nounset:xtrace:posix:noglob"},
        "BASHOPTS": {"BASHOPTS": "extdebug:failglob:expand_aliases"},
        "functions": {
            "BASH_FUNC_printf%%": "() {  echo TROUBLE\n}",
            "BASH_FUNC_builtin%%": "() {  echo TROUBLE\n}",
            "BASH_FUNC_export%%": "() {  echo TROUBLE\n}",
            "BASH_FUNC_set%%": "() {  exit 7\n}",
        },
        "POSIXLY_CORRECT": {"POSIXLY_CORRECT": ""},
        "CDPATH": {"CDPATH": "/:/tmp"},
        "PS4": {"PS4": "$(echo TROUBLE >&2)"},
        "IFS": {"IFS": "X=1"},
        "old bash": {"BASH_COMPAT": "3.2"},
        "GLOBIGNORE": {"GLOBIGNORE": "*"},
        "TMOUT": {"TMOUT": "1"},
        "strange locale": {"LC_ALL": "C", "LANG": "C"},
        "dynamic names": {
            "RANDOM": "7",
            "SECONDS": "9",
            "LINENO": "3",
            "UID": "12",
            "_": "mine",
        },
        "names of no shell": {"a.b": "1", "a-b": "2", "é": "3", "9": "4", " ": "5"},
        "no values": {"A": "", "B": "\n\n", "C": "\udcff\udcfe=\x1b"},
        "shell's own": {"PWD": "/no/such", "OLDPWD": "/none", "SHLVL": "41"},
    }


CALLERS = [
    *(
        "BASH_ENV",
        "SHELLOPTS",
        "BASHOPTS",
        "functions",
        "POSIXLY_CORRECT",
        "CDPATH",
        "PS4",
        "IFS",
    ),
    *(
        "old bash",
        "GLOBIGNORE",
        "TMOUT",
        "strange locale",
        "dynamic names",
        "names of no shell",
    ),
    *("no values", "shell's own"),
]


@pytest.mark.parametrize("name", CALLERS)
def test_the_callers_environment_neither_disturbs_nor_changes(place, tmp_path, name):
    env = caller_things(place, tmp_path)[name]
    write(place, "X=1\ncd / 2>/dev/null\nY=$(echo a b)\n")
    raw = {key: value.encode("utf-8", "surrogateescape") for key, value in env.items()}
    result = place.run("demo", "show", env=raw)
    assert (result.status, result.stderr) == (0, "")
    assert variables(result.stdout) == {**env, "X": "1", "Y": "a b"}


@pytest.mark.parametrize(
    "words",
    [(), ("--version",), ("demo",), ("demo", "say", "--help"), ("self", "list")],
    ids=" ".join,
)
def test_not_run_for_what_is_no_command(place, tmp_path, words):
    write(place, f"touch {tmp_path}/touched\nexit 1\n")
    result = place.run(*words)
    assert (result.status, result.stderr) == (0, "")
    assert not (tmp_path / "touched").exists()


def test_a_broken_file_stops_no_help(place):
    write(place, "if")
    assert place.run("demo", "say", "-h").status == 0
    assert place.run("demo", "say").status == 1


def no_file(place, make):
    path = place.root / "config" / "settings.conf"
    path.unlink(missing_ok=True)
    make(path)
    return path


NO_FILES = {
    "directory": os.mkdir,
    "fifo": os.mkfifo,
    "device": lambda path: os.symlink("/dev/zero", path),
    "loop": lambda path: os.symlink(path, path),
}


@pytest.mark.parametrize("make", NO_FILES.values(), ids=NO_FILES.keys())
def test_what_is_no_file_is_an_error(place, make):
    path = no_file(place, make)
    result = place.run("demo", "show")
    path.rmdir() if path.is_dir() else path.unlink()
    assert (result.status, result.stdout) == (1, "")
    assert result.stderr.startswith(f"cli: {path}: ")
    assert result.stderr.count("\n") == 1


def test_missing_or_dangling_is_no_error(place):
    path = no_file(place, str)
    assert place.run("demo", "show").status == 0
    no_file(place, lambda path: os.symlink("nowhere", path))
    assert (place.run("demo", "show").status, place.run("demo", "show").stderr) == (
        0,
        "",
    )
    path.unlink()


def test_a_link_to_a_file_is_read(place, tmp_path):
    (tmp_path / "real.conf").write_text("X=1\n")
    path = no_file(place, lambda path: os.symlink(tmp_path / "real.conf", path))
    assert variables(place.run("demo", "show").stdout) == {"X": "1"}
    path.unlink()


def test_a_file_that_cannot_be_read_is_an_error(place):
    setpriv = shutil.which("setpriv")
    if setpriv is None or os.geteuid() != 0:
        pytest.skip("setpriv as root is needed")
    path = write(place, "X=1\n")
    os.chmod(path, 0)
    drop = ["--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]
    result = place.run(*drop, place.launcher, "demo", "show", executable=setpriv)
    os.chmod(path, 0o644)
    assert result.all == (1, "", f"cli: {path}: Permission denied\n")
    directory = place.root / "config"
    directory.chmod(0)
    result = place.run(*drop, place.launcher, "demo", "show", executable=setpriv)
    directory.chmod(0o755)
    assert result.all == (1, "", f"cli: {path}: Permission denied\n")


def test_no_bash(place, tmp_path):
    write(place, "X=1\n")
    (tmp_path / "bin").mkdir()
    result = place.run("demo", "show", env={"PATH": str(tmp_path / "bin")})
    if os.path.exists("/bin/bash"):  # the system's own serves where PATH has none
        assert (result.status, variables(result.stdout)) == (0, {"X": "1"})
    else:
        assert result.status == 127


def test_no_bash_anywhere(tmp_path, monkeypatch):
    file = tmp_path / "settings.conf"
    file.write_text("X=1\n")
    monkeypatch.setattr(host.variables.settings, "find_bash", lambda *_: None)
    with pytest.raises(MissingError, match="without bash"):
        host.variables.settings.capture_settings(str(file), {})


def test_a_bash_that_is_broken(place, tmp_path):
    path = write(place, "X=1\n")
    bash = tmp_path / "bash"
    for text in ("#!/bin/sh\nexit 0\n", "#!/no/such\n", "junk"):
        bash.write_text(text)
        bash.chmod(0o755)
        result = place.run("demo", "show", env={"PATH": f"{tmp_path}:/usr/bin:/bin"})
        assert (result.status, result.stdout) == (1, "")
        assert result.stderr.splitlines()[-1].startswith(f"cli: {path}: ")


def closed(place, which: str, after: str = ""):
    words = f"{place.launcher} demo show {after} {which}"
    return place.run("-c", words, executable="/bin/sh")


@pytest.mark.parametrize("which", ["2>&-", "<&- 2>&-"])
def test_closed_standard_descriptors(place, which):
    write(place, "echo to stdout; echo to stderr >&2\nX=1\n")
    result = closed(place, which)
    assert result.status == 0
    assert variables(result.stdout.replace("\0_=", "\0A_="))["X"] == "1"
    assert result.stdout.startswith(
        ("PATH=", "HOME=", "PWD=", "CLI_DIR=", "_=", "OLDPWD=")
    )


@pytest.mark.parametrize("which", [">&-", "<&- >&- 2>&-"])
def test_closed_stdout(place, tmp_path, which):
    place.write(
        {
            "commands/demo/file/command.json": command(),
            "commands/demo/file/main.sh": '#!/bin/sh\necho "$X" > "$1"\n',
        }
    )
    write(place, "echo to stdout\nX=1\n")
    target = tmp_path / "shown"
    words = f"{place.launcher} demo file {target} {which}"
    result = place.run("-c", words, executable="/bin/sh")
    assert (result.status, target.read_text()) == (0, "1\n")


@pytest.mark.parametrize("name", ["SIGCHLD", "SIGPIPE", "SIGTERM"])
def test_a_caller_that_ignores_a_signal(place, name):
    number = getattr(signal, name)
    write(place, "X=$(echo 1 | cat)\n")
    ignore = lambda: signal.signal(number, signal.SIG_IGN)  # noqa: E731
    result = place.run("demo", "show", preexec_fn=ignore)
    assert (result.status, result.stderr, variables(result.stdout)) == (
        0,
        "",
        {"X": "1"},
    )
    path = write(place, "X=1\nif\n")
    result = place.run("demo", "show", preexec_fn=ignore)
    assert result.stderr.splitlines()[-1] == f"cli: {path}:3: syntax error"


def test_sigchld_stays_ignored_for_the_command(place):
    write(place, "X=1\n")
    place.write(
        {
            "commands/demo/signals/command.json": command(),
            "commands/demo/signals/main.sh": "#!/bin/grep SigIgn\n",
        }
    )
    ignore = lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # noqa: E731
    result = place.run("demo", "signals", "/proc/self/status", preexec_fn=ignore)
    assert int(result.stdout.split()[-1], 16) >> (signal.SIGCHLD - 1) & 1 == 1


def test_on_a_terminal_nothing_is_added(place):
    script = shutil.which("script")
    if script is None:
        pytest.skip("script is not installed")
    write(
        place, "X=$(true)\n(true)\n/bin/true\nstty size >/dev/null\nread Y </dev/tty\n"
    )
    command_line = f"stty tostop; {place.launcher} demo show 2>/dev/null"
    done = subprocess.run(
        [script, "-qec", command_line, "/dev/null"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={"HOME": str(place.home), "PATH": os.environ["PATH"], "SHELL": "/bin/sh"},
        timeout=60,
        check=False,
    )
    names = {entry.partition("=")[0] for entry in done.stdout.decode().split("\0")}
    assert "X" in names
    assert not names & {"LINES", "COLUMNS"}


PRINTED = {
    b'declare -x A="1"\n': [("A", "1")],
    b'declare -rx A="1"\ndeclare -ix B="2"\n': [("A", "1"), ("B", "2")],
    b"declare -x A\ndeclare -x B\n": [],
    b'declare -x A="a\nb"\n': [("A", "a\nb")],
    b'declare -x A="\\"\\$\\`\\\\"\n': [("A", '"$`\\')],
    b"declare -x A=$'a\\nb\\'c\\\\\\101x\\\\E\\E1'\n": [("A", "a\nb'c\\Ax\\E\x1b1")],
    b'declare -ax A=([0]="1" [1]=$\'\\n)\')\ndeclare -x B="2"\n': [("B", "2")],
    b'declare -Ax A=(["a) X=\\"y"]="c" [$\'k)\\n X="\']="d" )\ndeclare -x B="2"\n': [
        ("B", "2")
    ],
    b'declare -Ax A=([$\'a)\\n FAKE="x"\']="c" )\ndeclare -x B="2"\n': [("B", "2")],
    b'declare -ax A=()\ndeclare -x B="2"': [("B", "2")],
    b'export A="1"\n': [("A", "1")],
    b'declare -x A="\xff"\n': [("A", "\udcff")],
    b'declare -x A="\n\\"\nB="\ndeclare -x C="\\\\"\n': [("A", '\n"\nB='), ("C", "\\")],
    b"": [],
}


@pytest.mark.parametrize(("printed", "found"), PRINTED.items(), ids=map(repr, PRINTED))
def test_what_bash_prints(printed, found):
    assert list(parse_exports(printed)) == found


def test_descriptors_and_arguments_of_the_file_are_its_own(tmp_path):
    file = tmp_path / "settings.conf"
    file.write_text("exec 3>&1 4>&1 5>&1\nCOUNT=$#\n")
    assert (
        host.variables.settings.capture_settings(
            str(file), {"PATH": os.environ["PATH"]}
        )["COUNT"]
        == "0"
    )


def test_the_file_sees_the_callers_locale(place):
    write(place, "A=é\nX=${#A}:$LC_ALL:$LANGUAGE\nunset A\n")
    env = {"LC_ALL": "C.UTF-8", "LANGUAGE": "de"}
    result = place.run("demo", "show", env=env)
    assert variables(result.stdout) == {**env, "X": "1:C.UTF-8:de"}

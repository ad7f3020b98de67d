"""init.sh: the libraries before a bash script's first line, and no trace of how."""

import os
import re
import shutil
import subprocess

import pytest

from testing.shells import LIB, LIBRARIES, Result, shell_path

MARK = (
    'export BASH_ENV="$LIB_DIR/init.sh" CLI_HOST_INIT="$$:my-cli:$1"; shift; exec "$@"'
)
# bash itself changes these, or exports them under allexport.
IGNORED = {
    b"_",
    b"SHLVL",
    b"BASHPID",
    b"EPOCHREALTIME",
    b"EPOCHSECONDS",
    b"RANDOM",
    b"SRANDOM",
    b"SECONDS",
    b"PPID",
    b"BASH_ARGV0",
    b"LINENO",
}


@pytest.fixture
def start(tmp_path):
    """Return a function that runs a bash script as the framework does."""
    bash = shell_path("bash")

    def start(script, *args, kept="u", env=None, options=(), mark=MARK, program=None):
        file = tmp_path / "main.sh"
        file.write_text(script)
        base = {
            "LIB_DIR": str(LIB),
            "PATH": os.environ["PATH"],
            "LC_ALL": "C.UTF-8",
            **(env or {}),
        }
        argv = [
            "sh",
            "-c",
            mark,
            "sh",
            kept,
            *(program or [bash, *options, str(file)]),
            *args,
        ]
        done = subprocess.run(
            argv,
            env=base,
            check=False,
            capture_output=True,
            timeout=30,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
        )
        return Result(
            done.returncode,
            done.stdout.decode(errors="surrogateescape"),
            done.stderr.decode(errors="surrogateescape"),
        )

    return start


def environment_of(result):
    entries = os.fsencode(result.out).split(b"\0")
    pairs = dict(entry.split(b"=", 1) for entry in entries if entry)
    return {name: value for name, value in pairs.items() if name not in IGNORED}


def documented_functions(library):
    names = r"[a-z][a-z0-9_]*"
    return set(
        re.findall(
            rf"^({names})\(\) ", (LIB / f"{library}.sh").read_text(), re.MULTILINE
        )
    )


def test_every_function_is_there(start):
    functions = sorted(set().union(*(documented_functions(name) for name in LIBRARIES)))
    assert len(functions) > 40
    result = start(
        'for name; do [ "$(type -t "$name")" = function ] || echo "$name"; done',
        *functions,
    )
    assert result == (0, "", "")


def test_functions_that_are_read_when_called(start, tmp_path):
    (tmp_path / "command.json").write_text('{"description": "does it"}')
    env = {
        "COMMAND_CATEGORY": "a/b",
        "COMMAND_NAME": "c",
        "HOME": "/h",
        "SHELL": "/bin/zsh",
    }
    script = (
        "set -euo pipefail; IFS=,; cd /; LIB_DIR=/elsewhere\n"
        "show_usage; show_description; build_command_path; get_command_config_file\n"
        "detect_shell_config; command_exists sh && check_dependencies sh\n"
        "git_clone_safe -x y || echo $?"
    )
    result = start(script, env=env)
    shown = [
        "Usage: my-cli a b c [options]",
        "does it",
        "a b c",
        f"{tmp_path}/command.json",
        "/h/.zshrc",
        "2",
    ]
    assert result.out.splitlines() == shown
    assert result.err.count("\n") == 1


def test_what_the_script_defines_stays_its_own(start):
    script = (
        'check_dependencies() { echo own; }; log_info() { echo "own info"; }\n'
        "command_exists sh; check_dependencies; log_info\n"
        "git_clone_safe -x y 2>/dev/null; check_dependencies"
    )
    assert start(script).out == "own\nown info\nown\n"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({}, "u"),
        ({"BASH_ENV": ""}, "s"),
        ({"BASH_ENV": "/no/such file"}, "s/no/such file"),
        ({"BASH_ENV": "a:b\n$(touch pwned)`c` ':\""}, "sa:b\n$(touch pwned)`c` ':\""),
    ],
)
def test_programs_see_the_callers_environment(start, tmp_path, given, kept):
    """Byte for byte, also when the caller uses names that the libraries use."""
    odd = {
        "RED": "x",
        "NC": "",
        "BOLD": "1",
        "OS_TYPE": "mine",
        "CLI_PROGRAM": "other",
        "LINES_": "a\nb",
        "bytes": os.fsdecode(b"\xff\xfe"),
        "IFS": "x",
        "path": "lower",
    }
    script = "log_info x; show_usage >&2; is_linux; env -0"
    result = start(script, env=odd, kept=kept)
    assert not (tmp_path / "pwned").exists()
    plain = start("env -0", env={**odd, **given}, mark='shift; exec "$@"')
    assert environment_of(result) == environment_of(plain)
    assert (b"BASH_ENV" in environment_of(result)) == bool(given)


def test_a_value_of_bash_env_that_is_no_utf8(start):
    result = start("env -0", kept="s" + os.fsdecode(b"/\xff:\xfe"))
    assert environment_of(result)[b"BASH_ENV"] == b"/\xff:\xfe"


@pytest.mark.parametrize("nested", ["bash -c", "sh -c", "env bash -c"])
def test_nothing_leaks_to_a_shell_below(start, nested):
    script = f"""{nested} '
      env | grep -E "^(BASH_ENV|CLI_HOST_INIT|CLI_PROGRAM)="
      type log_info >/dev/null 2>&1 && echo loaded
    '; echo end"""
    assert start(script) == (0, "end\n", "")


@pytest.mark.parametrize("kept", ["u", "s", "sOWN"])
def test_a_bash_below_another_program_loads_nothing(start, tmp_path, kept):
    """That program inherits the variables; the bash that it starts has another pid."""
    (tmp_path / "own").write_text("echo own")
    script = "type log_info; env | grep -aE '^(BASH_ENV|CLI_HOST_INIT)='"
    inner = ["sh", "-c", 'bash -c "$1"; exit', "sh", script]
    result = start("", kept=kept.replace("OWN", f"{tmp_path}/own"), program=inner)
    shown = {"u": "", "s": "BASH_ENV=\n", "sOWN": f"own\nBASH_ENV={tmp_path}/own\n"}
    assert result.out == shown[kept]
    assert "not found" in result.err


def test_the_callers_bash_env_is_sourced_last(start, tmp_path):
    (tmp_path / "own file").write_text(
        "log_info() { echo mine; }; set -f; VARIABLE=$#:$1\nfalse\n"
    )
    result = start(
        'echo $?; log_info; echo "$-" "$VARIABLE"',
        "one arg",
        kept=f"s{tmp_path}/own file",
    )
    first, second, third = result.out.splitlines()
    assert (first, second) == ("1", "mine")
    assert re.fullmatch(r"\w*f\w* 1:one arg", third)


@pytest.mark.parametrize("value", ["$HOME/rc", "${HOME}/rc", "rc"])
def test_the_callers_bash_env_as_bash_finds_it(start, tmp_path, value):
    (tmp_path / "rc").write_text("echo found")
    assert start(":", kept=f"s{value}", env={"HOME": str(tmp_path)}).out == "found\n"
    plain = start(
        ":", env={"HOME": str(tmp_path), "BASH_ENV": value}, mark='shift; exec "$@"'
    )
    assert plain.out == "found\n"


@pytest.mark.parametrize("value", ["$(echo x >&2)", "/", "/no/such", "-x"])
def test_the_callers_bash_env_may_be_nonsense(start, value):
    assert start("echo on", kept=f"s{value}") == (0, "on\n", "")


STATE = 'echo "$? $- $# $1 $IFS|$OPTIND $PWD"; trap; shopt; set -o; echo "${BASHOPTS}${SHELLOPTS}"'


@pytest.mark.parametrize(
    "option", [[], ["-e"], ["-u"], ["-f"], ["-a"], ["-euf", "-o", "pipefail"]]
)
def test_the_state_of_the_shell_is_untouched(start, option):
    plain = start(STATE, "a b", "", options=option, mark='shift; exec "$@"')
    assert start(STATE, "a b", "", options=option) == plain


def test_all_exported_means_the_scripts_variables(start):
    for how in [{"options": ["-a"]}, {"env": {"SHELLOPTS": "allexport"}}]:
        plain = start("X=1; env -0", mark='shift; exec "$@"', **how)
        assert environment_of(start("X=1; env -0", **how)) == environment_of(plain)


def test_tracing_shows_the_script_only(start, tmp_path):
    (tmp_path / "rc").write_text("A=1")
    traced = start("echo on", options=["-x"])
    assert (traced.out, traced.err) == ("on\n", "+ echo on\n")
    traced = start("echo on", options=["-x"], kept=f"s{tmp_path}/rc")
    assert traced.err == f"+ . {tmp_path}/rc\n++ A=1\n+ echo on\n"


def test_the_programs_name(start):
    script = 'echo "$CLI_PROGRAM"; bash -c \'echo "${CLI_PROGRAM-unset}"\''
    assert start(script).out == "my-cli\nunset\n"


@pytest.mark.parametrize("mark", ["x", "1", "::", "1:u", "$$:"])
def test_a_damaged_mark_is_removed(start, mark):
    how = f'shift; export BASH_ENV="$LIB_DIR/init.sh" CLI_HOST_INIT="{mark}"; exec "$@"'
    result = start("env | grep -E '^(BASH_ENV|CLI_HOST_INIT)='; echo on", mark=how)
    assert (result.status, result.out) == (0, "on\n")


def test_sourced_by_hand_from_anywhere(start, tmp_path):
    copy = tmp_path / "other" / "lib"
    shutil.copytree(LIB, copy)
    script = (
        "set -euo pipefail\ncd other/lib\n. ./init.sh\n. ./init.sh\n"
        'cd /\nlog_info x\nshow_usage; echo "<$CLI_PROGRAM>"'
    )
    result = start(script, mark='shift; exec "$@"', env={"LIB_DIR": "/elsewhere"})
    assert result.out == "Usage: cli [options]\n<>\n"
    assert result.err.endswith(" - x\n")


def test_the_libraries_are_its_own(start, tmp_path):
    """LIB_DIR may belong to somebody else."""
    how = f'shift; export BASH_ENV="{LIB}/init.sh" CLI_HOST_INIT="$$:x:u"; exec "$@"'
    assert (
        start("show_usage", mark=how, env={"LIB_DIR": "/elsewhere"}).out
        == "Usage: x [options]\n"
    )


def test_with_next_to_no_environment(start):
    bash = shell_path("bash")
    how = f'exec env -i BASH_ENV="{LIB}/init.sh" CLI_HOST_INIT="$$:x:u" {bash} main.sh'
    result = start("set -euo pipefail; log_info x; is_mac || echo on", mark=how)
    assert (result.status, result.out) == (0, "on\n")


def test_loading_starts_no_process(start, tmp_path):
    strace = [
        shell_path("strace"),
        "-qq",
        "-o",
        str(tmp_path / "trace"),
        "-e",
        "trace=process",
    ]
    # Under strace bash has another pid than the mark could say: the file is sourced.
    script = f". {LIB}/init.sh"
    result = start(
        "", mark='shift; exec "$@"', program=[*strace, shell_path("bash"), "-c", script]
    )
    if result.status:
        pytest.skip(f"strace does not work here: {result.err.strip()}")
    assert not re.search(r"\b(v?fork|clone3?)\(", (tmp_path / "trace").read_text())

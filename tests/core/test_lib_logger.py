"""logger.sh: one line on stderr, TEXT as it is, DEBUG and SILENT obeyed."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from testing.shells import LIB, shell_path

LOAD = '. "$LIB_DIR/logger.sh"\n'
LINE = re.compile(r"\[(\w+)\] (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) - (.*)\n", re.DOTALL)
FORMAT = "%Y-%m-%d %H:%M:%S"
LEVELS = ["info", "success", "warning", "error"]


def test_a_line_has_level_time_and_text(run, shell):
    script = LOAD + "".join(f"log_{level} 'two words'\n" for level in LEVELS)
    status, out, err = run(shell, script, env={"TZ": "EAST-5"})
    lines = [LINE.fullmatch(line) for line in err.splitlines(keepends=True)]
    assert (status, out) == (0, "")
    assert [(line[1], line[3]) for line in lines] == [
        (x.upper(), "two words") for x in LEVELS
    ]
    local = datetime.now(UTC).replace(tzinfo=None) + timedelta(hours=5)
    # a minute, as a clock that is being set may step back between two looks at it
    shown = datetime.strptime(lines[0][2], FORMAT)  # noqa: DTZ007
    assert abs(shown - local) < timedelta(minutes=1)


@pytest.mark.parametrize("shell_name", ["bash", "dash"])
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text(
        st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"),
        max_size=30,
    )
)
def test_text_is_data(run, shell_name, text):
    err = run(shell_path(shell_name), f'{LOAD}log_info "$1"', text).err
    assert LINE.fullmatch(err)[3] == text


def test_backslashes_and_percent_signs_stay_in_every_shell(run, shell):
    err = run(shell, f"{LOAD}log_error '%s \\033[31m \\n \\c 100%'").err
    assert LINE.fullmatch(err)[3] == r"%s \033[31m \n \c 100%"


@pytest.mark.parametrize("ifs", [",", ""])
def test_arguments_are_joined_by_a_space_whatever_ifs_is(run, shell, ifs):
    err = run(shell, f"{LOAD}IFS='{ifs}'; log_info a b; log_output c d").err
    assert err.endswith(" - a b\nc d\n")


def test_ifs_stays_unset_when_it_was(run, shell):
    assert (
        run(shell, f'{LOAD}unset IFS; log_info a b; echo "${{IFS-unset}}"').out
        == "unset\n"
    )


def test_debug_lines_appear_while_debug_is_on(run, shell):
    values = ["true", "0", "TRUE", "", "1", "false", "on", "yes", "On", "11", "off"]
    script = f'set -eu\n{LOAD}log_debug unset; for DEBUG; do log_debug "$DEBUG"; done'
    status, _, err = run(shell, script, *values, env={"DEBUG": None})
    shown = [LINE.fullmatch(line)[3] for line in err.splitlines(keepends=True)]
    assert (status, shown) == (0, ["true", "TRUE", "1", "on", "On"])


@pytest.mark.parametrize("value", ["True", "1"])
def test_silent_leaves_errors_only(run, shell, value):
    script = f"set -eu\n{LOAD}DEBUG=1\n" + "".join(
        f"log_{name} x\n" for name in ["debug", *LEVELS, "output"]
    )
    status, _, err = run(
        shell, f"{script}log_message x\nlog_message INFO x", env={"SILENT": value}
    )
    assert status == 0
    assert LINE.fullmatch(err)[1] == "ERROR"


def test_log_message(run, shell):
    calls = {
        "'some text'": ("MESSAGE", "some text"),
        "info a b": ("INFO", "a b"),
        "Warning a": ("WARNING", "a"),
        "NOTICE a": ("NOTICE", "a"),
        "": ("MESSAGE", ""),
    }
    script = f"set -eu\n{LOAD}" + "".join(f"log_message {call}\n" for call in calls)
    lines = run(shell, script).err.splitlines(keepends=True)
    found = [LINE.fullmatch(line) for line in lines]
    assert [(line[1], line[3]) for line in found] == [*calls.values()]


def test_log_output_interprets_and_leaves_out_codes_off_a_terminal(run, shell):
    texts = {
        r"\033[31mred\e[0m \x1b[1;38;5;9mx\E[m": "red x",
        r"\u001b[2Jx\0033[0my": "xy",
        r"a\nb\tc": "a\nb\tc",
        r"a\\nb \\\\ \\": r"a\nb \\ \ ".rstrip(),
        r"C:\dir \c %s \1 \x41": r"C:\dir \c %s \1 \x41",
        "\x1b[31mraw\x1b[0m\x1b": "raw",
        "": "",
        "tail\\": "tail\\",
    }
    script = f'set -eu\n{LOAD}for text; do log_output "$text"; done'
    expected = "".join(f"{shown}\n" for shown in texts.values())
    assert run(shell, script, *texts) == (0, "", expected)


def test_colours_on_a_terminal(on_terminal, shell):
    script = f". {LIB}/logger.sh; log_info text; log_output '\\033[31mred\\e[0m'"
    shown = on_terminal(
        [shell, "-c", script],
        {"TERM": "xterm", "PATH": "/usr/bin:/bin", "LIB_DIR": str(LIB)},
    )
    first, second, _ = shown.split("\n")
    assert re.fullmatch(r"\x1b\[34m\[INFO\]\x1b\[0m [-0-9: ]+ - text", first)
    assert second == "\x1b[31mred\x1b[0m"


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colours_on_a_terminal_that_wants_none(on_terminal, shell, env):
    script = f". {LIB}/logger.sh; log_info text; log_output '\\033[31mred\\e[0m'"
    base = {"TERM": "xterm", "PATH": "/usr/bin:/bin", "LIB_DIR": str(LIB)}
    assert "\x1b" not in on_terminal([shell, "-c", script], {**base, **env})


@pytest.mark.parametrize("name", ["bash", "dash"])  # zsh's own echo fails after that
def test_a_closed_stderr_does_not_end_the_script(run, name):
    assert run(
        shell_path(name), f"set -e\n{LOAD}exec 2>&-\nlog_info x\nlog_output x\necho on"
    )[:2] == (0, "on\n")


def test_a_script_may_have_its_own_functions_of_these_names(run, shell):
    script = f'{LOAD}log_error() {{ echo "own $1"; }}\nlog_info() {{ log_message INFO "$1"; }}\n'
    status, out, err = run(shell, f"{script}log_error a; log_info b")
    assert (status, out, LINE.fullmatch(err)[3]) == (0, "own a\n", "b")


def test_the_time_without_a_clock_in_the_shell(run, tmp_path):
    """bash before 4.2, such as the one of macOS, asks date."""
    old = tmp_path / "old.sh"
    old.write_text(
        (LIB / "logger.sh").read_text().replace("${BASH_VERSION-}", "3.2.57")
    )
    assert LINE.fullmatch(run(shell_path("bash"), f". {old}\nlog_info x").err)[3] == "x"

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


@pytest.mark.parametrize("level", LEVELS)
def test_a_line_has_level_time_and_text(run, shell, level):
    status, out, err = run(shell, f"{LOAD}log_{level} 'two words'", env={"TZ": "EAST-5"})
    found = LINE.fullmatch(err)
    assert (status, out) == (0, "")
    assert found
    assert (found[1], found[3]) == (level.upper(), "two words")
    local = datetime.now(UTC).replace(tzinfo=None) + timedelta(hours=5)
    # a minute, as a clock that is being set may step back between two looks at it
    assert abs(datetime.strptime(found[2], FORMAT) - local) < timedelta(minutes=1)  # noqa: DTZ007


@pytest.mark.parametrize("shell_name", ["bash", "dash"])
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=30))
def test_text_is_data(run, shell_name, text):
    err = run(shell_path(shell_name), f'{LOAD}log_info "$1"', text).err
    assert LINE.fullmatch(err)[3] == text


def test_backslashes_and_percent_signs_stay_in_every_shell(run, shell):
    err = run(shell, f"{LOAD}log_error '%s \\033[31m \\n \\c 100%'").err
    assert LINE.fullmatch(err)[3] == r"%s \033[31m \n \c 100%"


@pytest.mark.parametrize("ifs", [r"\n\t", ",", ""])
def test_arguments_are_joined_by_a_space_whatever_ifs_is(run, shell, ifs):
    script = f"{LOAD}IFS=$(printf '{ifs}x'); IFS=${{IFS%x}}; log_info a b; log_output c d"
    err = run(shell, script).err
    assert err.endswith(" - a b\nc d\n")


def test_ifs_stays_unset_when_it_was(run, shell):
    assert run(shell, f'{LOAD}unset IFS; log_info a b; echo "${{IFS-unset}}"').out == "unset\n"


@pytest.mark.parametrize("value", ["true", "TRUE", "1", "on", "On"])
def test_debug_lines_appear_while_debug_is_on(run, shell, value):
    assert "[DEBUG]" in run(shell, f"{LOAD}log_debug x", env={"DEBUG": value}).err


@pytest.mark.parametrize("value", [None, "", "0", "false", "yes", "11", "off"])
def test_no_debug_lines_otherwise(run, shell, value):
    assert run(shell, f"set -eu\n{LOAD}log_debug x", env={"DEBUG": value}) == (0, "", "")


def test_debug_can_be_switched_on_while_the_script_runs(run, shell):
    err = run(shell, f"{LOAD}log_debug a; DEBUG=1; log_debug b").err
    assert LINE.fullmatch(err)[3] == "b"


@pytest.mark.parametrize("value", ["true", "True", "1", "ON"])
def test_silent_leaves_errors_only(run, shell, value):
    script = f"set -eu\n{LOAD}DEBUG=1\n" + "".join(
        f"log_{name} x\n" for name in ["debug", *LEVELS, "output"]
    )
    status, _, err = run(shell, f"{script}log_message x\nlog_message INFO x", env={"SILENT": value})
    assert status == 0
    assert LINE.fullmatch(err)[1] == "ERROR"


@pytest.mark.parametrize(
    ("arguments", "level", "text"),
    [
        ("'some text'", "MESSAGE", "some text"),
        ("info a b", "INFO", "a b"),
        ("Warning a", "WARNING", "a"),
        ("NOTICE a", "NOTICE", "a"),
        ("", "MESSAGE", ""),
    ],
)
def test_log_message(run, shell, arguments, level, text):
    found = LINE.fullmatch(run(shell, f"set -eu\n{LOAD}log_message {arguments}").err)
    assert (found[1], found[3]) == (level, text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"\033[31mred\e[0m \x1b[1;38;5;9mx\E[m", "red x"),
        (r"\u001b[2Jx\0033[0my", "xy"),
        (r"a\nb\tc", "a\nb\tc"),
        (r"a\\nb \\\\ \\", r"a\nb \\ \ ".rstrip()),
        (r"C:\dir \c %s \1 \x41", r"C:\dir \c %s \1 \x41"),
        ("\x1b[31mraw\x1b[0m\x1b", "raw"),
        ("", ""),
        ("tail\\", "tail\\"),
    ],
)
def test_log_output_interprets_and_leaves_out_codes_off_a_terminal(run, shell, text, shown):
    assert run(shell, f'set -eu\n{LOAD}log_output "$1"', text) == (0, "", shown + "\n")


def test_colours_on_a_terminal(on_terminal, shell):
    script = f". {LIB}/logger.sh; log_info text; log_output '\\033[31mred\\e[0m'"
    shown = on_terminal(
        [shell, "-c", script], {"TERM": "xterm", "PATH": "/usr/bin:/bin", "LIB_DIR": str(LIB)}
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
    assert run(shell_path(name), f"set -e\n{LOAD}exec 2>&-\nlog_info x\nlog_output x\necho on")[
        :2
    ] == (0, "on\n")


def test_a_script_may_have_its_own_functions_of_these_names(run, shell):
    script = f'{LOAD}log_error() {{ echo "own $1"; }}\nlog_info() {{ log_message INFO "$1"; }}\n'
    status, out, err = run(shell, f"{script}log_error a; log_info b")
    assert (status, out, LINE.fullmatch(err)[3]) == (0, "own a\n", "b")


def test_the_time_without_a_clock_in_the_shell(run, tmp_path):
    """bash before 4.2, such as the one of macOS, asks date."""
    old = tmp_path / "old.sh"
    old.write_text((LIB / "logger.sh").read_text().replace("${BASH_VERSION-}", "3.2.57"))
    assert LINE.fullmatch(run(shell_path("bash"), f". {old}\nlog_info x").err)[3] == "x"

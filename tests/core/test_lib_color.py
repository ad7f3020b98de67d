"""color.sh: codes on a terminal, empty elsewhere, nobody's variables changed."""

import pytest

from host.messages import Messages
from testing.shells import LIB

PLAIN = ["RED", "GREEN", "YELLOW", "BLUE", "MAGENTA", "CYAN", "GRAY", "WHITE"]
LIGHT = [
    f"LIGHT_{name}"
    for name in ["RED", "GREEN", "YELLOW", "BLUE", "MAGENTA", "CYAN", "GRAY"]
]
NAMES = ["NC", "RESET", *PLAIN, *LIGHT, "BOLD", "ITALIC", "UNDERLINE", "DIM"]
SHOW = "; ".join(f'printf "%s\\n" "{name}=${{{name}}}"' for name in NAMES)


def test_all_are_set_and_empty_off_a_terminal(run, shell):
    script = f'set -eu\n. "$LIB_DIR/color.sh"\n. "$LIB_DIR/color.sh"\n{SHOW}'
    assert run(shell, script) == (0, "".join(f"{name}=\n" for name in NAMES), "")


def test_all_are_distinct_codes_on_a_terminal(on_terminal, shell):
    env = {"TERM": "xterm", "NO_COLOR": ""}
    shown = on_terminal([shell, "-c", f". {LIB}/color.sh; {SHOW}"], env)
    codes = dict(line.split("=") for line in shown.splitlines())
    assert list(codes) == NAMES
    assert all(
        code.startswith("\x1b[") and code.endswith("m") for code in codes.values()
    )
    assert codes.pop("NC") == codes["RESET"] == "\x1b[0m"
    assert len(set(codes.values())) == len(codes)


@pytest.mark.parametrize(
    ("env", "coloured"),
    [
        ({"FORCE_COLOR": "1"}, True),
        ({"CLICOLOR_FORCE": "1", "TERM": "xterm"}, True),
        ({"FORCE_COLOR": "0", "CLICOLOR_FORCE": ""}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"CLICOLOR_FORCE": "1", "TERM": "dumb"}, False),
    ],
    ids=str,
)
def test_colours_are_forced_as_the_program_forces_them(run, shell, env, coloured):
    env = {"TERM": "vt100", **env}
    assert Messages("cli", env).colours(-1) == coloured
    _, out, _ = run(shell, f'set -eu\n. "$LIB_DIR/color.sh"\n{SHOW}', env=env)
    assert ("\x1b" in out) == coloured


@pytest.mark.parametrize("env", [{"NO_COLOR": "1", "TERM": "xterm"}, {"TERM": "dumb"}])
def test_all_are_empty_on_a_terminal_that_wants_none(on_terminal, shell, env):
    assert "\x1b" not in on_terminal([shell, "-c", f". {LIB}/color.sh; {SHOW}"], env)


def test_a_variable_of_the_caller_keeps_its_value_for_programs(run, shell):
    script = (
        '. "$LIB_DIR/color.sh"; . "$LIB_DIR/logger.sh"; log_info x; env | grep -E '
        '"^(RED|BOLD)="'
    )
    _, out, err = run(shell, script, env={"RED": "alert", "BOLD": "\x1b[1m"})
    assert sorted(out.splitlines()) == ["BOLD=\x1b[1m", "RED=alert"]
    assert "\x1b" not in err

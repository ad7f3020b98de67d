"""`self pick` on a terminal, with fzf and without, and the key that calls it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from host.text_width import width_of
from testing.installation import Made, command
from testing.shells import shell_path
from testing.terminal import Terminal

STAGE = {"name": "stage", "required": True, "choices": ["dev", "prod"]}
PIN = {"name": "--pin", "value": "PIN", "required": True, "secret": True}


@pytest.fixture(scope="module")
def made(shared_install: Callable[..., Made]) -> Made:
    return shared_install(
        {
            "commands/app/ship/command.json": command(
                description="Ship it", args=[STAGE]
            ),
            "commands/app/ship/main.sh": 'echo "shipped to $1"\n',
            "commands/app/status/command.json": command(
                description="Show \t the \x1b[1mstate"
            ),
            "commands/app/status/main.sh": "echo all is well\nexit 4\n",
            "commands/app/unlock/command.json": command(args=[PIN]),
            "commands/app/hidden/command.json": command(hidden=True),
            "commands/other/plain/command.json": command(
                description="", deprecated="use app"
            ),
        }
    )


@pytest.fixture
def environ(made: Made, tmp_path: Path) -> dict[str, str]:
    """The environment of a user without fzf."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("bash", "sh", "stty", "rm", "cat"):
        path = shutil.which(name)
        assert path is not None
        (programs / name).symlink_to(path)
    return {
        "PATH": f"{made.launcher.parent}:{programs}",
        "HOME": str(tmp_path),
        "TERM": "xterm",
        "LANG": "C.UTF-8",
        "PS1": "> ",
    }


def with_fzf(environ: dict[str, str]) -> dict[str, str]:
    shell_path("fzf")
    return {**environ, "PATH": f"{environ['PATH']}:{os.environ['PATH']}"}


@pytest.mark.parametrize(
    ("typed", "said", "status"),
    [
        ("2\n", "cli app status\nall is well\n", 4),
        ("app sta\t\n", "cli app status\nall is well\n", 4),
        ("9\n", "9: expected a number from 1 to 4\n", 1),
        ("\n", "", 130),
        ("\x04", "", 130),
    ],
    ids=["number", "words", "another number", "nothing", "Ctrl-D"],
)
def test_the_list_and_its_question(
    made: Made, environ: dict[str, str], typed: str, said: str, status: int
) -> None:
    with Terminal([str(made.launcher), "self", "pick"], environ) as terminal:
        shown = terminal.wait_for("number: ")
        assert "  1  app ship     Ship it\n" in shown
        assert "\\x1b[1mstate" in shown
        assert "  4  other plain  [missing] [deprecated]\n" in shown
        assert "hidden" not in shown
        terminal.type(typed)
        if said:
            terminal.wait_for(said)
        assert terminal.wait() == status


@pytest.mark.parametrize(
    "description", ["many words " * 30, "長い説明" * 40], ids=["long", "wide"]
)
def test_a_long_description_is_cut(
    install: Callable[..., Made], environ: dict[str, str], description: str
) -> None:
    made = install(
        {
            "commands/long/command.json": command(
                description=description, deprecated="use short"
            ),
            "commands/long/main.sh": "#!/bin/bash\n",
            "commands/short": "#!/bin/bash\n",
        }
    )
    with Terminal([str(made.launcher), "self", "pick"], environ) as terminal:
        rows = terminal.wait_for("number: ").splitlines()
        assert rows[0].startswith(f"  1  long   {description[:30]}")
        assert rows[0].endswith("… [deprecated]")
        assert 118 <= width_of(rows[0]) <= 120
        assert rows[1].startswith("  2  short")


def test_it_asks_for_arguments_as_a_run_does(
    made: Made, environ: dict[str, str]
) -> None:
    with Terminal(
        [str(made.launcher), "self", "pick", "app", "ship"], environ
    ) as terminal:
        terminal.wait_for("stage: ")
        terminal.type("nowhere\n")
        terminal.wait_for("expected one of dev, prod")
        terminal.type("prod\n")
        terminal.wait_for("cli app ship prod\nshipped to prod\n")
        assert terminal.shown.count("cli app ship prod") == 1
        assert terminal.wait() == 0


def test_what_print_prints(made: Made, environ: dict[str, str]) -> None:
    argv = [shell_path("bash"), "-c", 'x=$(cli self pick app --print); echo "<$x> $?"']
    with Terminal(argv, environ) as terminal:
        terminal.wait_for("number: ")
        terminal.type("1\n")
        terminal.wait_for("stage: ")
        terminal.type("dev\n")
        terminal.wait_for("<cli app ship dev> 0\n")
    with Terminal(argv, environ) as terminal:
        terminal.wait_for("number: ")
        terminal.type(
            "app unlock\n"
        )  # the run asks for the secret, which is in no command line
        terminal.wait_for("<cli app unlock> 0\n")


@pytest.mark.parametrize(
    ("fzf", "words", "shown"),
    [(False, "", "Ship it"), (True, "", "Ship it"), (False, "app ship", "stage: ")],
    ids=["list", "fzf", "question"],
)
def test_ctrl_c_leaves_the_terminal_as_it_was(
    made: Made, environ: dict[str, str], fzf: bool, words: str, shown: str
) -> None:
    script = f'trap : INT; stty -a; cli self pick {words}; echo "<$?>"; stty -a'
    argv = [shell_path("bash"), "-c", script]
    with Terminal(argv, with_fzf(environ) if fzf else environ) as terminal:
        before = terminal.wait_for("-extproc")
        terminal.wait_for(shown)
        terminal.settle()
        terminal.type("\x03")
        after = terminal.wait_for("-extproc")
        assert "<130>" in after
        assert (
            before[before.index("speed") :].split("\n-extproc")[0].splitlines()[:7]
            == (after[after.index("speed") :].splitlines()[:7])
        )
        assert terminal.wait() == 0


def test_fzf_shows_the_help_page_beside_the_commands(
    made: Made, environ: dict[str, str]
) -> None:
    # The words of a preview reach the program as words, whatever the user's shell is.
    environ = with_fzf(environ) | {"SHELL": "/bin/false"}
    with Terminal([str(made.launcher), "self", "pick", "app"], environ) as terminal:
        terminal.wait_for("cli app ship <stage>")
        terminal.type("stat")
        terminal.settle()
        terminal.wait_for("cli app status")
        terminal.type("\r")
        terminal.wait_for("cli app status\nall is well\n")
        assert terminal.wait() == 4


REFUSED = {
    "no terminal": ({}, "there is no terminal to ask on"),
    "CI": (
        {"CI": "1"},
        "--no-input, CLI_NO_INPUT, CI or a coding agent forbids the question",
    ),
}


@pytest.mark.parametrize(("env", "why"), REFUSED.values(), ids=REFUSED)
def test_where_nobody_can_pick(made: Made, env: dict[str, str], why: str) -> None:
    expected = (1, "", f"cli: nothing can be picked, because {why}\n")
    assert made.run("self", "pick", env=env).all == expected


KEYS = {
    "bash": "bash",
    "zsh": "zsh",
    "fish": "fish",
    "nushell": "nu",
    "elvish": "elvish",
}


@pytest.mark.parametrize("shell", KEYS)
def test_a_key_puts_the_line_into_the_prompt(
    made: Made, environ: dict[str, str], shell: str
) -> None:
    program = shell_path(KEYS[shell])
    everything = {**environ, "PATH": f"{environ['PATH']}:{os.environ['PATH']}"}
    assert (
        made.run(
            "self", "completion", shell, "--install", "--key", env=everything
        ).status
        == 0
    )
    with Terminal([program], with_fzf(environ)) as terminal:
        terminal.settle()
        terminal.type("echo of")
        terminal.settle()
        terminal.type("\x07")
        terminal.wait_for("Ship it")
        terminal.type("ship")
        terminal.settle()
        terminal.type("\r")
        terminal.wait_for("stage: ")
        terminal.type("prod\r")
        terminal.wait_for("cli app ship prod")
        terminal.settle()
        terminal.type("\r")
        terminal.wait_for("ofcli" if shell == "nushell" else "ofcli app ship prod")


def test_the_key_comes_and_goes_with_the_line(made: Made, tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path)}
    file = tmp_path / ".bashrc"
    for options, times in ((["--key"], 1), ([], 0)):
        assert (
            made.run(
                "self", "completion", "bash", "--install", *options, env=env
            ).status
            == 0
        )
        assert file.read_text().count("\n") == 1
        assert file.read_text().count(" --key)") == times
    made.run("self", "completion", "bash", "--install", "--key", env=env)
    assert made.run("self", "completion", "bash", "--uninstall", env=env).status == 0
    assert file.read_text() == ""

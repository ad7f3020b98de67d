"""`confirm`: asked on a terminal, refused without one, passed over when told to."""

import os
import pty
import signal
import time

import pytest

from testing.installation import command

RAN = '#!/bin/sh\necho ran "$@"\n'


@pytest.fixture(scope="module")
def made(shared_install):
    """Commands that ask, one of them a category's, one that answers --help."""
    asks = command(confirm="Delete \x1b[31mit\nall?", effects="destroy")
    return shared_install(
        {
            "commands/db/drop/command.json": asks,
            "commands/db/drop/main.sh": RAN,
            "commands/db/helps/command.json": {**asks, "help": "script"},
            "commands/db/helps/main.sh": RAN,
            "commands/db/words/command.json": {**asks, "args": [{"name": "word"}]},
            "commands/db/words/main.sh": RAN,
            "commands/db/fails/command.json": {**asks, "required_envs": ["TOKEN"]},
            "commands/db/fails/main.sh": RAN,
            "commands/db/nested/command.json": asks,
            "commands/db/nested/main.sh": '#!/bin/sh\n"$CLI_DIR/core/cli" db drop\n',
            "commands/db/sets/command.json": command(envs={"CLI_YES": "1"}),
            "commands/db/sets/main.sh": '#!/bin/sh\n"$CLI_DIR/core/cli" db drop\n',
            "commands/tool/category.json": {**asks, "entrypoint": "main.sh"},
            "commands/tool/main.sh": RAN,
        }
    )


def refusal(words):
    return (
        f"cli: {words}: needs confirmation, but there is no terminal to ask on; to run it "
        f"without the question: cli --yes {words} …\n"
    )


def test_without_a_terminal_nothing_runs(made):
    assert made.run("db", "drop").all == (1, "", refusal("db drop"))
    assert made.run("db", "drop", input=b"y\n").all == (1, "", refusal("db drop"))
    assert made.run("tool", "-x").all == (1, "", refusal("tool"))
    assert made.run("db", "drop", env={"CLI_YES": "0"}).status == 1
    assert made.run("db", "drop", "--yes").status == 1


@pytest.mark.parametrize(
    "before", [["--yes"], ["--yes", "--safe"], ["--safe", "--yes", "--yes"]]
)
def test_yes_before_the_words(made, before):
    assert made.run(*before, "db", "drop", "--yes").all == (0, "ran --yes\n", "")
    assert made.run(*before, "tool", "-x").all == (0, "ran -x\n", "")


@pytest.mark.parametrize("value", ["1", "true", "On"])
def test_yes_in_the_environment(made, value):
    assert made.run("db", "drop", env={"CLI_YES": value}).all == (0, "ran\n", "")


def test_yes_is_for_one_run_and_in_the_environment_for_all_below(made):
    assert made.run("--yes", "db", "nested").all == (1, "", refusal("db drop"))
    assert made.run("db", "nested", env={"CLI_YES": "1"}).all == (0, "ran\n", "")
    # A source of the outer run answers nothing, but its caller does.
    assert made.run("db", "sets").all == (1, "", refusal("db drop"))
    assert made.run("db", "sets", env={"CLI_YES": "1"}).all == (0, "ran\n", "")


def test_yes_before_anything_else(made):
    assert made.run("--yes").stdout == made.run().stdout
    assert made.run("--yes", "--version").stdout == "Test CLI 1.2.3\n"
    assert made.run("--yes", "self", "version").stdout == "Test CLI 1.2.3\n"
    assert "--yes, " in made.run().stdout


def test_only_a_lone_help_needs_no_answer(made):
    assert made.run("db", "helps", "--help").all == (0, "ran --help\n", "")
    assert made.run("db", "drop", "--help").all == made.run("help", "db", "drop").all
    assert made.run("db", "helps", "--help", "x").all == (1, "", refusal("db helps"))
    assert made.run("db", "drop", "-h", "x").all == (1, "", refusal("db drop"))


def test_what_is_wrong_is_told_before(made):
    assert "unexpected argument b" in made.run("db", "words", "a", "b").stderr
    assert "TOKEN must be set" in made.run("db", "fails").stderr


def answered(made, *words, typed, **options):
    """Run on a terminal, type when asked; return the status as `wait` has it and what is shown."""
    pid, terminal = pty.fork()
    if pid == 0:
        if options.get("stderr"):
            os.dup2(os.open(options["stderr"], os.O_WRONLY | os.O_CREAT), 2)
        os.execve(
            str(made.launcher),
            [str(made.launcher), *words],
            {"PATH": os.environ["PATH"], "HOME": str(made.home)},
        )
    shown = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            chunk = os.read(terminal, 1024)
        except OSError:
            break
        shown += chunk
        if not chunk:
            break
        if b"[y/N] " in shown and typed:
            os.write(terminal, typed)
            typed = b""
    os.close(terminal)
    return os.waitpid(pid, 0)[1], shown.decode().replace("\r\n", "\n")


QUESTION = "Delete \\x1b[31mit\\nall? [y/N] "


@pytest.mark.parametrize("typed", ["y", "Y", "yes", " YES "])
def test_yes_on_a_terminal(made, typed):
    status, shown = answered(made, "db", "drop", "a", typed=f"{typed}\n".encode())
    assert (status, shown) == (0, f"{QUESTION}{typed}\nran a\n")


@pytest.mark.parametrize("typed", ["", "n", "no", "yesterday", "y y"])
def test_anything_else_on_a_terminal(made, typed):
    status, shown = answered(made, "db", "drop", typed=f"{typed}\n".encode())
    assert os.WEXITSTATUS(status) == 1
    assert (
        shown
        == f"{QUESTION}{typed}\ncli: error: db drop: not confirmed; nothing was run\n"
    )


def test_the_end_of_input_is_no(made):
    status, shown = answered(made, "db", "drop", typed=b"\x04")
    assert os.WEXITSTATUS(status) == 1
    assert shown.replace("^D\b\b", "").startswith(
        f"{QUESTION}\ncli: error: db drop: not confirmed"
    )


def test_an_interrupt_ends_it_as_a_shell_expects(made):
    status, shown = answered(made, "db", "drop", typed=b"\x03")
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) == signal.SIGINT
    assert shown.replace("^C", "") == QUESTION


def test_a_question_that_nobody_would_see_is_not_asked(made, tmp_path):
    status, shown = answered(made, "db", "drop", typed=b"", stderr=tmp_path / "log")
    assert (os.WEXITSTATUS(status), shown) == (1, "")
    assert (tmp_path / "log").read_text() == refusal("db drop")

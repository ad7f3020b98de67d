"""The prompt for missing arguments: on a terminal only, as if the answers had been typed."""

import fcntl
import os
import pty
import select
import signal
import subprocess
import termios
import time

import pytest

from host.arguments.secret_words import masked_words
from host.catalog.definition import Definition
from host.files.json_file import Fields
from testing.installation import command

SHOWS = '#!/bin/sh\nenv | grep ^ARG_ | sort\nprintf "<%s>" "$@"\necho\n'
ARGS = [
    {
        "name": "stage",
        "required": True,
        "choices": ["dev", "prod"],
        "description": "where to",
    },
    {"name": "--count", "value": "N", "type": "integer", "required": True},
    {"name": "--force"},
]


ARGS_X = {"name": "x", "required": True}


@pytest.fixture(scope="module")
def made(shared_install):
    from_program = {"name": "host", "required": True, "choices": {"program": "hosts"}}
    pin = {"name": "--pin", "value": "PIN", "required": True, "secret": True}
    return shared_install(
        {
            "commands/a/b/command.json": command(args=ARGS),
            "commands/a/b/main.sh": SHOWS,
            "commands/a/host/command.json": command(args=[from_program]),
            "commands/a/host/main.sh": SHOWS,
            "commands/a/host/hosts": "#!/bin/sh\nprintf 'web1\\nweb2\\n'\n",
            "commands/a/pin/command.json": command(args=[pin, ARGS_X]),
            "commands/a/pin/main.sh": SHOWS,
            "commands/a/word/command.json": command(
                args=[{"name": "pin", "required": True, "secret": True}, ARGS_X]
            ),
            "commands/a/word/main.sh": SHOWS,
            "commands/a/many/command.json": command(
                args=[{"name": "f...", "required": True}]
            ),
            "commands/a/many/main.sh": SHOWS,
            "commands/a/file/command.json": command(
                args=[{"name": "f", "required": True}]
            ),
            "commands/a/file/main.sh": SHOWS,
            "commands/a/two/command.json": command(
                args=[
                    {"name": "one", "required": True, "env": "ONE"},
                    {"name": "pin", "required": True, "env": "A_KEY"},
                    {"name": "two", "required": True, "env": "TWO"},
                ]
            ),
            "commands/a/two/main.sh": SHOWS,
            "commands/a/rest/command.json": command(
                args=[ARGS[1], ARGS_X, {"name": "rest...", "passthrough": True}]
            ),
            "commands/a/rest/main.sh": SHOWS,
            "commands/a/any/command.json": command(
                args=[{"name": "f", "required": True, "passthrough": True}]
            ),
            "commands/a/any/main.sh": SHOWS,
            "commands/a/outer/command.json": command(),
            "commands/a/outer/main.sh": '#!/bin/sh\n"$CLI_DIR/core/cli" a b\n',
            "commands/a/asks/command.json": command(confirm="Sure?"),
            "commands/a/asks/main.sh": SHOWS,
        }
    )


def talk(made, words, *answers, **env):
    """Run words on a terminal; each answer is typed once its prompt is there."""
    primary, secondary = pty.openpty()
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(made.home),
        "TERM": "dumb",
        **env,
    }
    process = subprocess.Popen(
        [made.launcher, *words], stdin=secondary, stdout=secondary, stderr=secondary, env=environ,
        cwd=made.home, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - for Ctrl-C
    )  # fmt: skip
    os.close(secondary)
    shown, left, deadline = b"", list(answers), time.monotonic() + 60
    while time.monotonic() < deadline:
        ready, _, _ = select.select([primary], [], [], 0.2)
        if ready:
            try:
                piece = os.read(primary, 65536)
            except OSError:
                break
            shown += piece
        elif left and shown.rstrip(b"\x07").endswith(left[0][0].encode()):
            os.write(primary, left.pop(0)[1].encode())
    os.close(primary)
    assert not left, shown
    return process.wait(60), shown.decode().replace("\r\n", "\n")


@pytest.mark.slow
def test_what_is_missing_is_asked_for(made):
    status, shown = talk(
        made, ["a", "b", "--force"],
        ("stage: ", "test\n"), ("stage: ", "\n"), ("stage: ", "prod\n"), ("--count: ", "-3\n"),
    )  # fmt: skip
    assert status == 0
    assert shown == (
        "cli: a b: stage, --count are missing\n"
        "stage: where to (one of dev, prod)\n"
        "stage: test\n"
        "stage: expected one of dev, prod; found test\n"
        "stage: \n"
        'stage: expected one of dev, prod; found ""\n'
        "stage: prod\n"
        "--count: (required; integer)\n"
        "--count: -3\n"
        "cli a b --force --count=-3 prod\n"
        "ARG_COUNT=-3\nARG_FORCE=true\nARG_STAGE=prod\n"
        "<--force><--count=-3><prod>\n"
    )


def test_a_secret_is_not_echoed_and_only_in_its_variable(made):
    status, shown = talk(made, ["a", "pin"], ("--pin: ", "hunter2\n"), ("x: ", "-y\n"))
    assert status == 0
    before, _, after = shown.partition("cli a pin -- -y\n")
    assert "hunter2" not in before
    assert after == "ARG_PIN=hunter2\nARG_X=-y\n<--><-y>\n"


def test_an_answer_stands_before_words_that_are_passed_on(made):
    status, shown = talk(made, ["a", "rest", "x", "--", "-y"], ("--count: ", "3\n"))
    assert status == 0
    assert shown.endswith(
        "cli a rest --count 3 x -- -y\n"
        "ARG_COUNT=3\nARG_REST_1=--\nARG_REST_2=-y\nARG_REST_COUNT=2\nARG_X=x\n"
        "<--count><3><x><--><-y>\n"
    )


def test_an_answer_of_any_form_needs_no_separator(made):
    status, shown = talk(made, ["a", "any"], ("f: ", "--release\n"))
    assert status == 0
    assert shown.endswith("cli a any --release\nARG_F=--release\n<--release>\n")


def test_a_secret_word_is_not_appended_and_hides_no_other(made):
    status, shown = talk(
        made, ["a", "word"], ("pin: ", "hunter2\n"), ("x: ", "shown\n")
    )
    assert status == 0
    assert shown.endswith("cli a word shown\nARG_PIN=hunter2\nARG_X=shown\n<shown>\n")


def test_what_is_no_chain_of_runs_changes_nothing(made):
    status, shown = talk(made, ["a", "many"], ("f: ", "1\n"), CLI_RUN="garbage")
    assert status == 0
    assert shown.endswith("cli a many 1\nARG_F_1=1\nARG_F_COUNT=1\n<1>\n")


def test_a_program_offers_the_choices_and_tab_completes(made):
    status, shown = talk(
        made, ["a", "host"], ("host: ", "w\t"), ("eb", "2\n"), TERM="xterm"
    )
    assert status == 0
    assert "  web1  web2\n" in shown
    assert shown.endswith("cli a host web2\nARG_HOST=web2\n<web2>\n")


def test_tab_completes_files(made):
    (made.home / "a name").write_text("")
    status, shown = talk(made, ["a", "file"], ("f: ", "a\t\n"), TERM="xterm")
    assert status == 0
    assert shown.endswith("cli a file 'a name'\nARG_F=a name\n<a name>\n")


def test_an_argument_that_repeats_is_asked_for_once(made):
    status, shown = talk(made, ["a", "many"], ("f: ", "\n"), ("f: ", "1\n"))
    assert status == 0
    assert shown.endswith("cli a many 1\nARG_F_1=1\nARG_F_COUNT=1\n<1>\n")


def test_a_word_before_the_answer_comes_from_the_environment(made):
    status, shown = talk(made, ["a", "two"], ("two: ", "2\n"), ONE="1", A_KEY="4711")
    assert status == 0
    variables = "ARG_ONE=1\nARG_PIN=4711\nARG_TWO=2\n"
    assert shown.endswith(f"cli a two 1 '********' 2\n{variables}<1><4711><2>\n")
    status, shown = talk(made, ["a", "two"], ("one: ", "1\n"), TWO="2", A_KEY="4711")
    assert shown.endswith(f"cli a two 1\n{variables}<1>\n")


def test_words_behind_a_separator_stay_there(made):
    status, shown = talk(made, ["a", "b", "--", "dev"], ("--count: ", "1\n"))
    assert status == 0
    assert shown.endswith("<--count><1><--><dev>\n")


def test_who_gives_no_answer_runs_nothing(made):
    status, shown = talk(made, ["a", "b"], ("stage: ", "\x04"))
    assert (status, "ARG_" in shown) == (2, False)
    status, shown = talk(made, ["a", "b"], ("stage: ", "\x03"))
    assert status == -signal.SIGINT
    assert "ARG_" not in shown


MISSING = "usage: cli a b <stage> --count N [--force]\n"


@pytest.mark.parametrize(
    ("words", "env"),
    [
        (["--no-input", "a", "b"], {}),
        (["a", "b"], {"CI": "true"}),
        (["a", "outer"], {}),
    ],
)
def test_nobody_is_asked(made, words, env):
    status, shown = talk(made, words, **env)
    assert status == 2
    assert shown.endswith(MISSING)


def test_without_a_terminal_nobody_is_asked(made):
    found = made.run("a", "b", input=b"dev\n1\n")
    assert found.all == (2, "", f"cli: a b: stage, --count are missing; {MISSING}")


def test_what_is_wrong_is_not_asked_for(made):
    status, shown = talk(made, ["a", "b", "--count", "x"])
    assert (status, "expected a whole number" in shown) == (2, True)


def test_no_input_forbids_the_question_of_confirm(made):
    status, shown = talk(made, ["--no-input", "a", "asks"])
    assert (
        status,
        "--no-input, CLI_NO_INPUT, CI or a coding agent forbids the question" in shown,
    ) == (
        1,
        True,
    )
    assert talk(made, ["--no-input", "--yes", "a", "asks"])[0] == 0


MASKED = {
    "each form": (
        "--pin=one two x -p three -pfour",
        "--pin=******** ******** x -p ******** -p********",
    ),
    "nothing": ("", ""),
    "a secret is the end of another": ("--pin=34 --pin=1234", "--pin=******** " * 2),
    "a separator": ("--pin=-- -- x", "--pin=******** -- ********"),
    "an unknown option": ("--wrong one two", "******** " * 3),
    "too many words": ("one two three", "******** " * 3),
    "an option without its value": ("one two --pin", "******** " * 3),
}


@pytest.mark.parametrize(("words", "masked"), MASKED.values(), ids=MASKED)
def test_words_without_their_secrets(words, masked):
    entries = [
        {"name": "--pin", "short": "-p", "value": "PIN", "secret": True},
        {"name": "key", "secret": True},
        {"name": "x"},
    ]
    fields = Fields("/folder/F", {"args": entries})
    definition = Definition("/folder/F", fields, required=False)
    assert masked_words(definition, words.split()) == masked.split()


def test_a_separator_is_found_even_if_a_secret_looks_like_one(made):
    status, shown = talk(made, ["a", "pin", "--pin=--", "--"], ("x: ", "y\n"))
    assert status == 0
    assert shown.endswith(
        "cli a pin '--pin=********' -- y\nARG_PIN=--\nARG_X=y\n<--pin=--><--><y>\n"
    )

"""One rule for all questions: on a terminal, unless something forbids them; nothing waits."""

import pytest

from host.caller import allows_questions
from testing.installation import command
from testing.terminal import on_terminal

ASKS = {"args": [{"name": "stage", "required": True}]}


@pytest.fixture
def made(install):
    return install(
        {
            "commands/db/drop/command.json": command(confirm="Sure?"),
            "commands/db/drop/main.sh": "#!/bin/sh\necho dropped\n",
            "commands/db/ask/command.json": command(**ASKS),
            "commands/db/ask/main.sh": "#!/bin/sh\necho ran\n",
            "shop/.cli/commands/build": "#!/bin/sh\necho built\n",
            "scripts/tool": "#!/bin/sh\necho tool\n",
            "work/justfile": "test:\n    echo test\n",
            "bin/just": "#!/bin/sh\necho '{\"recipes\": {}}'\n",
        }
    )


FORBIDDEN = {
    "--no-input": (["--no-input"], {}),
    "CLI_NO_INPUT": ([], {"CLI_NO_INPUT": "1"}),
    "CI": ([], {"CI": "true"}),
    "CI with any value": ([], {"CI": "woodpecker"}),
}
# The words, the status without an answer, and a part of what is shown.
QUESTIONS = {
    "confirm": (["db", "drop"], 1, "forbids the question"),
    "missing argument": (["db", "ask"], 2, "stage is missing"),
    "trust": (["build"], 1, "is not trusted"),
    "self trust": (["self", "trust", "."], 1, "forbids the question"),
    "self plugin add": (["self", "plugin", "add", "../scripts"], 0, "added scripts"),
    "self import": (["self", "import", "../work/justfile"], 1, "forbids the question"),
    "self uninstall": (["self", "uninstall"], 1, "forbids the question"),
}


@pytest.mark.parametrize(("words", "status", "text"), QUESTIONS.values(), ids=QUESTIONS)
@pytest.mark.sampled
def test_nothing_waits(made, monkeypatch, words, status, text):
    """The terminal never answers: a question would wait until the test fails."""
    monkeypatch.chdir(made.root / "shop")
    path = f"{made.root}/bin:/usr/bin:/bin"
    # That each of these forbids each question shows the table below.
    ways = [*FORBIDDEN.values()] if words == ["db", "drop"] else [(["--no-input"], {})]
    for before, env in ways:
        found, shown = on_terminal(made, *before, *words, PATH=path, **env)
        assert (found, text in shown) == (status, True), shown
        if text.startswith("added"):
            assert made.run("self", "plugin", "remove", "scripts", "--yes").status == 0


ALLOWED = {
    "nothing": ({}, False, True),
    "CI is empty": ({"CI": ""}, False, True),
    "CI=false": ({"CI": "false"}, False, True),
    "CI=No": ({"CI": "No"}, False, True),
    "CI=0": ({"CI": "0"}, False, True),
    "CI=off": ({"CI": "off"}, False, True),
    "CI=1": ({"CI": "1"}, False, False),
    "CI=azure": ({"CI": "azure"}, False, False),
    "CLI_NO_INPUT=on": ({"CLI_NO_INPUT": "on"}, False, False),
    "CLI_NO_INPUT=0": ({"CLI_NO_INPUT": "0"}, False, True),
    "--no-input": ({}, True, False),
}


@pytest.mark.parametrize(
    ("environ", "no_input", "allowed"), ALLOWED.values(), ids=ALLOWED
)
def test_allows_questions(environ, no_input, allowed):
    assert allows_questions(environ, no_input=no_input) == allowed

"""A command that calls the program: the inner run gets what the outer caller would get."""

import pytest

from testing.installation import command

OUTER = {
    "bash": '#!/bin/bash\n"$CLI_DIR/core/cli" inner show\n',
    "sh": '#!/bin/sh\nexec "$CLI_DIR/core/cli" inner show\n',
    "python": "#!/usr/bin/env python3\nimport os, subprocess\n"
    'subprocess.run([os.environ["CLI_DIR"] + "/core/cli", "inner", "show"])\n',
    "two levels": '#!/bin/sh\n"$CLI_DIR/core/cli" middle pass\n',
}
SHOW = """#!/bin/sh
echo "$TIMEOUT|$OWN|$FILE|${OUTER_ONLY-unset}|${ARG_WHERE-unset}|$KEPT$ARG_WHERE_TO"
"""


@pytest.fixture(params=OUTER)
def nested(request, install):
    return install(
        {
            "config/settings.conf": "TIMEOUT=30\nFROM_HOME=$HOME/x\n",
            "commands/outer/call/command.json": command(
                envs={"OUTER_ONLY": "1", "OWN": "outer", "TIMEOUT": "50"},
                env_files=[".env"],
                args=[{"name": "where", "default": "here"}],
            ),
            "commands/outer/call/.env": "FILE=outer\n",
            "commands/outer/call/main.sh": OUTER[request.param],
            "commands/middle/pass/command.json": command(envs={"OWN": "middle"}),
            "commands/middle/pass/main.sh": OUTER["sh"],
            "commands/inner/show/command.json": command(
                envs={"TIMEOUT": "60", "OWN": "inner"}, env_files=[".env"]
            ),
            "commands/inner/show/.env": "FILE=inner\n",
            "commands/inner/show/main.sh": SHOW,
        }
    )


CALLERS = {
    "nothing": {},
    "what all sources name": {"TIMEOUT": "90", "FILE": "mine"},
    "what the outer one names": {"OUTER_ONLY": "2"},
    "empty": {"TIMEOUT": "", "OWN": ""},
    "what nobody names": {"KEPT": "kept"},
    "what begins as an argument's": {"ARG_WHERE_TO": "there"},
}


@pytest.mark.parametrize("caller", CALLERS.values(), ids=CALLERS)
def test_the_inner_run_gets_what_the_outer_caller_would_get(nested, caller):
    plain = nested.run("inner", "show", env=caller)
    inside = nested.run("outer", "call", env=caller)
    assert inside.all == plain.all
    assert plain.stdout.startswith(f"{caller.get('TIMEOUT', '60')}|")


def test_what_the_outer_command_sets_itself_counts(install):
    made = install(
        {
            "commands/outer/call/command.json": command(envs={"A": "envs", "B": "envs"}),
            "commands/outer/call/main.sh": "#!/bin/sh\nexport A=script\n"
            'C=inline "$CLI_DIR/core/cli" inner show\n',
            "commands/inner/show/command.json": command(envs={"A": "inner", "C": "inner"}),
            "commands/inner/show/main.sh": '#!/bin/sh\necho "$A|${B-unset}|$C"\n',
        }
    )
    assert made.run("outer", "call").all == (0, "script|unset|inline\n", "")


def test_sources_that_cannot_be_asked_again_take_nothing_away(install):
    made = install(
        {
            "commands/outer/call/command.json": command(envs={"A": "outer"}),
            "commands/outer/call/main.sh": '#!/bin/sh\nrm -r "$CLI_DIR/commands/outer"\n'
            '"$CLI_DIR/core/cli" inner show\n',
            "commands/inner/show/command.json": command(),
            "commands/inner/show/main.sh": '#!/bin/sh\necho "$A"\n',
        }
    )
    assert made.run("outer", "call").all == (0, "outer\n", "")


def test_another_program_gets_what_the_command_has(install):
    other = install(
        {
            "commands/inner/show/command.json": command(),
            "commands/inner/show/main.sh": '#!/bin/sh\necho "$A"\n',
        },
        program="other",
    )
    made = install(
        {
            "commands/outer/call/command.json": command(envs={"A": "outer"}),
            "commands/outer/call/main.sh": f"#!/bin/sh\nexec {other.launcher} inner show\n",
        }
    )
    assert made.run("outer", "call").all == (0, "outer\n", "")


def test_the_sources_that_are_asked_again_are_not_heard_again(install):
    made = install(
        {
            "config/settings.conf": "echo from settings\nTIMEOUT=30\n",
            "commands/outer/call/command.json": command(),
            "commands/outer/call/main.sh": OUTER["sh"],
            "commands/inner/show/command.json": command(),
            "commands/inner/show/main.sh": SHOW,
        }
    )
    twice = "from settings\n" * 2  # once for each of the two commands
    assert made.run("outer", "call").all == (0, "30|||unset|unset|\n", twice)


def test_what_is_wrong_with_the_outer_commands_files_is_said_once(install):
    made = install(
        {
            "commands/outer/call/command.json": command(env_files=[".env"]),
            "commands/outer/call/.env": "1BAD=x\n",
            "commands/outer/call/main.sh": OUTER["sh"],
            "commands/inner/show/command.json": command(),
            "commands/inner/show/main.sh": SHOW,
        }
    )
    assert made.run("outer", "call").stderr == (
        f"cli: warning: {made.root}/commands/outer/call/.env:1: what stands before the = cannot "
        "name a variable; it is left out\n"
    )

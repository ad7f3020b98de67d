"""`Program` as a command in Python uses it, in real runs."""

import json
import os
import subprocess

import pytest

from testing.installation import IMPORTABLE, command
from testing.terminal import on_terminal

pytestmark = pytest.mark.usefixtures("command_forks")

_MODULE = """
import json, os, sys
from host import Program

def main(args):
    program = Program.current()
    print(json.dumps(eval(args[0], {"program": program, "os": os, "sys": sys})))
"""


@pytest.fixture(scope="module")
def module():
    """Return the name of an installed module whose `main` says what an expression is."""
    file = IMPORTABLE / f"program_{os.getpid()}.py"
    file.write_text(_MODULE)
    yield f"{IMPORTABLE.name}.{file.stem}"
    file.unlink()


@pytest.fixture
def ask(request, install, module):
    """Return `ask(expression, **env)`: what that is in a command in Python.

    The command gets the variables of all sources, unless a test is marked `with_and_without`.
    """
    made = install(
        {
            "core/cli.json": {"name": "Test CLI", "version": "1.2.3"},
            "config/settings.conf": "TIMEOUT=30\nWHERE=$HOME/conf\n",
            "commands/team/ask/command.json": command(
                entrypoint=f"{module}:main", sources=getattr(request, "param", True)
            ),
            "commands/team/show/command.json": command(
                envs={"TIMEOUT": "60", "HOST": "$HOSTNAME"},
                required_envs=["TOKEN"],
                args=[
                    {"name": "env", "choices": ["a", "b"]},
                    {"name": "--fast"},
                    {"name": "--purge", "effects": "destroy"},
                    {"name": "--pin", "value": "PIN", "secret": True},
                ],
                unit="team.service",
            ),
            "commands/team/show/main.sh": '#!/bin/sh\necho "$TIMEOUT|$TOKEN|$ARG_ENV"\n',
            "commands/team/hidden/command.json": command(hidden=True),
        }
    )

    def ask(expression, **env):
        done = made.run("team", "ask", expression, env={"TOKEN": "t", **env})
        assert done.status == 0, done.stderr
        return json.loads(done.stdout)

    ask.made = made
    return ask


# The answer must not depend on what the asking command got.
with_and_without = pytest.mark.parametrize(
    "ask", [True, False], ids=["with sources", "without sources"], indirect=True
)


@pytest.mark.slow
def test_a_broken_plugin(install, module):
    """The remedy in a command's warning is a command of the program."""
    made = install(
        {
            "plugins/broken/plugin.json": {"name": "broken", "hooks": "hooks.py"},
            "plugins/broken/hooks.py": "raise ValueError('no')\n",
            "commands/ask/command.json": command(entrypoint=f"{module}:main"),
        }
    )
    assert made.run("ask", "0").status == 0
    expression = "[os.unlink(program.root + '/cli.lock'), len(program.commands())]"
    warning = made.run("ask", expression).stderr.splitlines()[-1]
    assert warning.startswith("cli ask: warning: plugin broken is broken: ")
    assert warning.endswith("; see: cli self plugin list")


def test_where_it_is(ask):
    root = str(ask.made.root)
    names = "name root version commands_dir plugins_dir core_dir lib_dir config_dir executable"
    found = ask(
        f"[getattr(program, name) for name in '{names}'.split()] + list(program.words)"
    )
    assert found == [
        *("cli", root, "1.2.3", f"{root}/commands", f"{root}/plugins", f"{root}/core"),
        *(f"{root}/core/lib", f"{root}/config", f"{root}/core/cli", "team", "ask"),
    ]


@pytest.mark.slow
def test_the_name_that_it_was_called_by(ask):
    root = ask.made.root
    assert ask("[sys.argv, program.name]") == [
        ["cli team ask", "[sys.argv, program.name]"],
        "cli",
    ]
    (root / "core/acme").symlink_to("cli")
    env = {**os.environ, "TOKEN": "t", "HOME": str(root)}
    words = [root / "core/acme", "team", "ask", "[sys.argv[0], program.name]"]
    done = subprocess.run(words, env=env, capture_output=True, check=True, text=True)
    assert json.loads(done.stdout) == ["acme team ask", "acme"]


@pytest.mark.slow
def test_commands(ask):
    words = "[' '.join(one.words) for one in program.commands(%s)]"
    assert ask(words % "") == ["team ask", "team show"]
    assert ask(words % "('team',), everything=True") == [
        "team ask",
        "team hidden",
        "team show",
    ]
    for wrong, said in (
        ("none", "unknown command none"),
        ("team", "team show is a command"),
    ):
        asked = f"program.commands(('{wrong}', 'show'))"
        done = ask.made.run("team", "ask", asked)
        assert (done.status, done.stdout) == (2, "")
        assert said in done.stderr


@pytest.mark.slow
def test_categories(ask):
    ask.made.write(
        {
            "commands/team/deep/category.json": {
                "name": "Deep",
                "entrypoint": "own.sh",
            },
            "commands/team/deep/own.sh": "",
        }
    )
    categories = (
        "[[' '.join(one.words), one.runnable] for one in program.categories(%s)]"
    )
    assert ask(categories % "") == [["team", False], ["team deep", True]]
    assert ask("program.find(('team', 'deep')).definition.entrypoint") == "own.sh"
    assert ask(
        "[program.categories(('team', 'deep')), program.commands(('team', 'deep'))]"
    ) == [*([], [])]


@pytest.mark.slow
def test_find(ask):
    found = ask(
        "(lambda one: [one.words, one.definition.extra, one.origin, one.directory,"
        " [arg.name for arg in one.definition.args]])(program.find(['team', 'show', 'a', '-x']))"
    )
    place = f"{ask.made.root}/commands/team/show"
    assert found == [
        *(
            ["team", "show"],
            {"unit": "team.service"},
            "commands",
            place,
            ["env", "--fast", "--purge", "--pin"],
        )
    ]
    done = ask.made.run("team", "ask", "program.find(['team', 'shwo'])")
    assert (done.status, done.stdout) == (2, "")
    assert "unknown command shwo in team; did you mean cli team show?" in done.stderr
    done = ask.made.run("team", "ask", "program.find(())")
    assert (
        "the root is a category, not a command; name a command in the category"
        in done.stderr
    )


@pytest.mark.slow
def test_arguments(ask):
    given = "program.arguments(program.find(['team', 'show']), %s)"
    assert ask(given % "['a', '--fast']") == {
        "ARG_ENV": "a",
        "ARG_FAST": "true",
        "ARG_PURGE": "false",
    }
    done = ask.made.run("team", "ask", given % "['c']")
    assert done.status == 2
    assert ask("program.effects(program.find(['team', 'show']), ['a'])") == "change"
    assert (
        ask("program.effects(program.find(['team', 'show']), ['a', '--purge'])")
        == "destroy"
    )
    assert (
        ask("program.effects(program.find(['team', 'ask']), ['a', '--purge'])")
        == "change"
    )
    masked = (
        "program.masked_arguments(program.find(['team', 'show']), ['a', '--pin=7'])"
    )
    assert ask(masked) == ["a", "--pin=********"]


TRACE = (
    "{name: [one.value, one.rank, [[it.value, it.rank] for it in one.shadows]]"
    " for name, one in program.environment(['team', 'show']%s).items() if one.rank}"
)


@pytest.mark.slow
@with_and_without
def test_environment(ask):
    home = str(ask.made.home)
    found = ask(TRACE % "", TIMEOUT="90", OTHER="x")
    assert found["TIMEOUT"] == ["90", 1, [["60", 2], ["30", 3]]]
    assert found["WHERE"] == [f"{home}/conf", 3, []]
    assert found["TOKEN"] == ["t", 1, []]
    assert "OTHER" not in found
    assert ask(TRACE % "")["TIMEOUT"] == ["60", 2, [["30", 3]]]


def test_a_source_has_the_line_or_the_key(ask):
    timeout = "program.environment(['team', 'show'])['TIMEOUT']"
    file, line = ask(f"(lambda it: [it.source, it.shadows[0].source])({timeout})")
    assert file.endswith("/commands/team/show/command.json: envs.TIMEOUT")
    assert line.endswith("/config/settings.conf:1")


@with_and_without
def test_environment_of_another_caller_on_another_machine(ask):
    facts = {
        "HOME": "/home/deploy",
        "USER": "deploy",
        "HOSTNAME": "web1",
        "PWD": "/srv",
    }
    caller = {"TOKEN": "his", "HOME": "/home/me"}
    found = ask(TRACE % f", caller={caller}, facts={facts}", TIMEOUT="90")
    assert found["TIMEOUT"] == ["60", 2, [["30", 3]]]
    # Code on this machine, such as settings.conf, gets nothing of the other one.
    assert found["WHERE"] == ["/home/me/conf", 3, []]
    assert found["HOST"] == ["web1", 2, []]
    assert found["TOKEN"] == ["his", 1, []]


@pytest.mark.slow
def test_masked_is_what_self_env_shows(ask):
    ask.made.write(
        {
            "commands/team/show/command.json": command(
                envs={
                    "APP_TOKEN": "hunter2",
                    "URL": "https://u:pw@x/hunter2",
                    "SEEN": "$MY_KEY.",
                    "TIMEOUT": "hunter2",
                }
            )
        }
    )
    shown = (
        "{one.name: [one.value, [it.value for it in one.shadows]] for one in"
        " __import__('host').masked(program.environment(['team', 'show'])).values()}"
    )
    found = ask(shown, MY_KEY="in-the-caller", TIMEOUT="9")
    told = ask.made.run(
        "self",
        "env",
        "team",
        "show",
        "--format",
        "json",
        env={
            "MY_KEY": "in-the-caller",
            "TIMEOUT": "9",
            "TOKEN": "t",
        },
    )
    assert found == {
        one["name"]: [one["value"], [it["value"] for it in one["shadows"]]]
        for one in json.loads(told.stdout)
    }
    assert found["URL"] == ["https://…@x/********", []]
    assert found["SEEN"] == ["********.", []]
    assert found["TIMEOUT"] == ["9", ["********", "30"]]
    named = ask.made.run("self", "env", "team", "show", "URL")
    assert "hunter2" not in named.stdout


@with_and_without
def test_what_describes_the_run_goes_before_what_the_caller_says_of_it(ask):
    """The caller's value is told as shadowed, by whichever way it is asked."""
    ours = {"PLUGINS_DIR": "/elsewhere", "COMMAND_NAME": "mine"}
    shown = (
        "{name: [one.value, one.rank, [it.value for it in one.shadows]] for name, one in"
        f" program.environment(['team', 'show'], caller={ours}).items()}}"
    )
    found = ask(shown)
    told = ask.made.run("self", "env", "team", "show", "--format", "json", env=ours)
    rows = {one["name"]: one for one in json.loads(told.stdout)}
    for name, value in (
        ("PLUGINS_DIR", f"{ask.made.root}/plugins"),
        ("COMMAND_NAME", "show"),
    ):
        assert found[name] == [value, 0, [ours[name]]]
        assert [it["value"] for it in rows[name]["shadows"]] == [ours[name]]
        assert rows[name]["value"] == value


@pytest.mark.slow
def test_what_refers_to_an_argument_is_told_as_a_run_without_words_has_it(ask):
    """So it is by whichever way it is asked; a caller's variable of that name does not count."""
    fields = command(
        envs={"TO": "to $ARG_WHERE$ARG_NOWHERE"},
        args=[{"name": "where", "default": "here"}, {"name": "nowhere"}],
    )
    ask.made.write(
        {
            "config/settings.conf": "ARG_NOWHERE=settings\n",
            "commands/team/to/command.json": fields,
            "commands/team/to/main.sh": '#!/bin/sh\necho "$TO ${ARG_NOWHERE-unset}"\n',
        }
    )
    caller = {"ARG_WHERE": "caller", "ARG_NOWHERE": "caller"}
    assert ask.made.run("team", "to", env=caller).stdout == "to here unset\n"
    found = ask(f"program.environment(['team', 'to'], caller={caller})['TO'].value")
    told = ask.made.run(
        "self", "env", "team", "to", "TO", "ARG_WHERE", env=caller
    ).stdout
    page = ask.made.run("help", "team", "to", env=caller).stdout
    assert found == "to here"
    assert told.splitlines() == [
        "TO         to here  ← commands/team/to/command.json: envs.TO (rank 2)",
        "ARG_WHERE  here  ← args",
    ]
    assert "  TO  to here  ← command.json: envs.TO\n" in page


@pytest.mark.slow
@with_and_without
def test_inside_a_run_what_describes_that_run_is_not_the_callers(ask):
    inside = "program.run(['self', 'env', 'team', 'show', '--format', 'json'], capture_output=True)"
    rows = {
        one["name"]: one for one in ask(f"__import__('json').loads({inside}.stdout)")
    }
    assert rows["COMMAND_NAME"]["value"] == "show"
    assert [rows[name]["shadows"] for name in ("CLI_DIR", "COMMAND_NAME")] == [[], []]


@pytest.mark.slow
def test_self_env_has_the_required_variables_too(ask):
    found = ask("list(program.environment(['team', 'show']))")
    told = ask.made.run(
        "self", "env", "team", "show", "--format", "json", env={"TOKEN": "t"}
    )
    assert sorted(found) == sorted(one["name"] for one in json.loads(told.stdout))
    assert "TOKEN" in found


@pytest.mark.slow
@with_and_without
def test_run(ask):
    run = (
        "program.run(['team', 'show'], ['a'], capture_output=True, text=True%s).stdout"
    )
    assert ask(run % "") == "60|t|a\n"
    assert ask(run % "", TIMEOUT="90") == "90|t|a\n"
    assert ask(run % ", environ={**os.environ, 'TOKEN': 'u'}") == "60|u|a\n"


@pytest.mark.slow
def test_the_user_agreed_in_advance(ask):
    """--yes and --no-input of the command line reach a command in Python; nothing else changes."""
    seen = "[program.assume_yes, program.may_ask, os.environ.get('CLI_YES')]"
    assert ask(seen) == [False, False, None]
    assert ask(seen, CLI_YES="1") == [True, False, "1"]
    done = ask.made.run("--yes", "team", "ask", seen)
    assert json.loads(done.stdout) == [True, False, None]
    ask.made.write({"config/settings.conf": "CLI_YES=1\n"})  # not the caller's
    assert ask(seen) == [False, False, "1"]


@pytest.mark.slow
def test_whether_a_command_may_ask(ask):
    seen = "print(program.may_ask, file=sys.stderr)"
    for words, env, expected in (
        ((), {}, "True"),
        (("--no-input",), {}, "False"),
        ((), {"CI": "true"}, "False"),
    ):
        _, shown = on_terminal(ask.made, *words, "team", "ask", seen, **env)
        assert shown.splitlines()[0] == expected, (words, env)
    ask.made.write({"config/settings.conf": "CLI_NO_INPUT=1\n"})
    assert on_terminal(ask.made, "team", "ask", seen)[1].startswith("False")


@pytest.mark.slow
def test_choose(ask):
    folder = ask.made.root / "commands" / "team"
    (folder / "category.json").write_text('{"name": "Team", "default": "show"}')
    chosen = "[(one.words, args) for one, args in [program.choose(%s)]]"
    assert ask(chosen % "['team', 'show', 'a', '-x']") == [
        [["team", "show"], ["a", "-x"]]
    ]
    assert ask(chosen % "['team']") == [[["team", "show"], []]]
    assert ask.made.run("team", "ask", "program.choose(['team', 'nope'])").status == 2


def test_ask_arguments(ask):
    from host import UsageError

    given = "program.ask_arguments(program.find(('team', 'show')), ['b', '--fast'])"
    words, variables = ask(given)
    assert (words, variables["ARG_ENV"]) == (["b", "--fast"], "b")
    wrong = ask.made.run("team", "ask", given.replace("'b'", "'c'"))
    assert (wrong.status, wrong.stdout) == (UsageError.status, "")


def test_messages(ask):
    done = ask.made.run("team", "ask", "program.messages.warn('odd \\x1b[31m')")
    assert done.stderr == "cli team ask: warning: odd \\x1b[31m\n"


def test_outside_a_command(monkeypatch):
    from host import HostError, Program

    for name in ("CLI_DIR", "COMMAND_NAME"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(HostError, match="not a command of an installation"):
        Program.current()


def test_at_a_directory(install, monkeypatch):
    from host import InstallationError, Program

    made = install(
        {
            "commands/team/show/command.json": command(envs={"A": "$B"}),
            "commands/team/show/main.sh": '#!/bin/sh\necho "$A|$COMMAND_NAME"\n',
        },
        program="acme",
    )
    for name in ("CLI_DIR", "COMMAND_NAME", "COMMAND_CATEGORY"):
        monkeypatch.setenv(name, "elsewhere")  # of a command that runs the tests
    program = Program.at(made.root, {**os.environ, "B": "b"})
    assert (program.name, program.root, program.words) == ("acme", str(made.root), ())
    assert [one.words for one in program.commands()] == [("team", "show")]
    assert program.environment(("team", "show"))["A"].value == "b"
    assert (
        program.run(("team", "show"), capture_output=True, text=True).stdout
        == "b|show\n"
    )
    with pytest.raises(InstallationError):
        Program.at(made.home)


def test_an_installation_that_is_opened_safely_is_only_read(install):
    from host import Program

    args = [{"name": "stage", "choices": ["dev", "prod"]}, {"name": "--force"}]
    made = install(
        {
            "commands/team/show/command.json": command(args=args),
            "commands/team/show/main.sh": "#!/bin/sh\n",
            "plugins/greet/plugin.json": {"name": "greet", "hooks": "hooks.py"},
            "plugins/greet/hooks.py": "from pathlib import Path\nPath('/nonexistent/x').touch()\n",
        },
        program="acme",
    )
    before = {path: path.lstat().st_mtime_ns for path in made.root.rglob("*")}
    program = Program.at(made.root, {}, safe=True)
    assert [one.words for one in program.commands()] == [("team", "show")]
    assert program.candidates(("team", "show"), "p") == [("prod", "")]
    assert program.candidates(("team", "show"), "--f") == [("--force", "")]
    assert {path: path.lstat().st_mtime_ns for path in made.root.rglob("*")} == before

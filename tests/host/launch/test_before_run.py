"""The hook `before_run`: a plugin refuses a run, asks about it, or lets it go."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from host import Ask, BeforeRun, NotConfirmedError, PlannedRun, Program, Refuse
from host.launch.before_run import check_policies
from testing.installation import IMPORTABLE, PROJECT, Made, command
from testing.terminal import Terminal, on_terminal

MODULE = f"before_run_{os.getpid()}"  # each worker has its own
HOOKS = f"""
from host import BeforeRun, hookimpl

@hookimpl
def before_run(installation):
    yield BeforeRun("rules", "cli_host_tests.{MODULE}:check", words=("a",))
"""
RULES = """
import json, os, time
from host import Ask, Refuse

def check(run):
    if "record" in run.arguments:
        print(json.dumps([run.words, run.arguments, run.effects, run.user != "", run.client]))
    if run.origin == "agent" and run.effects == "destroy":
        return Refuse("agents may not destroy anything")
    if run.origin == "fleet":
        return Refuse(f"not on {run.hosts[0]}")
    if run.words[-1] == "friday":
        return Ask("Deploy on a Friday?")
    if run.words[-1] == "failing":
        raise RuntimeError("no network")
    if run.words[-1] == "wrong":
        return "no"

def wait(run):
    time.sleep(60)
"""


@pytest.fixture(scope="module", autouse=True)
def _module() -> Iterator[None]:
    file = IMPORTABLE / f"{MODULE}.py"
    file.write_text(RULES)
    yield
    file.unlink()


@pytest.fixture(scope="module")
def made(shared_install: Callable[..., Made]) -> Made:
    files: dict[str, Any] = {
        "plugins/rules/plugin.json": {"name": "rules", "hooks": "hooks.py"},
        "plugins/rules/hooks.py": HOOKS,
        "commands/other": "#!/bin/bash\necho ran\n",
        "commands/old/command.json": {
            "name": "Old",
            "description": "Formerly",
            "moved_to": "a drop",
        },
        "commands/outer": '#!/bin/bash\n"$CLI_DIR/core/cli" a drop; echo $?\n',
        "commands/a/drop/command.json": command(
            effects="destroy",
            envs={"API_TOKEN": "hunter22"},
            args=[{"name": "words..."}],
        ),
        "commands/a/drop/main.sh": "#!/bin/bash\necho ran\n",
    }
    for word in ("friday", "failing", "wrong"):
        files[f"commands/a/{word}"] = "#!/bin/bash\necho ran\n"
    return shared_install(files)


AGENT = {"CLAUDECODE": "1"}
_HAND = "to run it by hand: cli a friday"
_ASKED = "a friday: a person must answer on a terminal: Deploy on a Friday?"
_BY = "refused (plugin rules: rules): "
# The words, the caller's variables, and the status and text of the run.
RUNS: Mapping[str, tuple[list[str], dict[str, str], int, str]] = {
    "let go": (["a", "drop"], {}, 0, ""),
    "refused": (
        ["a", "drop"],
        AGENT,
        1,
        f"a drop: {_BY}agents may not destroy anything",
    ),
    "--yes is no answer": (["--yes", "a", "friday"], {}, 1, f"{_ASKED}; {_HAND}"),
    "CLI_YES is no answer": (["a", "friday"], {"CLI_YES": "1"}, 1, _ASKED),
    "a failure refuses": (["a", "failing"], {}, 1, "raised RuntimeError: no network"),
    "a wrong answer refuses": (["a", "wrong"], {}, 1, "expected None, Refuse or Ask"),
    "an inner run": (["outer"], AGENT, 0, "agents may not destroy anything"),
    "other words": (["other"], AGENT, 0, ""),
}


@pytest.mark.parametrize("name", RUNS)
def test_what_a_rule_does(made: Made, name: str) -> None:
    words, env, status, text = RUNS[name]
    done = made.run(*words, env=env)
    assert done.status == status
    assert text in done.stderr
    assert done.stderr.count("\n") == bool(text)
    assert ("ran" in done.stdout) == (not text)


def test_what_a_rule_gets(made: Made) -> None:
    done = made.run("a", "drop", "record", "hunter22", env={"AI_AGENT": "x"})
    assert done.status == 1
    got = json.loads(done.stderr.splitlines()[0])
    words = [["a", "drop"], ["record", "********"]]
    assert got == [*words, "destroy", True, {"name": "x"}]


def test_a_person_answers_on_a_terminal(made: Made) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(made.home)}
    for answer, status, shown in (("y", 0, "ran"), ("n", 1, "nothing was run")):
        with Terminal([str(made.launcher), "--yes", "a", "friday"], environ) as typed:
            typed.wait_for("Deploy on a Friday? [y/N] ")
            typed.type(f"{answer}\n")
            typed.wait_for(shown)
            assert typed.wait() == status
    status, output = on_terminal(made, "a", "friday", **AGENT)
    assert status == 1
    assert "a person must answer on a terminal" in output


def test_explain_shows_the_answer(made: Made) -> None:
    shown = made.run("--explain", "a", "drop", env=AGENT)
    assert (shown.status, shown.stderr) == (1, "")
    assert "refused (plugin rules: rules)" in shown.stdout
    status, output = on_terminal(made, "--explain", "a", "friday", columns=120)
    assert status == 0
    assert "Deploy on a Friday?" in output


def test_a_run_on_other_machines(made: Made) -> None:
    for words in (("a", "drop"), ("old",)):
        with pytest.raises(NotConfirmedError, match="not on web1"):
            made.program.permit(words, origin="fleet", hosts=["web1"])
    made.program.permit(("other",), origin="fleet", hosts=["web1"])

    # An agent stays who asks.
    agent = Program.at(made.root, {**os.environ, "HOME": str(made.home), **AGENT})
    with pytest.raises(NotConfirmedError, match="agents may not destroy anything"):
        agent.permit(("a", "drop"), origin="fleet", hosts=["web1"])


def test_the_rules_of_the_author_s_guide(made: Made) -> None:
    page = (PROJECT / "docs/writing-plugins.md").read_text()
    section = page.partition("### Before a run\n")[2].partition("\n### ")[0]
    code = section.partition("# greet/rules.py\n")[2].partition("```")[0]
    rules: dict[str, Any] = {}
    exec(code, rules)  # noqa: S102 - our own page

    class Date:
        day = 4

        @classmethod
        def today(cls) -> dt.date:
            return dt.date(2026, 5, 4 + cls.day)  # a Monday, and its Friday

    rules["date"] = Date
    definition = made.program.find(("a", "drop")).definition

    def answer(word: str, effects: str, origin: str) -> object:
        facts = (definition, effects, "/", "ada", origin)
        return rules["check"](PlannedRun((word,), (), *facts))

    assert answer("a", "destroy", "agent") == Refuse("agents may not destroy anything")
    assert answer("a", "change", "agent") is None
    assert answer("a", "destroy", "terminal") is None
    assert answer("deploy", "change", "terminal") == Ask("Deploy on a Friday?")
    Date.day = 0
    assert answer("deploy", "change", "terminal") is None


def test_a_slow_rule_refuses(made: Made) -> None:
    call = BeforeRun("slow", f"cli_host_tests.{MODULE}:wait", plugin="rules")
    command = made.program.find(("a", "drop"))
    planned = PlannedRun(
        ("a", "drop"), (), command.definition, "read", "/", "ada", "terminal"
    )
    with pytest.raises(NotConfirmedError, match=r"did not answer within 0\.3 s"):
        check_policies([call], planned, None, seconds=0.3)  # type: ignore[arg-type]

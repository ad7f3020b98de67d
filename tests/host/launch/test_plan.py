"""A plan that only looks says what a run would do, and does nothing of it."""

import json
import os

import pytest

from host import NotConfirmedError, Program, SourceError, UsageError
from testing.installation import command


def program_at(made):
    return Program.at(made.root, {"PATH": os.environ["PATH"], "HOME": str(made.home)})


SHOW = '#!/bin/sh\nprintf "%s\\n" "$0" "$@"; env | grep -v "^_=\\|^PWD=\\|^SHLVL="\n'


@pytest.mark.parametrize(
    ("fields", "args"),
    [
        ({}, []),
        ({}, ["a b", "--", "-x"]),
        ({"envs": {"A": "$B!", "COPY": "$A"}, "env_files": ["x.env"]}, ["--help", "2"]),
        (
            {"args": [{"name": "stage", "default": "dev"}, {"name": "--fast"}]},
            ["--fast"],
        ),
        ({"args": [{"name": "files...", "required": True}]}, ["1", "2"]),
    ],
    ids=["plain", "any words", "sources", "defaults", "repeated"],
)
def test_what_it_says_is_what_runs(install, fields, args):
    made = install(
        {
            "config/settings.conf": "B=settings\n",
            "commands/a/b/command.json": command(**fields),
            "commands/a/b/main.sh": SHOW,
            "commands/a/b/x.env": "FROM_FILE='x y'\n",
        }
    )
    plan = program_at(made).plan(("a", "b"), args)
    assert (plan.words, plan.errors, plan.effects) == (("a", "b"), (), "change")
    ran = made.run("a", "b", *args)
    assert ran.status == 0
    (*printed,) = ran.stdout.splitlines()
    count = len(plan.argv)
    assert printed[:count] == [*plan.argv]
    ran_with = dict(line.split("=", 1) for line in printed[count:])
    names = ran_with.keys() - {"PATH", "HOME", "CLI_RUN"}
    assert {name: plan.variables[name].value for name in names} == {
        name: ran_with[name] for name in names
    }


def test_it_has_no_effects(install):
    made = install()
    marks = made.root / "marks"
    marks.mkdir()
    made.write(
        {
            "bin/tool": f'#!/bin/sh\ntouch "{marks}/version"; echo tool 1.2\n',
            "commands/a/b/command.json": command(
                confirm="Really?",
                effects="destroy",
                requires=["tool>=2", "nowhere"],
                secrets={"TOKEN": f"run:sh -c 'touch {marks}/secret; echo x'"},
                required_envs=["TOKEN"],
            ),
            "commands/a/b/main.sh": f'#!/bin/sh\ntouch "{marks}/ran"\n',
        }
    )
    path = f"{made.root}/bin:{os.environ['PATH']}"
    program = Program.at(made.root, {"PATH": path, "HOME": str(made.home)})
    plan = program.plan(("a", "b"))
    assert [*marks.iterdir()] == []
    assert plan.programs == {"tool>=2": "not checked", "nowhere": "not on PATH"}
    assert (plan.question, plan.effects) == ("Really?", "destroy")
    assert plan.variables["TOKEN"].value.startswith("run:sh ")
    assert [error.status for error in plan.errors] == [127]
    assert "nowhere (not on PATH)" in str(plan.errors[0])
    env = {"PATH": path}
    assert (
        made.run("self", "env", "a", "b", "TOKEN", "--show-secrets", env=env).status
        == 0
    )
    assert [one.name for one in marks.iterdir()] == ["secret"]
    assert made.run("a", "b", env=env).status == 127
    assert (
        program.plan(("a", "b")).programs["tool>=2"] == f"{made.root}/bin/tool is 1.2"
    )


def test_the_errors_that_prevent_a_run(install):
    made = install(
        {
            "commands/a/b/command.json": command(
                required_envs=["MISSING"], args=[{"name": "stage", "required": True}]
            ),
            "commands/a/b/main.sh": "#!/nowhere/sh\n",
        }
    )
    program = program_at(made)
    missing = program.plan(("a", "b"))
    assert [type(error).__mro__[1] for error in missing.errors] == [UsageError]
    assert missing.argv == ()
    other = program.plan(("a", "b"), ["dev"])
    assert [error.status for error in other.errors] == [SourceError.status, 127]
    for plan, args in ((missing, []), (other, ["dev"])):
        ran = made.run("a", "b", *args)
        assert (ran.status, ran.stderr) == (
            plan.errors[0].status,
            f"cli: {plan.errors[0]}\n",
        )
    with pytest.raises(UsageError):
        program.plan(("a", "b"), ["--help"])


def test_an_untrusted_project_is_not_read(install, tmp_path, monkeypatch):
    made = install()
    project = tmp_path / "project/.cli/commands/x"
    project.mkdir(parents=True)
    (project / "command.json").write_text(json.dumps(command(envs={"A": "1"})))
    (project / "main.sh").write_text("#!/bin/sh\n")
    monkeypatch.chdir(tmp_path / "project")
    plan = program_at(made).plan(("x",))
    assert [type(error) for error in plan.errors] == [NotConfirmedError]
    assert (plan.argv, "A" in plan.variables) == ((), False)

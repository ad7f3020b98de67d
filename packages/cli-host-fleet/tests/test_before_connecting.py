"""Words that a run answers on this machine, and runs that it refuses, before anything connects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Cli, Done

_MARK = "[[ $1 == --help || $1 == -h ]] && { echo usage of the script; exit 0; }\necho >/opt/ran\n"
_PLAIN = "echo >/opt/ran\n"


def _ran(cli: Cli) -> bool:
    """Return whether `demo do` has run on web01 since the last call."""
    mark = cli.rig.machines["web01"].root / "opt" / "ran"
    ran = mark.exists()
    mark.unlink(missing_ok=True)
    return ran


@pytest.mark.parametrize(("word", "asked"), [("run", "--help"), ("check", "-h")])
def test_help_of_the_command_is_answered_here_once(
    cli: Cli, word: str, asked: str
) -> None:
    """It shows what `cli demo do --help` shows, also for a command that destroys."""
    for script, shown in (
        (_MARK, "usage of the script"),
        (_PLAIN, "Usage: cli demo do"),
    ):
        cli.command(script)
        done = cli.fleet(word, *cli.on("web[01-02]"), "demo", "do", asked)
        assert (done.status, done.stderr) == (0, "")
        assert done.stdout.decode().count(shown) == 1
        assert b"web01" not in done.stdout
        assert not _ran(cli)
    cli.command(_MARK, effects="destroy", confirm="Sure?")
    done = cli.fleet(word, *cli.on("web[01-02]"), "demo", "do", asked)
    assert (done.status, b"usage of the script" in done.stdout) == (0, False)
    assert not _ran(cli)


def test_help_of_a_category(cli: Cli) -> None:
    cli.command(_PLAIN)
    done = cli.fleet("run", *cli.on("web01"), "demo", "--help")
    assert done.status == 0
    assert b"Usage: cli demo" in done.stdout


def test_help_beside_other_arguments_is_an_argument(cli: Cli) -> None:
    """As in a local run: declared arguments are checked, and others are passed on."""
    cli.command(_PLAIN, args=[{"name": "stage"}])
    done = cli.fleet("run", *cli.on("web01"), "demo", "do", "prod", "--help")
    assert (done.status, done.stdout) == (2, b"")
    cli.command('echo "$@"\n')
    assert (
        cli.run("web01", "demo", "do", "-h", "db").hosts()["web01"]["stdout"]
        == "-h db\n"
    )


class Project:
    """A project whose command `proj do` runs `fleet run` from the project's directory."""

    def __init__(self, cli: Cli, root: Path) -> None:
        self._cli = cli
        self.root = root
        self.trusted = {"CLI_TRUST": str(root)}

    def command(self, script: str, name: str = "main.sh", **definition: object) -> None:
        folder = self.root / ".cli" / "commands" / "proj" / "do"
        folder.mkdir(parents=True, exist_ok=True)
        defined = {
            "name": "Do",
            "description": "Do",
            "entrypoint": "main.sh",
            **definition,
        }
        (folder / "command.json").write_text(json.dumps(defined))
        (folder / name).write_text(script)

    def run(
        self, *words: str, env: dict[str, str] | None = None, word: str = "run"
    ) -> Done:
        options = (*self._cli.on("web01"), "--format", "json")
        env = self.trusted if env is None else env
        return self._cli.fleet(
            word, *options, *words, "proj", "do", env=env, cwd=self.root
        )


@pytest.fixture
def project(cli: Cli, tmp_path: Path) -> Project:
    return Project(cli, tmp_path / "project")


def test_a_command_of_a_project_runs_on_hosts(project: Project) -> None:
    project.command("echo $HOSTNAME $STAGE\n", env_files=["$PROJECT_DIR/stage.env"])
    (project.root / "stage.env").write_text("STAGE=prod\n")
    assert project.run().hosts()["web01"]["stdout"] == "web01 prod\n"


def test_a_project_that_is_not_trusted_connects_to_nobody(
    cli: Cli, project: Project
) -> None:
    project.command(_PLAIN, confirm="Sure?")
    for options in ((), ("--yes",)):
        done = project.run(*options, env={})
        assert (done.status, done.stdout) == (1, b"")
        assert "is not trusted, so its commands do not run" in done.stderr
        assert f"self trust {project.root} --yes" in done.stderr
    assert not _ran(cli)


@pytest.mark.parametrize(
    ("script", "definition", "place"),
    [
        ('rm -rf "$PROJECT_DIR/build"; echo >/opt/ran\n', {}, "main.sh"),
        (_PLAIN, {"envs": {"BUILD": "$PROJECT_DIR/build"}}, "envs: BUILD"),
    ],
)
@pytest.mark.parametrize("word", ["run", "check"])
def test_a_command_that_uses_its_project_is_refused(
    cli: Cli,
    project: Project,
    script: str,
    definition: dict[str, object],
    place: str,
    word: str,
) -> None:
    project.command(script, **definition)
    done = project.run(word=word)
    assert (done.status, done.stdout) == (2, b"")
    assert (
        f"proj do uses PROJECT_DIR ({place}), a directory that hosts do not have"
        in done.stderr
    )
    assert not _ran(cli)


def test_a_file_beside_the_script_uses_its_project(project: Project) -> None:
    project.command("print(os.environ['PROJECT_DIR'])\n", "more.py")
    project.command("true\n")
    done = project.run()
    assert (done.status, "(more.py)" in done.stderr) == (2, True)
    (project.root / ".cli/commands/proj/do/more.py").write_bytes(b"x" * 70000)
    assert project.run().status == 0


def test_an_installed_program_has_projects_of_its_own(
    cli: Cli, project: Project
) -> None:
    project.command("cd $PROJECT_DIR\n")
    program = cli.rig.machines["web01"].root / "opt" / "projects"
    program.write_text("#!/bin/sh\necho $*\n")
    program.chmod(0o755)
    done = project.run("--installed", "/opt/projects")
    assert done.hosts()["web01"]["stdout"] == "proj do\n"


def test_folders_of_path_are_not_sent(cli: Cli) -> None:
    """The neighbours that such a command calls by name are not on the hosts; help still works."""
    cli.command("echo >/opt/ran\n", path=["."])
    for word in ("run", "check"):
        done = cli.fleet(word, *cli.on("web01"), "demo", "do")
        assert (done.status, done.stdout) == (2, b"")
        expected = (
            f'cli fleet {word}: demo do: the folders of "path" are not sent to '
            "hosts; to run "
        )
        assert done.stderr.startswith(expected)
        assert done.stderr.endswith("--installed PATH\n")
    assert not _ran(cli)
    program = cli.rig.machines["web01"].root / "opt" / "paths"
    program.write_text("#!/bin/sh\necho $*\n")
    program.chmod(0o755)
    done = cli.run("web01", "--installed", "/opt/paths", "demo", "do")
    assert done.hosts()["web01"]["stdout"] == "demo do\n"

"""A program that is installed on the hosts: `--installed` runs it, `fleet check` compares it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Cli
from testing.installation import builder


@pytest.fixture
def there(cli: Cli, tmp_path: Path) -> Iterator[Cli]:
    """web01 has the local command in /opt/acme, web02 a changed one, and web03 no program."""
    cli.command(
        'echo "$COMMAND_NAME ${RANK-unset} $*"\n',
        envs={"RANK": "here"},
        env_files=[".env"],
    )
    (cli.root / "commands/demo/do/.env").write_text("SECRET=x\n")
    installed = builder(tmp_path / "there")().root
    shutil.copytree(cli.root / "commands", installed / "commands", dirs_exist_ok=True)
    for name in ("web01", "web02"):
        opt = cli.rig.machines[name].root / "opt" / "acme"
        shutil.copytree(installed, opt, symlinks=True)
    yield cli
    for name in ("web01", "web02"):
        shutil.rmtree(cli.rig.machines[name].root / "opt" / "acme")


def _edit(cli: Cli, host: str, name: str) -> None:
    file = cli.rig.machines[host].root / "opt/acme/commands/demo/do" / name
    file.write_text(file.read_text() + "\n" if file.exists() else "new\n")


def test_the_program_there_runs_with_its_own_sources(there: Cli) -> None:
    definition = (
        there.rig.machines["web01"].root / "opt/acme/commands/demo/do/command.json"
    )
    definition.write_text(definition.read_text().replace("here", "there"))
    args = ("--installed", "/opt/acme/core/cli", "demo", "do", "a b")
    done = there.run("web[01,03]", *args)
    assert done.hosts()["web01"]["stdout"] == "do there a b\n", done
    lacking = done.hosts()["web03"]
    assert (lacking["state"], lacking["reason"]) == (
        "refused",
        "there is no /opt/acme/core/cli",
    )
    mine = there.run("web01", *args, env={"RANK": "mine"})
    assert mine.hosts()["web01"]["stdout"] == "do mine a b\n"


def test_check_reports_differences(there: Cli) -> None:
    _edit(there, "web02", "main.sh")
    _edit(there, "web02", "extra.txt")
    _edit(there, "web01", ".env")
    options = (*there.on("web[01-03],down"), "--format", "json")
    done = there.fleet(
        "check", *options, "--installed", "/opt/acme/core/cli", "demo", "do"
    )
    assert done.status == 4
    assert {
        name: (result["state"], result["reason"])
        for name, result in done.hosts().items()
    } == {
        "web01": ("ok", None),
        "web02": ("failed", "differs from the local files: extra.txt, main.sh"),
        "web03": ("failed", "there is no /opt/acme/core/cli"),
        "down": ("unreachable", done.hosts()["down"]["reason"]),
    }


def test_check_runs_nothing_of_the_command(cli: Cli) -> None:
    cli.command("echo >/opt/ran-by-check\n")
    done = cli.fleet(
        *("check", *cli.on("web01,noexec,nobash,noroom,noexecs,impostor")),
        *("--format", "json", "demo", "do"),
    )
    assert done.states() == {
        **dict.fromkeys(("web01", "noexec"), "ok"),
        **dict.fromkeys(("nobash", "noroom", "noexecs"), "refused"),
        "impostor": "unreachable",
    }
    assert not (cli.rig.machines["web01"].root / "opt" / "ran-by-check").exists()


def test_check_of_elevation(cli: Cli) -> None:
    cli.command("true\n")
    done = cli.fleet("check", *cli.on("web01,nosudo"), "--become", "demo", "do")
    assert done.status == 1
    told = [
        line.split()[:2] for line in done.stderr.splitlines()[1:3]
    ]  # in the order in which hosts end
    assert sorted(told) == [["nosudo", "refused"], ["web01", "ok"]]


@pytest.mark.parametrize("words", [("fleet", "hosts"), ("demo", "do")])
def test_a_python_command_is_not_shipped(cli: Cli, words: tuple[str, ...]) -> None:
    """Whether a plugin declares it, or a command.json."""
    cli.command("true\n", entrypoint="package.module:main")
    done = cli.fleet("run", *cli.on("web01"), *words)
    assert done.status == 2
    assert done.stderr == (
        f"cli fleet run: {' '.join(words)}: a Python command cannot be shipped; "
        "to run the program that is installed on the hosts: --installed PATH\n"
    )

"""The bases of click commands: each error is one line, and an integer is the exit status."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence

import click
import pytest

from host import HostError, NotConfirmedError, OneLineCommand, OneLineGroup
from testing.installation import IMPORTABLE, Made

pytestmark = pytest.mark.usefixtures("command_forks")

CALLED = "acme deploy"


class _BusyError(click.ClickException):
    exit_code = 75


@click.command(cls=OneLineCommand)
@click.option("--jobs", type=click.IntRange(min=1), default=1)
@click.option("--region", type=click.Choice(["north", "south"]), required=True)
@click.argument("ending", required=False)
def deploy(jobs: int, region: str, ending: str | None) -> object:
    endings = {
        "file": click.FileError("a.txt", "it is empty"),
        "busy": _BusyError("another run goes on."),
        "invalid": click.UsageError("no such stage"),
        "ctrl-d": click.Abort(),
    }
    if ending in endings:
        raise endings[ending]
    if ending == "ctrl-c":
        raise KeyboardInterrupt
    return region if ending == "text" else jobs


@click.group(cls=OneLineGroup)
def machines() -> None:
    """Manage machines."""


@machines.command()
@click.option("--now", is_flag=True)
@click.argument("name")
def restart(name: str, now: bool) -> None:
    pass


@machines.command(no_args_is_help=True)
def start() -> None:
    pass


SEE = "see: acme deploy --help"
NORTH = ("--region", "north")
ERRORS = {
    "missing choice": (
        deploy,
        (),
        2,
        f"Missing option '--region'. Choose from: north, south; {SEE}",
    ),
    "wrong value": (
        deploy,
        (*NORTH, "--jobs", "0"),
        2,
        f"Invalid value for '--jobs': 0 is not in the range x>=1; {SEE}",
    ),
    "raised by the function": (
        deploy,
        (*NORTH, "invalid"),
        2,
        f"no such stage; {SEE}",
    ),
    "file": (
        deploy,
        (*NORTH, "file"),
        1,
        "Could not open file 'a.txt': it is empty",
    ),
    "status of the plugin": (deploy, (*NORTH, "busy"), 75, "another run goes on"),
    "of a subcommand": (
        machines,
        ("restart",),
        2,
        "Missing argument 'NAME'; see: acme deploy restart --help",
    ),
}


@pytest.mark.parametrize(
    ("command", "args", "status", "line"), ERRORS.values(), ids=ERRORS
)
def test_an_error_is_one_line(
    command: click.Command, args: Sequence[str], status: int, line: str
) -> None:
    with pytest.raises(HostError) as error:
        command.main([*args], CALLED)
    assert (str(error.value), error.value.status) == (line, status)


def test_a_near_name_is_suggested() -> None:
    with pytest.raises(HostError) as error:
        deploy.main(["--regio", "north"], CALLED)
    # Versions of click write the name of the option with and without quotes.
    line = str(error.value).replace("'", "").replace(":", "")
    assert line == "No such option --regio; did you mean --region?"


@pytest.mark.parametrize(
    ("args", "missing"), [((), "Missing command"), (("start",), "Missing arguments")]
)
def test_a_help_page_is_no_error(
    args: Sequence[str], missing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if not hasattr(click.exceptions, "NoArgsIsHelpError"):
        pytest.skip("this click shows the page and exits with status 0")
    with pytest.raises(HostError, match=f"^{missing}; see: acme deploy") as error:
        machines.main([*args], CALLED)
    assert error.value.status == 2
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("ask", [lambda: click.confirm("Sure?", err=True), input])
def test_ctrl_d_ends_the_line_of_the_question_once(
    ask: Callable[[], object],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    asking = OneLineCommand("ask", callback=ask)
    with pytest.raises(NotConfirmedError, match=r"^not confirmed$"):
        asking.main([], CALLED)
    shown = capsys.readouterr().err
    assert (shown.count("\n"), shown[-1:]) == (1, "\n")


def test_ctrl_d_is_no_answer_and_ctrl_c_a_signal() -> None:
    with pytest.raises(NotConfirmedError, match=r"^not confirmed$"):
        deploy.main([*NORTH, "ctrl-d"], CALLED)
    with pytest.raises(KeyboardInterrupt):
        deploy.main([*NORTH, "ctrl-c"], CALLED)


@pytest.mark.parametrize(
    ("args", "status"), [(("--jobs", "3"), 3), (("--jobs", "256"), 1), (("text",), 0)]
)
def test_an_integer_is_the_exit_status(args: Sequence[str], status: int) -> None:
    with pytest.raises(SystemExit) as ended:
        deploy.main([*NORTH, *args], CALLED)
    assert ended.value.code == status


PLUGIN = """
import click
from host import OneLineCommand

@click.command(cls=OneLineCommand)
@click.option("--jobs", type=int, default=1)
def check(jobs):
    click.echo(f"{jobs} jobs")
    return jobs
"""


def test_a_command_of_a_plugin(install: Callable[..., Made]) -> None:
    name = f"one_line_{os.getpid()}"  # each worker has its own
    file = IMPORTABLE / f"{name}.py"
    file.write_text(PLUGIN)
    definition = {"name": "Check", "description": "Check"}
    made = install(
        {
            "commands/check/command.json": {
                **definition,
                "entrypoint": f"{IMPORTABLE.name}.{name}:check",
            }
        }
    )
    try:
        assert made.run("check", "--jobs", "3").all == (3, "3 jobs\n", "")
        line = "Invalid value for '--jobs': 'x' is not a valid integer"
        see = "see: cli check --help"
        error = f"cli check: {line}; {see}\n"
        assert made.run("check", "--jobs", "x").all == (2, "", error)
    finally:
        file.unlink()

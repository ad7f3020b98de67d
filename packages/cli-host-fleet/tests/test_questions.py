"""Questions: asked once, on a terminal, before anything connects; never where nobody answers."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
from collections.abc import Mapping

import pytest

from conftest import Cli

_RAN = 'echo "$HOSTNAME got $ARG_STAGE $ARG_PIN $#"\n'
_STAGE = {"name": "stage", "required": True, "choices": ["dev", "prod"]}
_PIN = {"name": "--pin", "value": "PIN", "required": True, "secret": True}


def _answered(
    cli: Cli, argv: list[str], answers: Mapping[str, str] | None = None, **env: str
) -> tuple[int, str, str]:
    """Run `cli …` on a terminal; return the status, stdout and what the terminal showed.

    `answers` has the text to type at the end of each prompt.
    """
    left = dict(answers or {})
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        ["setsid", "--ctty", "--wait", *argv],
        env={**cli.environ(), "NO_COLOR": "1", **env},
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=terminal,
    )
    os.close(terminal)
    shown = ""
    while select.select([controller], [], [], 60)[0]:
        try:
            shown += os.read(controller, 65536).decode()
        except OSError:
            break
        for prompt in [prompt for prompt in left if shown.endswith(prompt)]:
            os.write(controller, f"{left.pop(prompt)}\n".encode())
    os.close(controller)
    printed, _ = process.communicate(timeout=60)
    return process.returncode, printed.decode(), shown


def test_yes_before_the_words_is_a_yes(cli: Cli) -> None:
    cli.command("echo ran\n", confirm="Restart?")
    words = ("--yes", "fleet", "run", *cli.on("web01"), "demo", "do")
    done = cli.installed.run(*words, env=cli.environ())
    assert (done.status, done.stdout) == (0, "web01: ran\n")


def test_ctrl_d_is_a_no(cli: Cli) -> None:
    cli.command("echo ran\n", confirm="Restart?")
    argv = cli.argv("run", *cli.on("web01"), "demo", "do")
    status, printed, shown = _answered(cli, argv, {"[y/N]: ": "\x04"})
    assert (status, printed) == (1, ""), shown
    assert shown.endswith("\ncli fleet run: error: not confirmed; nothing was run\r\n")


@pytest.mark.parametrize(
    ("env", "options"),
    [
        ({"CI": "true"}, {"confirm": "Restart?"}),
        ({"CLI_NO_INPUT": "1"}, {"args": [_STAGE]}),
    ],
)
def test_nothing_waits_where_nobody_answers(
    cli: Cli, env: dict[str, str], options: dict[str, object]
) -> None:
    cli.command(_RAN, **options)
    status, printed, _ = _answered(
        cli, cli.argv("run", *cli.on("web01"), "demo", "do"), **env
    )
    assert (status, printed) == (1 if "confirm" in options else 2, "")


def test_required_arguments_are_asked_for_once(cli: Cli) -> None:
    """A secret answer is in no argv; the answers reach every host."""
    cli.command(_RAN, args=[_STAGE, _PIN])
    argv = cli.argv("run", *cli.on("web[01-02]"), "--format", "json", "demo", "do")
    status, printed, shown = _answered(cli, argv, {"stage: ": "prod", "pin: ": "1234"})
    assert status == 0, shown
    hosts = json.loads(printed)["hosts"]
    assert [host["stdout"] for host in hosts] == [
        f"web0{n} got prod 1234 1\n" for n in (1, 2)
    ]
    assert "1234" not in shown
    assert "cli demo do prod" in shown


def test_the_default_of_a_category(cli: Cli) -> None:
    cli.command("echo ran\n")
    (cli.root / "commands/demo/category.json").write_text(
        '{"name": "Demo", "default": "do"}'
    )
    assert cli.run("web01", "demo").hosts()["web01"]["stdout"] == "ran\n"

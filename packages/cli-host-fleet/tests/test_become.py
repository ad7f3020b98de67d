"""Run as another user: with sudo without a password, with a password, and without sudo."""

from __future__ import annotations

import os
import pty
import select
import subprocess

import pytest

import rig as rigs
from conftest import Cli

_SAYS_WHO = 'echo "$(id -un) $HOME $USER $BECAME"\n'


@pytest.fixture
def deploy(cli: Cli) -> Cli:
    """web01 and web02, logged in to as `deploy`; web02's sudo asks for a password."""
    for name, rule in (("web01", "NOPASSWD: ALL"), ("web02", "ALL")):
        machine = cli.rig.machines[name]
        sudoers = machine.root / "etc" / "sudoers"
        sudoers.write_text(
            f"Defaults use_pty\ndeploy ALL=(ALL) {rule}\nroot ALL=(ALL) ALL\n"
        )
        alias = f"HostKeyAlias [127.0.0.1]:{machine.port}"
        cli.rig.describe(f"deploy-{name}", machine.port, "User deploy", alias)
    cli.command(_SAYS_WHO, envs={"BECAME": "$USER in $HOME"})
    return cli


def test_root_without_a_password(deploy: Cli) -> None:
    done = deploy.run("deploy-web01", "--become")
    assert done.hosts()["deploy-web01"]["stdout"] == "root /root root root in /root\n"


def test_another_user(deploy: Cli) -> None:
    done = deploy.run("web01", "--become-user", "deploy")
    assert done.hosts()["web01"]["stdout"].startswith(
        "deploy /home/deploy deploy deploy in "
    )


def test_a_password_is_needed_and_none_was_asked_for(deploy: Cli) -> None:
    done = deploy.run("deploy-web02", "--become")
    result = done.hosts()["deploy-web02"]
    assert (done.status, result["state"], result["reason"]) == (
        1,
        "refused",
        "sudo: a password is required",
    )


def test_there_is_no_sudo(cli: Cli) -> None:
    cli.command(_SAYS_WHO)
    result = cli.run("nosudo", "--become").hosts()["nosudo"]
    assert (result["state"], result["reason"]) == ("refused", "no sudo on this host")


@pytest.mark.parametrize(
    ("password", "expected"),
    [
        (rigs.PASSWORD, {"deploy-web01": "ok", "deploy-web02": "ok"}),
        ("mistaken", {"deploy-web01": "ok", "deploy-web02": "refused"}),
    ],
)
def test_one_password_for_all(
    deploy: Cli, password: str, expected: dict[str, str]
) -> None:
    """The password is asked for once; a host that needs no password ignores it."""
    argv = deploy.argv(
        "run", *deploy.on("deploy-web[01-02]"), "--become-ask", "demo", "do"
    )
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        ["setsid", "--ctty", *argv],
        env={**deploy.environ(), "NO_COLOR": "1"},
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=terminal,
    )
    os.close(terminal)
    assert b"password" in os.read(controller, 1000)
    os.write(controller, f"{password}\n".encode())
    printed, _ = process.communicate(timeout=120)
    said = b""
    while select.select([controller], [], [], 60)[0]:
        try:
            said += os.read(controller, 65536)
        except OSError:
            break
    os.close(controller)
    rows = [
        line.split()
        for line in said.decode().splitlines()
        if line.startswith("deploy-")
    ]
    assert {row[0]: row[1] for row in rows} == expected
    assert password.encode() not in printed + said
    assert printed.count(b"root /root") == sum(
        state == "ok" for state in expected.values()
    )


def test_there_is_no_terminal_to_ask_on(cli: Cli) -> None:
    cli.command(_SAYS_WHO)
    process = cli.start("run", *cli.on("web01"), "--become-ask", "demo", "do")
    printed, said = process.communicate(timeout=120)
    assert (process.returncode, printed) == (2, b"")
    assert said.startswith(
        b"cli fleet run: --become-ask: there is no terminal to ask on, or "
    )

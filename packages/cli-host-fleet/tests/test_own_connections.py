"""The ControlMaster of the user's own ssh_config."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import rig as rigs
from cli_host_fleet.kept_connections import kept_connections
from cli_host_fleet.ssh import UNSHARED, Calling
from cli_host_fleet.ssh_settings import Settings
from cli_host_fleet.transport import Host
from conftest import Cli

_NOTHING_HERE = "Port 1"  # so only an existing connection leads to the host


class Own:
    """A user's ssh_config with a block for `mine`, and connections that the user opened."""

    def __init__(self, cli: Cli) -> None:
        self._cli = cli
        self.directory = Path(cli.env["XDG_RUNTIME_DIR"]) / "own"
        self.directory.mkdir()
        self.path = self.directory / "mine"

    def open(self, host: str) -> None:
        """Log in as the user would, and keep the connection, whose socket is `path`."""
        config = str(self._cli.rig.ssh_config)
        argv = ["ssh", "-F", config, "-M", "-S", str(self.path), "-N", "-f", host]
        subprocess.run(argv, check=True, stderr=subprocess.DEVNULL)

    def run(self, *settings: str, options: tuple[str, ...] = ()) -> dict[str, str]:
        """Return the result of a run on `mine`, whose block has these settings."""
        lines = ["Host mine", f"ControlPath {self.path}", *settings]
        config = self.directory / "config"
        config.write_text(
            "\n  ".join(lines) + "\n" + self._cli.rig.ssh_config.read_text()
        )
        on = ("--on", "mine", "--ssh-config", str(config), "--format", "json")
        found: dict[str, str] = self._cli.fleet(
            "run", *on, *options, "demo", "do"
        ).hosts()["mine"]
        return found

    def close(self) -> None:
        argv = ["ssh", "-o", f"ControlPath={self.path}", "-O", "exit", "x"]
        subprocess.run(argv, check=False, capture_output=True)


@pytest.fixture
def own(nothing_kept: Cli) -> Iterator[Own]:
    nothing_kept.command("echo $HOSTNAME\n")
    made = Own(nothing_kept)
    yield made
    made.close()


def test_a_connection_that_the_user_opened_is_used(own: Own) -> None:
    own.open("web01")
    for settings in (
        (),
        ("ControlMaster auto",),
        ("ControlMaster auto", "ControlPersist 60"),
    ):
        assert own.run(_NOTHING_HERE, *settings)["stdout"] == "web01\n", settings
        assert own.path.exists(), "it is still the user's"


def test_a_connection_that_the_user_wants_kept(cli: Cli, own: Own) -> None:
    port = cli.rig.machines["web01"].port
    settings = ("ControlMaster auto", "ControlPersist 60")
    assert own.run(f"Port {port}", *settings)["stdout"] == "web01\n"
    assert own.run(_NOTHING_HERE, *settings)["stdout"] == "web01\n", (
        "it is at the user's path"
    )


def test_a_master_that_ends_with_its_session_is_not_made(cli: Cli, own: Own) -> None:
    port = cli.rig.machines["web01"].port
    for _ in range(2):
        assert own.run(f"Port {port}", "ControlMaster auto")["stdout"] == "web01\n"
    assert not own.path.exists()
    kept = [
        path for path in own.directory.parent.glob("cli-fleet/*") if path.is_socket()
    ]
    assert len(kept) == 1, "fleet keeps one"


def test_a_connection_whose_key_nobody_compared_is_not_used(own: Own) -> None:
    """Nor is it if --keep-connections is given, or if ssh_config does not decide who logs in."""
    own.open("web01")
    for settings, options in (
        (("StrictHostKeyChecking no",), ()),
        (("StrictHostKeyChecking accept-new",), ()),
        (("HostKeyAlias impostor",), ()),
        (("NoHostAuthenticationForLocalhost yes",), ()),
        (("VerifyHostKeyDNS yes",), ()),
        (("GSSAPIKeyExchange yes",), ()),
        ((), ("--keep-connections", "60s")),
        ((), ("--keep-connections", "0")),
        ((), ("--user", "deploy")),
    ):
        result = own.run(_NOTHING_HERE, "ControlPersist 60", *settings, options=options)
        found = (result["state"], result["stdout"])
        assert found == ("unreachable", ""), (settings, options)
    assert own.run(_NOTHING_HERE)["stdout"] == "web01\n", "it could have been used"


@pytest.mark.parametrize(
    ("path", "host", "is_used"),
    [
        ("~/%n", Host("a"), True),
        ("~/%n", Host("a", "alias", is_alias=True), True),
        ("~/%r@%n:%p", Host("a", "10.0.0.1"), False),
        ("~/%r@%h:%k", Host("a", port="22"), False),
        ("~/%h:%p", Host("a", user="deploy"), False),
        ("~/%r@%h:%p", Host("a", "10.0.0.1", "22", "deploy"), True),
        ("~/%C", Host("a", "10.0.0.1", "22", "deploy"), True),
    ],
)
def test_a_path_that_leads_only_where_fleet_connects(
    path: str,
    host: Host,
    is_used: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A path without what an inventory or `--on` sets is that of another host or user, too."""
    config = tmp_path / "config"
    config.write_text(f"Host b\nControlPath none\nHost *\nControlPath {path}\n")
    calling = Calling(str(config), follows_config=True)
    settings = Settings(calling, {})
    printed = "controlpath /x\ncontrolpersist 60\nstricthostkeychecking ask"
    monkeypatch.setattr(settings, "of_host", lambda _: printed)
    expected = [] if is_used else [*UNSHARED]
    assert kept_connections([host], calling, settings, {}) == {"a": expected}


def test_a_timeout_leaves_the_connection_of_the_user(cli: Cli, own: Own) -> None:
    own.open("web01")
    cli.command("sleep 60\n")
    assert own.run(_NOTHING_HERE, options=("--timeout", "1"))["state"] == "timeout"
    cli.command("echo there\n")
    assert own.run(_NOTHING_HERE)["stdout"] == "there\n"
    assert rigs.running(str(own.path)), "the user's ssh still runs"

"""A kept connection is used only where a new one would lead to the same host with the same trust.

Two hosts' keys are known under one alias, so ssh would accept both; only the way decides.
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from cli_host_fleet.connection_names import ConnectionNames
from cli_host_fleet.ssh import Calling
from cli_host_fleet.ssh_settings import Settings
from cli_host_fleet.transport import Host
from conftest import Cli

_FORWARD = """
import os, select, socket, sys
far = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
while True:
    for ready in select.select([0, far], [], [])[0]:
        data = os.read(ready if ready == 0 else far.fileno(), 65536)
        if not data:
            sys.exit()
        far.sendall(data) if ready == 0 else os.write(1, data)
"""


class Ways:
    """Writes ssh_config files in which `svc` leads to web01 or to web02."""

    def __init__(self, cli: Cli, directory: Path) -> None:
        self._cli = cli
        self.directory = directory
        key = f"IdentityFile {cli.rig.directory}/key"
        known_here = f"UserKnownHostsFile {cli.rig.directory}/known_hosts"
        self.everybody = f"HostName 127.0.0.1\n  User root\n  {key}\n  {known_here}"
        self.program = directory / "forward.py"
        self.program.write_text(_FORWARD)
        self.known = directory / "known_hosts"
        self.know("web01", "web02")
        cli.command("echo $HOSTNAME\n")

    def port(self, name: str) -> int:
        return self._cli.rig.machines[name].port

    def know(self, *names: str) -> None:
        """Write the known_hosts file: the alias `svc` with the keys of these machines."""
        lines = []
        for name in names:
            key = (self._cli.rig.machines[name].root / "host_key.pub").read_text()
            lines.append(f"svc {key}")
        self.known.write_text("".join(lines))

    def proxy(self, port: object) -> str:
        return f"ProxyCommand {sys.executable} {self.program} {port}"

    def config(
        self, name: str, *settings: str, more: str = "", known: Path | None = None
    ) -> Path:
        """Write a config with these settings for `svc`, and `more` blocks; return its path."""
        trusted = f'UserKnownHostsFile "{known or self.known}"'
        own = ["Host svc", *settings, "HostKeyAlias svc", trusted, self.everybody]
        path = self.directory / name
        path.write_text("\n  ".join(own) + f"\n{more}\n")
        return path

    def run(self, config: Path, env: dict[str, str] | None = None) -> str:
        """Return the host name that the command prints, or the state of the host."""
        on = ("--on", "svc", "--ssh-config", str(config), "--format", "json")
        host = self._cli.fleet("run", *on, "demo", "do", env=env).hosts()["svc"]
        return str(host["stdout"].strip() or host["state"])

    def sockets(self) -> int:
        directory = Path(self._cli.env["XDG_RUNTIME_DIR"]) / "cli-fleet"
        return sum(path.is_socket() for path in directory.iterdir())


@pytest.fixture
def ways(nothing_kept: Cli, tmp_path: Path) -> Ways:
    return Ways(nothing_kept, tmp_path)


def test_the_same_way_uses_the_kept_connection(ways: Ways) -> None:
    config = ways.config("config", ways.proxy(ways.port("web01")))
    assert [ways.run(config), ways.run(config), ways.sockets()] == ["web01", "web01", 1]


def test_another_proxy_command(ways: Ways) -> None:
    """In another file, and in the same file after an edit."""
    first = ways.config("first", ways.proxy(ways.port("web01")))
    second = ways.config("second", ways.proxy(ways.port("web02")))
    assert [ways.run(first), ways.run(second)] == ["web01", "web02"]
    ways.config("first", ways.proxy(ways.port("web02")))
    assert ways.run(first) == "web02"


def test_a_proxy_command_that_reads_a_variable(ways: Ways) -> None:
    config = ways.config("config", ways.proxy("$CLI_WAY"))
    for name in ("web01", "web02"):
        assert ways.run(config, {"CLI_WAY": str(ways.port(name))}) == name


def test_a_jump_host_that_has_moved(ways: Ways) -> None:
    """The target's own settings stay the same; those of the gateway's gateway change."""
    seen = []
    for outer in (ways.port("web04"), 1):
        config = ways.config(
            *("config", f"Port {ways.port('web01')}", "ProxyJump inner"),
            more=f"Host inner\n  Port {ways.port('web03')}\n  ProxyJump outer\n"
            f"Host outer\n  Port {outer}\nHost inner outer\n  {ways.everybody}\n",
        )
        seen.append(ways.run(config))
    assert seen == ["web01", "unreachable"]


@pytest.mark.parametrize(
    ("way", "is_ours"), [("", True), ("proxycommand x", False), ("proxyjump x", False)]
)
def test_a_name_that_has_moved(
    way: str, is_ours: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only ssh's own look-up of the name decides; a proxy has one of its own."""
    settings = Settings(Calling(), {"PATH": "/missing"})
    monkeypatch.setattr(settings, "of_gateways", lambda _: [])
    seen = set()
    for address in ("192.0.2.1", "192.0.2.2", "192.0.2.1"):
        place = (2, 1, 6, "", (address, 0))
        monkeypatch.setattr(
            socket, "getaddrinfo", lambda *_, found=place, **__: [found]
        )
        names = ConnectionNames(settings, {})
        seen.add(names.name(Host("blue"), f"hostname blue.example\n{way}"))
    assert len(seen) == (2 if is_ours else 1)


def test_a_key_that_is_no_longer_known(ways: Ways) -> None:
    config = ways.config("config", ways.proxy(ways.port("web01")))
    assert ways.run(config) == "web01"
    ways.know("web02")
    assert ways.run(config) == "unreachable"


def test_another_known_hosts_file(ways: Ways) -> None:
    """Also if its path has a space, which `ssh -G` prints as it is."""
    known = ways.directory / "known hosts"
    known.write_text(ways.known.read_text())
    config = ways.config("config", ways.proxy(ways.port("web01")), known=known)
    assert ways.run(config) == "web01"
    ways.know("web02")
    known.write_text(ways.known.read_text())
    assert ways.run(config) == "unreachable"

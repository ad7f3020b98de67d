"""How ssh is called."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from cli_host_fleet.problem import FleetError
from cli_host_fleet.ssh import (
    Calling,
    Host,
    call,
    control_directory,
    environment,
    fixed_if_known,
)


def test_what_holds_for_every_host_is_given_to_ssh() -> None:
    argv = call(Host("web01"), Calling("conf", 7), "hello")
    assert argv[-5:] == ["-F", "conf", "--", "web01", "hello"]
    for option in ("BatchMode=yes", "StrictHostKeyChecking=yes", "ForwardAgent=no",
                   "ConnectTimeout=7", "ControlMaster=no", "ControlPath=none"):  # fmt: skip
        assert f"-o{option}" in argv


def test_an_old_ssh_gets_no_option_that_it_does_not_have() -> None:
    assert fixed_if_known({"port", "stdinnull"}) == ["StdinNull=no"]


def test_what_an_inventory_says_of_a_host() -> None:
    argv = call(
        Host("a", "10.0.0.1", "2222", "admin"), Calling(), "x", ["ControlPath=/d/e8"]
    )
    for option in ("HostName=10.0.0.1", "Port=2222", "User=admin", "ControlPath=/d/e8"):
        assert f"-o{option}" in argv


def test_the_zone_of_an_address_is_no_token_of_ssh() -> None:
    assert "-oHostName=fe80::1%%eth0" in call(Host("a", "fe80::1%eth0"), Calling(), "x")


@pytest.mark.parametrize(
    "name", ["-x", ":a", "a b", "a;b", "a\nb", "$(a)", "é", "a/b", "a@b"]
)
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(FleetError):
        Host(name)
    with pytest.raises(FleetError):
        Host("a", address=name)
    with pytest.raises(FleetError):
        Host("a", user=name)


@pytest.mark.parametrize("port", ["x", "-1", "2 2", "٢"])
def test_ports_that_are_none(port: str) -> None:
    with pytest.raises(FleetError):
        Host("a", port=port)


def test_locale_stays_here() -> None:
    caller = {"LANG": "x", "LC_ALL": "y", "LANGUAGE": "z", "SSH_AUTH_SOCK": "s"}
    assert environment(caller) == {"SSH_AUTH_SOCK": "s"}


def test_the_directory_of_connections_is_private(tmp_path: Path) -> None:
    made = Path(f"/tmp/cli-fleet-d.{os.getpid()}")
    made.mkdir()
    try:
        path = control_directory({"XDG_RUNTIME_DIR": str(made)})
        assert path == f"{made}/cli-fleet"
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o700
        Path(path).chmod(0o755)
        with pytest.raises(FleetError, match="only you can enter"):
            control_directory({"XDG_RUNTIME_DIR": str(made)})
        os.rmdir(path)
        os.symlink(tmp_path, path)
        with pytest.raises(FleetError, match="only you can enter"):
            control_directory({"XDG_RUNTIME_DIR": str(made)})
        os.unlink(path)
    finally:
        made.rmdir()


@pytest.mark.parametrize("runtime", ["", "relative", "/a b", "/%h", "/" + "x" * 60])
def test_a_runtime_directory_that_ssh_could_misread(runtime: str) -> None:
    assert (
        control_directory({"XDG_RUNTIME_DIR": runtime})
        == f"/tmp/cli-fleet-{os.getuid()}"
    )

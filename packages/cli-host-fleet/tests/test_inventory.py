"""The hosts that a user can name: those of ssh_config, of groups, and of an inventory."""

from __future__ import annotations

import json
import pwd
import socket
from pathlib import Path
from types import SimpleNamespace

import pytest

from cli_host_fleet import inventory_file, ssh_config
from cli_host_fleet.problem import FleetError
from cli_host_fleet.remembered import DAEMONS, recall, remember
from conftest import Cli


def test_names_of_ssh_config(tmp_path: Path) -> None:
    more = tmp_path / "more"
    more.write_text("Host=c\nHost d e # not f\n")
    config = tmp_path / "config"
    config.write_text(
        f'Host a b *.example !x\n  HostName z\nhost "q"\nInclude {more}\nInclude {config}\n'
        "Match host m\n# Host n\n"
    )
    assert ssh_config.names(str(config)) == ["a", "b", "q", "c", "d", "e"]
    assert ssh_config.names(str(tmp_path / "missing")) == []


def test_the_home_of_ssh_is_not_that_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise fleet would offer hosts that ssh does not know."""
    for home, text in (("passwd", "Host a\nInclude more"), ("environment", "Host b")):
        (tmp_path / home / ".ssh").mkdir(parents=True)
        (tmp_path / home / ".ssh/config").write_text(text)
        (tmp_path / home / ".ssh/more").write_text("Host more")
    monkeypatch.setenv("HOME", str(tmp_path / "environment"))
    passwd = SimpleNamespace(pw_dir=str(tmp_path / "passwd"))
    monkeypatch.setattr(pwd, "getpwuid", lambda _: passwd)
    assert ssh_config.names("")[:2] == ["a", "more"]
    assert "b" not in ssh_config.names("")


def test_hosts_of_ssh_config(cli: Cli) -> None:
    shown = cli.fleet("hosts", *cli.on("web*"), "--except", "web0[3-4],web[10-20]")
    assert shown.stdout.splitlines()[:2] == [b"web01", b"web02"]
    unknown = cli.fleet("hosts", *cli.on("@no:body"))
    assert unknown.status == 2
    # The rest depends on the sources of groups that ClusterShell has on this machine.
    assert unknown.stderr.startswith("cli fleet hosts: @no:body: no such group, or ")


def test_all_are_the_hosts_that_ssh_config_names(cli: Cli) -> None:
    """The example groups in ClusterShell's package are ignored."""
    assert cli.fleet("hosts", *cli.on("@all&web[01-02]")).stdout == b"web01\nweb02\n"
    assert b"example" not in cli.fleet("hosts", *cli.on("@all")).stdout


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[" * 100_000, "not the JSON of ansible-inventory --list: maximum recursion"),
        ("[]", "expected an object of groups"),
        ("#!/bin/sh\nexit 3\n", "--list: ended with status 3"),
        ("#!/bin/sh\nyes\n", "--list: printed more than 99 bytes"),
        ("x" * 100, "more than 99 bytes"),
    ],
)
def test_a_file_that_is_no_inventory(
    content: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "99" in said:
        monkeypatch.setattr(inventory_file, "_MOST_BYTES", 99)
    file = tmp_path / "inventory"
    file.write_text(content)
    file.chmod(0o755 if content.startswith("#!") else 0o644)
    with pytest.raises(FleetError, match=said):
        inventory_file.read_inventory(str(file), "")


@pytest.mark.parametrize("content", ["[]", "{}", '{"hosts": 1}', "x"])
def test_a_damaged_list_of_failed_hosts(content: str, tmp_path: Path) -> None:
    file = tmp_path / "failed.json"
    file.write_text(content)
    with pytest.raises(FleetError, match="damaged"):
        recall(str(file), {})


@pytest.mark.parametrize(
    ("host", "origin", "said"),
    [
        ("docker:db", {}, "another DOCKER_HOST; export DOCKER_HOST=tcp://one"),
        ("docker:db", {"DOCKER_HOST": "tcp://two"}, "another DOCKER_HOST; export "),
        ("kube:prod/db", {"KUBECONFIG": "x"}, "another KUBECONFIG; unset KUBECONFIG"),
        ("docker:db", {"DOCKER_HOST": "tcp://one", "KUBECONFIG": "x"}, ""),
        ("podman:db", {"DOCKER_HOST": "tcp://two"}, ""),
        ("db", {}, ""),
    ],
)
def test_the_failed_hosts_of_another_daemon(
    host: str, origin: dict[str, str], said: str, tmp_path: Path
) -> None:
    file = str(tmp_path / "failed.json")
    remember(file, [host], {"DOCKER_HOST": "tcp://one"})
    origin = {**dict.fromkeys(DAEMONS, ""), **origin}
    if said:
        with pytest.raises(FleetError, match=said):
            recall(file, origin)
    else:
        assert recall(file, origin) == [host]


def test_groups_of_clustershell(cli: Cli) -> None:
    settings = cli.home / ".config" / "clustershell"
    settings.mkdir(parents=True)
    (settings / "groups.conf").write_text("[Main]\ndefault: here\nautodir: $CFGDIR\n")
    (settings / "here.yaml").write_text("here:\n  front: 'web[01-02]'\n")
    assert cli.fleet("hosts", *cli.on("@front!web01")).stdout == b"web02\n"


@pytest.mark.parametrize("executable", [False, True])
def test_an_inventory_reaches_its_hosts(cli: Cli, executable: bool) -> None:
    """The inventory is a file or a program, and sets the address, the port and the user."""
    port = cli.rig.machines["web02"].port
    own = {
        "ansible_host": "127.0.0.1",
        "ansible_ssh_host": "",
        "ansible_port": port,
        "ansible_user": "deploy",
        "X": 1,
    }
    listing = {"app": {"hosts": ["app1"]}, "_meta": {"hostvars": {"app1": own}}}
    file = cli.root / "inventory"
    file.write_text(json.dumps(listing))
    if executable:
        file.rename(cli.root / "inventory.json")
        file.write_text(
            f'#!/bin/sh\n[ "$*" = --list ] && cat {cli.root}/inventory.json\n'
        )
        file.chmod(0o755)
    cli.command('echo "$X $(id -un) $HOSTNAME"\n')
    alias = f"HostKeyAlias [127.0.0.1]:{port}"
    config = cli.root / "ssh_config"
    config.write_text(f"Host app1\n{alias}\n{cli.rig.ssh_config.read_text()}")
    options = (
        "--inventory",
        str(file),
        "--ssh-config",
        str(config),
        "--format",
        "json",
    )
    done = cli.fleet("run", "--on", "@app", *options, "demo", "do")
    assert done.hosts()["app1"]["stdout"] == "1 deploy web02\n", done
    shown = cli.fleet("hosts", "--on", "*", *options)
    assert shown.hosts() == {
        "app1": {
            "host": "app1",
            "address": "127.0.0.1",
            "user": "deploy",
            "variables": ["X"],
        }
    }
    beside = cli.fleet("run", "--on", "web01", *options, "demo", "do")
    assert beside.stderr == "cli fleet run: web01: not in the inventory\n"


def test_settings_of_ansible_that_have_no_effect(cli: Cli) -> None:
    """A warning names each ignored setting of the selected hosts once."""
    keys = (
        "become",
        "ssh_private_key_file",
        "ssh_common_args",
        "connection",
        "password",
        "x",
    )
    own = {f"ansible_{key}": "1" for key in keys} | {
        "ansible_port": 22,
        "ansible_ssh_user": "me",
    }
    listing = {
        "app": {"hosts": ["app1", "app2"], "vars": {"ansible_connection": "ssh"}},
        "_meta": {"hostvars": {"app1": own}},
    }
    file = cli.root / "hosts.json"
    file.write_text(json.dumps(listing))
    told = cli.fleet("hosts", "--on", "@app", "--inventory", str(file))
    assert (told.status, told.stdout) == (0, b"app1\napp2\n")
    assert told.stderr == (
        f"cli fleet hosts: warning: {file}: ignored: ansible_become, ansible_connection, "
        "ansible_password, ansible_ssh_common_args, ansible_ssh_private_key_file and 1 more; "
        "set the connection in ssh_config, and the command's user with --become-user\n"
    )
    shown = cli.fleet("hosts", "--on", "app2", "--inventory", str(file))
    assert "ignored: ansible_connection; " in shown.stderr


def test_who_logs_in(cli: Cli) -> None:
    """The login is the user before `@`, or `-l`, or, for `@failed`, the user of the last run."""
    machine = cli.rig.machines["web01"]
    cli.rig.describe("plain", machine.port, f"HostKeyAlias [127.0.0.1]:{machine.port}")
    cli.command("id -un; exit 1\n")
    for on, options in (
        ("deploy@plain", ()),
        ("plain", ("-l", "deploy")),
        ("@failed", ()),
    ):
        assert cli.run(on, *options).hosts()["plain"]["stdout"] == "deploy\n"
    assert cli.run("@failed", "--user", "root").hosts()["plain"]["stdout"] == "root\n"
    wrong = cli.run("plain", "-l", "-x")
    assert (wrong.status, "cannot be the name of a host or a user" in wrong.stderr) == (
        2,
        True,
    )


def test_an_ipv6_address(cli: Cli) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("no IPv6 here")
    machine = cli.rig.add("six", settings="ListenAddress ::1")
    alias = f"HostKeyAlias [127.0.0.1]:{machine.port}"
    cli.rig.describe("::1", machine.port, "HostName ::1", alias)
    cli.rig.start(machine.name)
    cli.command("echo $HOSTNAME\n")
    assert cli.run("::1").hosts()["::1"]["stdout"] == "six\n"
    assert cli.fleet("run", *cli.on("root@[::1]"), "demo", "do").stdout == b"::1: six\n"
    cli.rig.describe("six-by-name", machine.port, alias)
    listing = {
        "six-by-name": {"ansible_host": "::1"},
        "far": {"ansible_host": "fe80::1%lo", "ansible_port": 1},
    }
    file = cli.root / "hosts.json"
    file.write_text(json.dumps({"_meta": {"hostvars": listing}}))
    done = cli.run("six-by-name,far", "--inventory", str(file)).hosts()
    assert done["six-by-name"]["stdout"] == "six\n"
    assert "host fe80::1%lo port 1" in done["far"]["reason"]

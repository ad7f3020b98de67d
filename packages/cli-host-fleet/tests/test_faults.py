"""Faults of hosts, networks and commands, each over a real sshd."""

from __future__ import annotations

import base64
import hashlib
import os
import resource
import socket
from pathlib import Path

import pytest

import rig as rigs
from cli_host_fleet.fleet import make_room
from conftest import AT_THE_GATE, FULL, SHELLS, Cli

_UNREACHABLE = {
    "down": "Connection refused",
    "unknown": "Could not resolve hostname nowhere.invalid",
    "stranger": "No ED25519 host key is known for stranger ",
    "impostor": "Host key for impostor has changed ",
}
_REFUSED = {
    "nobash": "no bash on this host",
    "noroom": "cannot unpack the files to ",
    "noexecs": "/tmp is mounted noexec, and /root cannot be used instead: ",
}


@pytest.mark.parametrize(
    ("reasons", "state", "status"),
    [(_UNREACHABLE, "unreachable", 4), (_REFUSED, "refused", 1)],
    ids=["unreachable", "refused"],
)
def test_hosts_that_cannot(
    cli: Cli, reasons: dict[str, str], state: str, status: int
) -> None:
    """A host's fault is reported in one line; the command does not start there, but elsewhere."""
    mark = cli.rig.machines["web03"].root / "opt" / "ran"
    cli.command("echo >/opt/ran\n")
    done = cli.run(",".join(["web01", *reasons]))
    assert (done.status, done.stderr) == (status, "")
    assert done.states() == {"web01": "ok", **dict.fromkeys(reasons, state)}
    for host, reason in reasons.items():
        found = done.hosts()[host]
        assert reason in found["reason"]
        assert (found["status"], found["stdout"]) == (None, "")
    assert not mark.exists()


@pytest.mark.parametrize("user", ["root", "deploy"])
def test_tmp_mounted_noexec(cli: Cli, user: str) -> None:
    """HOME replaces /tmp: it holds the script, its helper and its files until the run ends."""
    cli.command(
        '#!/bin/bash\nset -e\n"$CLI_DIR/commands/demo/do/tool" "$1" $(cat)\n'
        '[[ $0 == "$CLI_DIR"/* && -d $LIB_DIR ]]\nlog_info found\n',
    )
    folder = cli.root / "commands" / "demo" / "do"
    (folder / "main.sh").chmod(0o755)
    (folder / "tool").write_text('#!/bin/sh\necho "$@"\n')
    (folder / "tool").chmod(0o755)
    (cli.root / "in").write_text("read")
    options = ("--become-user", user, "--stdin", str(cli.root / "in"))
    result = cli.run("noexec", *options, "demo", "do", "a&b").hosts()["noexec"]
    assert (result["status"], result["stdout"]) == (0, "a&b read\n"), result
    root = cli.rig.machines["noexec"].root
    homes = [
        path.name
        for home in ("root", "home/deploy")
        for path in (root / home).iterdir()
    ]
    assert [name for name in homes if "cli-fleet" in name] == []


def test_an_installed_program_needs_no_exec_in_tmp(cli: Cli) -> None:
    cli.command("true\n")
    program = cli.rig.machines["noexecs"].root / "opt" / "program"
    program.write_text("#!/bin/sh\necho there\n")
    program.chmod(0o755)
    done = cli.run("noexecs", "--installed", "/opt/program", "demo", "do")
    assert done.hosts()["noexecs"]["stdout"] == "there\n"


@pytest.mark.parametrize("keep", ["1h", "0"])
def test_an_impostor_runs_nothing_whatever_ssh_config_says(
    cli: Cli, tmp_path: Path, keep: str
) -> None:
    """An impostor runs nothing over a connection kept for the real host of the same address."""
    cli.keep = keep
    cli.command("true\n")
    assert cli.run("web03").status == 0
    machine = cli.rig.machines["web03"]
    mark = machine.root / "opt" / "ran"
    # `changed` has no HostKeyAlias: with one, ssh ignores NoHostAuthenticationForLocalhost.
    key = (cli.rig.machines["web04"].root / "host_key.pub").read_text()
    known = tmp_path / "known_hosts"
    known.write_text(f"[127.0.0.1]:{machine.port} {key}")
    lax = tmp_path / "lax"
    lax.write_text(
        "StrictHostKeyChecking no\nNoHostAuthenticationForLocalhost yes\n"
        "VerifyHostKeyDNS yes\nCheckHostIP no\n"
        f"Host changed\n  Port {machine.port}\n  UserKnownHostsFile {known}\n"
        f"{cli.rig.ssh_config.read_text()}"
    )
    cli.command("echo >/opt/ran\n")
    on = ("--on", "impostor,changed", "--ssh-config", str(lax))
    done = cli.fleet("run", *on, "--format", "json", "demo", "do")
    assert done.states() == {"changed": "unreachable", "impostor": "unreachable"}
    assert not mark.exists()


def test_settings_of_ssh_that_would_lose_the_command(cli: Cli, tmp_path: Path) -> None:
    """Those that take stdin or the session away, go to the background, or print."""
    config = tmp_path / "config"
    config.write_text(
        "StdinNull yes\nSessionType none\nForkAfterAuthentication yes\n"
        "RemoteCommand echo other\nRequestTTY force\nLogLevel DEBUG3\n"
        "LogVerbose *:1000\nVisualHostKey yes\nTunnel yes\nAddKeysToAgent ask\n"
        f"{cli.rig.ssh_config.read_text()}"
    )
    cli.command("cat; echo $HOSTNAME\n")
    (tmp_path / "in").write_text("in ")
    cli.keep = "0"
    on = ("--on", "web01", "--ssh-config", str(config), "--format", "json")
    done = cli.fleet("run", *on, "--stdin", str(tmp_path / "in"), "demo", "do")
    result = done.hosts()["web01"]
    found = (result["state"], result["stdout"], result["stderr"])
    assert found == ("ok", "in web01\n", "")


def test_a_gateway_that_cannot(cli: Cli) -> None:
    """ssh drops the output of a gateway's ssh if the connection is to be kept."""
    cli.command("true\n")
    hosts = cli.run("behind,beyond", "--keep-connections", "0").hosts()
    for host, reason in (
        ("behind", "ssh: connect to host 127.0.0.1 port "),
        ("beyond", "channel 0: open failed: connect failed: Connection refused"),
    ):
        assert hosts[host]["state"] == "unreachable"
        assert reason in hosts[host]["reason"]


def test_a_black_hole(cli: Cli) -> None:
    """The host accepts the connection and sends nothing."""
    with socket.socket() as hole:
        hole.bind(("127.0.0.1", 0))
        hole.listen()
        cli.rig.describe("hole", hole.getsockname()[1])
        cli.command("echo hi\n")
        assert cli.run("web01").status == 0  # so that its connection is there already
        done = cli.run("web01,hole", "--connect-timeout", "3", "--retries", "1")
    assert done.states() == {"web01": "ok", "hole": "unreachable"}
    assert "timed out" in done.hosts()["hole"]["reason"]
    assert [(name, result["attempts"]) for name, result in done.hosts().items()] == [
        ("hole", 2),
        ("web01", 1),
    ]


def test_other_login_shells(cli: Cli) -> None:
    shells = [os.path.basename(shell) for shell in SHELLS]
    present = [shell for shell in shells if shell in cli.rig.machines]
    if not present:
        pytest.skip(f"{', '.join(shells)} are missing")
    cli.command('printf "%s|" "$@"\n')
    words = ("a b", "!x", "$HOME", "", "\\", "DIR/x", "é")
    done = cli.run(",".join(present), "demo", "do", *words)
    assert {name: result["stdout"] for name, result in done.hosts().items()} == (
        dict.fromkeys(present, "a b|!x|$HOME||\\|DIR/x|é|")
    )


def test_a_login_that_prints(cli: Cli) -> None:
    """The output of a banner or an rc file is not mistaken for the command's output."""
    cli.command("pwd; echo oh >&2\n")
    result = cli.run("noisy").hosts()["noisy"]
    assert (result["state"], result["stdout"], result["stderr"]) == (
        "ok",
        "/opt\n",
        "oh\n",
    )


@pytest.mark.parametrize(
    ("script", "state", "status", "reason"),
    [
        ("exit 255", "failed", 255, None),
        ("kill -9 $$", "failed", 137, "killed by SIGKILL"),
        ("kill -TERM $$", "failed", 143, "killed by SIGTERM"),
        ("exec >&-; exec 2>&-; exit 4", "failed", 4, None),
        ("exec <&- >&- 2>&-; sleep 0.2", "ok", 0, None),
        ("[[ -z $(cat) ]] || exit 9", "ok", 0, None),
        ("sleep 30 & exit 0", "ok", 0, None),
        ("no-such-program", "failed", 127, None),
        ("(sleep 0.5; kill -CONT $$) & kill -STOP $$; exit 5", "failed", 5, None),
        ("exit 148", "failed", 148, None),  # 128 + SIGTSTP, which kills nothing
    ],
)
def test_how_a_command_ends(
    cli: Cli, script: str, state: str, status: int, reason: str | None
) -> None:
    cli.command(f"#!/usr/bin/env bash\n{script}\n")
    done = cli.run("web01")
    result = done.hosts()["web01"]
    assert (result["state"], result["status"], result["reason"]) == (
        state,
        status,
        reason,
    )
    assert done.status == (0 if state == "ok" else 1)
    assert cli.rig.machines["web01"].leftovers() == []


def test_bytes_arrive_intact(cli: Cli) -> None:
    cli.command(
        "head -c 70000 /dev/urandom | tee /opt/sent; printf '\\r\\036x\\n\\377' >&2\n"
    )
    result = cli.run("web01").hosts()["web01"]
    sent = (cli.rig.machines["web01"].root / "opt" / "sent").read_bytes()
    assert base64.b64decode(result["stdout_base64"]) == sent
    assert base64.b64decode(result["stderr_base64"]) == b"\r\x1ex\n\xff"
    text = cli.fleet("run", *cli.on("web01"), "demo", "do").stdout
    sent = (cli.rig.machines["web01"].root / "opt" / "sent").read_bytes()
    whole = sent if sent.endswith(b"\n") else sent + b"\n"
    assert text == b"".join(
        b"web01: " + line + b"\n" for line in whole[:-1].split(b"\n")
    )


def test_a_long_line_is_whole_and_holds_nobody_up(cli: Cli) -> None:
    """A line of 4 MB: lines of other hosts come before it, and none interrupts it."""
    half = cli.rig.machines["web01"].root / "opt" / "half-a-line"
    half.unlink(missing_ok=True)
    gates = [cli.gate(host) for host in ("web01", "web02")]
    cli.command(
        f"[[ $HOSTNAME == web01 ]] || {{ {AT_THE_GATE}; echo short; exit; }}\n"
        f"head -c 2000000 /dev/zero | tr '\\0' x; >/opt/half-a-line; {AT_THE_GATE}\n"
        "head -c 2000000 /dev/zero | tr '\\0' y\n"
    )
    process = cli.start("run", *cli.on("web[01-02]"), "demo", "do")
    assert process.stdout is not None
    rigs.wait_for(half.exists, "the first half is written")
    gates[1].touch()
    assert process.stdout.readline() == b"web02: short\n"
    gates[0].touch()
    line = b"web01: " + b"x" * 2000000 + b"y" * 2000000 + b"\n"
    assert process.communicate(timeout=120)[0] == line


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_flood_does_not_fill_memory(cli: Cli, form: str, tmp_path: Path) -> None:
    """Megabytes from a host arrive complete in a controller whose memory is limited."""
    megabytes, limit = (100, 64 << 20) if FULL else (24, 48 << 20)
    cli.command(f"yes 0123456789abcde | head -c {megabytes}000000\n")
    with (tmp_path / "out").open("wb") as out:
        process = cli.lead(
            *("run", *cli.on("web01"), "--format", form, "demo", "do"),
            stdout=out,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)),
        )
        _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    content = (tmp_path / "out").read_bytes()
    line = b"0123456789abcde" + (b"\\n" if form == "json" else b"\n")
    assert content.count(line) == megabytes * 1000000 // 16
    if form == "text":
        expected = b"web01: 0123456789abcde\n" * (megabytes * 1000000 // 16)
        assert hashlib.sha256(content).digest() == hashlib.sha256(expected).digest()


def test_no_more_hosts_at_once_than_open_files_allow() -> None:
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_NOFILE, (90, 90))
        os._exit(make_room(1000))
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 5


def test_a_flood_of_one_host_does_not_hold_up_another(cli: Cli) -> None:
    """The other host's output arrives during the flood, which ends only afterwards."""
    gates = [cli.gate(host) for host in ("web01", "web02")]
    cli.command(
        f"[[ $HOSTNAME == web02 ]] && {{ {AT_THE_GATE}; echo through; exit; }}\n"
        f"yes & {AT_THE_GATE}; kill $!\n"
    )
    process = cli.start("run", *cli.on("web[01-02]"), "demo", "do")
    assert process.stdout is not None
    assert process.stdout.readline() == b"web01: y\n"
    gates[1].touch()
    assert b"web02: through\n" in iter(process.stdout.readline, b"")
    gates[0].touch()
    process.communicate(timeout=120)
    assert process.returncode == 0


def test_a_name_that_is_an_option(cli: Cli) -> None:
    cli.command("echo hi\n")
    inventory = cli.root / "hosts.json"
    inventory.write_text(
        '{"all": {"hosts": ["x"]}, "_meta": {"hostvars": {"x": '
        '{"ansible_host": "-oProxyCommand=touch /tmp/owned"}}}}'
    )
    done = cli.fleet("run", "--on", "x", "--inventory", str(inventory), "demo", "do")
    assert done.status == 2
    assert "cannot be the name of a host" in done.stderr
    assert not Path("/tmp/owned").exists()
    assert rigs.running("ProxyCommand=touch") == []

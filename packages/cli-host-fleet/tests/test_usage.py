"""Usage errors, completion by Tab, and why sudo failed."""

from __future__ import annotations

import json

import pytest
from click.shell_completion import ShellComplete

from cli_host_fleet.check import check_hosts
from cli_host_fleet.run import run_on_hosts
from conftest import Cli


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "demo", "do"), "Missing option '--on'; see: cli fleet run --help"),
        (
            ("run", "--on", "web01"),
            "Missing argument 'WORDS...'; see: cli fleet run --help",
        ),
        (("run", "--on", "web01", "--serail", "1"), "; did you mean --serial or"),
        (
            ("run", "--on", "web01", "--serial", "0", "demo", "do"),
            "'0': must be at least 1",
        ),
        (
            ("run", "--on", "web01", "--serial", "0%", "demo", "do"),
            "'0%': must be at least 1",
        ),
        (("run", "--on", "web01", "--forks", "0", "demo", "do"), "--forks"),
        (
            ("hosts", "--on", "a", "--on", "b"),
            "--on: given 2 times; give it once, with all",
        ),
        (("hosts", "--on", "a", "-l", "b", "--user", "c"), "--user: given 2 times"),
        (("hosts", "--on", "a", "--inventory", ""), "--inventory: must not be empty"),
        (("hosts",), "Missing option '--on'; see: cli fleet hosts --help"),
        (
            ("check", "--on", "web01", "--format", "xml", "demo", "do"),
            "'xml' is not one of",
        ),
    ],
)
def test_a_usage_error_is_one_line(cli: Cli, words: tuple[str, ...], said: str) -> None:
    cli.command("true\n")
    done = cli.fleet(*words)
    assert (done.status, done.stdout) == (2, b"")
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith(f"cli fleet {words[0]}: ")
    assert said in done.stderr


def test_no_host_may_fail(cli: Cli) -> None:
    cli.command("false\n")
    done = cli.run("web[01-02]", "--forks", "1", "--max-fail", "0")
    assert done.states() == {"web01": "failed", "web02": "skipped"}


@pytest.mark.parametrize(
    ("rule", "user", "reason"),
    [
        ("deploy ALL=(ALL NOPASSWD: ALL", "root", "syntax error"),
        ("deploy ALL=(ALL) NOPASSWD: ALL", "nosuch", "sudo: unknown user nosuch"),
        (
            "deploy ALL=(ALL) NOPASSWD: /bin/true",
            "root",
            "sudo: a password is required",
        ),
        ("", "root", "sudo: a password is required"),
    ],
)
def test_why_sudo_failed(cli: Cli, rule: str, user: str, reason: str) -> None:
    """The noise of the login before it is not the reason."""
    machine = cli.rig.machines["noisy"]
    (machine.root / "home/deploy/.bashrc").write_text("echo loud >&2\n")
    (machine.root / "etc/sudoers").write_text(
        f"Defaults use_pty\n{rule}\nroot ALL=(ALL) ALL\n"
    )
    cli.command("true\n")
    host = cli.run("deploy@noisy", "--become-user", user).hosts()["noisy"]
    (machine.root / "etc/sudoers").write_text("Defaults use_pty\nroot ALL=(ALL) ALL\n")
    assert host["state"] == "refused"
    assert reason in host["reason"]
    assert "loud" not in host["reason"]


def _offered(command: object, args: list[str], typed: str) -> list[str]:
    complete = ShellComplete(command, {}, "cli", "_CLI_COMPLETE")  # type: ignore[arg-type]
    return [item.value for item in complete.get_completions(args, typed)]


def test_tab_after_on(cli: Cli) -> None:
    """Hosts and groups, also at the end of a set that is begun."""
    config = ["--ssh-config", str(cli.rig.ssh_config), "--on"]
    assert _offered(run_on_hosts, config, "web0")[:4] == [
        "web01",
        "web02",
        "web03",
        "web04",
    ]
    assert _offered(run_on_hosts, config, "web01,db@web0")[:2] == [
        "web01,db@web01",
        "web01,db@web02",
    ]
    assert _offered(check_hosts, config, "web01!@fa") == ["web01!@failed"]
    assert "docker:" in _offered(run_on_hosts, config, "")
    file = cli.root / "hosts.json"
    hosts = {"app1": {"ZONE": "a"}}
    listed = {"app": {"hosts": ["app1"]}, "_meta": {"hostvars": hosts}}
    file.write_text(json.dumps(listed))
    words = ["--inventory", str(file), "--on"]
    assert _offered(run_on_hosts, words, "") == [
        *("app1", "docker:", "podman:", "kube:"),
        *("@all", "@failed", "@app"),
    ]
    assert _offered(run_on_hosts, words, "@a") == ["@all", "@app"]
    assert _offered(run_on_hosts, ["--inventory", "/missing", "--on"], "") == []


def test_tab_after_the_options(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The words of commands, then the arguments that the command declares."""
    stage = {"name": "stage", "choices": ["dev", "prod"]}
    cli.command("true\n", args=[stage, {"name": "--fast"}])
    cli.command("true\n", "demo hello")
    for name, value in {
        **cli.env,
        "HOME": str(cli.home),
        "CLI_DIR": str(cli.root),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("COMMAND_CATEGORY", "fleet")
    monkeypatch.setenv("COMMAND_NAME", "run")
    options = ["--on", "web01"]
    assert _offered(run_on_hosts, options, "de") == ["demo"]
    assert _offered(run_on_hosts, [*options, "demo"], "he") == ["hello"]
    assert _offered(run_on_hosts, [*options, "demo", "do"], "") == ["dev", "prod"]
    assert "self" not in _offered(run_on_hosts, options, "")

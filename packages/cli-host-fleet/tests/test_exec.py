"""`fleet exec`: words as they are typed, or a line of shell, without a command of the program."""

from __future__ import annotations

import json

import pytest

from conftest import Cli, Done


def _exec(cli: Cli, on: str, *words: str, env: dict[str, str] | None = None) -> Done:
    return cli.fleet("exec", *cli.on(on), "--format", "json", *words, env=env)


def test_words_are_passed_on_as_typed(cli: Cli) -> None:
    """No shell expands them, and options after the first word are the program's."""
    words = ("printf", "%s|", "$HOME", "*", "a b", "-l", "--on", "", "'")
    for typed in (words, ("--", *words)):
        done = _exec(cli, "web[01-02]", *typed)
        assert done.status == 0, done.stderr
        assert done.outputs() == ["$HOME|*|a b|-l|--on||'|"] * 2


def test_a_line_of_shell(cli: Cli) -> None:
    done = _exec(
        cli, "web01", "--shell", 'echo "$HOSTNAME $1" | tr a-z A-Z; exit 3', "me you"
    )
    host = done.hosts()["web01"]
    assert (host["stdout"], host["state"], host["status"]) == (
        "WEB01 ME YOU\n",
        "failed",
        3,
    )
    assert done.status == 1


@pytest.mark.parametrize(
    ("words", "state", "status", "reason"),
    [
        (("no-such-program",), "failed", 127, None),
        (("/no/such/program",), "refused", None, "there is no /no/such/program"),
        (("false",), "failed", 1, None),
        (("--", "-a", "sh", "true"), "refused", None, "-a is not a program"),
        # Nothing asks a question, but scripts give --yes to `run` and `exec` alike.
        (("--yes", "--", "true"), "ok", 0, None),
        (
            ("--", "echo $((1+1))"),
            *("failed", 127, "not a program; for a line of shell: --shell"),
        ),
    ],
)
def test_how_it_ends(
    cli: Cli, words: tuple[str, ...], state: str, status: int | None, reason: str | None
) -> None:
    host = _exec(cli, "web01", *words).hosts()["web01"]
    assert (host["state"], host["status"], host["reason"]) == (state, status, reason)


def test_nothing_to_run_is_one_line(cli: Cli) -> None:
    done = cli.fleet("exec", *cli.on("web01"))
    assert (done.status, done.stdout) == (2, b"")
    assert done.stderr == (
        "cli fleet exec: name a program to run, or give a line with --shell\n"
    )


def test_its_options_are_those_of_a_run(cli: Cli) -> None:
    (cli.root / "in").write_text("piped")
    options = (
        "--become-user",
        "deploy",
        "--stdin",
        str(cli.root / "in"),
        "--env",
        "MINE",
    )
    done = _exec(
        cli,
        "web01",
        *options,
        "--shell",
        'echo "$(id -un) $(cat) $MINE"',
        env={"MINE": "x"},
    )
    assert done.hosts()["web01"]["stdout"] == "deploy piped x\n"
    shown = cli.fleet(
        "exec", *cli.on("down,web01"), "--serial", "1", "--dry-run", "uptime", "-p"
    )
    assert shown.status == 0
    assert b"command    uptime -p\nbatch 1    down\nbatch 2    web01\n" in shown.stdout
    assert _exec(cli, "down,web01", "true").states() == {
        "down": "unreachable",
        "web01": "ok",
    }
    assert _exec(cli, "@failed", "true").states() == {"down": "unreachable"}


def _inventory(cli: Cli, **variables: object) -> tuple[str, str]:
    file = cli.root / "hosts.json"
    hosts = {"web01": variables, "web02": {"ZONE": "south"}}
    file.write_text(
        json.dumps({"all": {"hosts": [*hosts]}, "_meta": {"hostvars": hosts}})
    )
    return ("--inventory", str(file))


def test_variables_of_the_inventory(cli: Cli) -> None:
    """All but those for connections; or only those that are named, whatever they are."""
    options = _inventory(
        cli, ZONE="north", ROLE="db", ansible_port="1", ansible_my="here"
    )
    options = (*options, "--ssh-config", str(cli.rig.ssh_config))
    shell = ("--shell", 'echo "${ZONE-} ${ROLE-} ${ansible_my-}"')
    listing = json.loads((cli.root / "hosts.json").read_text())
    del listing["_meta"]["hostvars"]["web01"]["ansible_port"]
    (cli.root / "hosts.json").write_text(json.dumps(listing))

    def printed(*more: str, env: dict[str, str] | None = None) -> list[str]:
        words = (
            "exec",
            "--on",
            "web[01-02]",
            *options,
            "--format",
            "json",
            *more,
            *shell,
        )
        hosts = cli.fleet(*words, env=env).hosts()
        return [str(host["stdout"]) for host in hosts.values()]

    assert printed() == ["north db \n", "south  \n"]
    named = ("--env-from-inventory", "ZONE", "--env-from-inventory", "ansible_my")
    assert printed(*named) == ["north  here\n", "south  \n"]
    assert printed(*named, env={"ZONE": "mine"}) == ["mine  here\n", "mine  \n"], (
        "the caller's wins"
    )
    words = ("exec", "--on", "web01", *options, "--env-from-inventory", "NOPE", "true")
    assert cli.fleet(*words).stderr.splitlines()[-1] == (
        "cli fleet exec: --env-from-inventory NOPE: no host has this variable"
    )


def test_a_command_gets_only_the_variables_that_are_named(cli: Cli) -> None:
    options = _inventory(cli, ZONE="north", ROLE="db")
    cli.command('echo "$ZONE ${ROLE-none}"\n', envs={"ZONE": "from envs"})
    done = cli.run("web01", *options, "--env-from-inventory", "ROLE")
    assert done.hosts()["web01"]["stdout"] == "from envs db\n"
    done = cli.run("web01", *options, "--env-from-inventory", "ZONE")
    assert done.hosts()["web01"]["stdout"] == "north none\n"


def test_an_address_of_the_inventory_that_is_an_alias(cli: Cli) -> None:
    """ssh_config says where it leads, whatever it has for the inventory's name."""
    file = cli.root / "hosts.json"
    hosts = {
        name: {"ansible_host": alias}
        for name, alias in (("app", "web02"), ("web01", "web02"), ("web03", "web03"))
    }
    file.write_text(
        json.dumps({"all": {"hosts": [*hosts]}, "_meta": {"hostvars": hosts}})
    )
    on = "app,web01,web03"
    done = _exec(cli, on, "--inventory", str(file), "--shell", "echo $HOSTNAME")
    assert done.outputs() == ["web02\n", "web02\n", "web03\n"]

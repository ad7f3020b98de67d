"""The variables that reach a command on a host, and the origin of their values."""

from __future__ import annotations

import json

import pytest

from conftest import Cli

_SHOW = 'for name in "$@"; do printf "%s=%s\\n" "$name" "${!name-unset}"; done\n'


def _seen(cli: Cli, *words: str, env: dict[str, str] | None = None) -> dict[str, str]:
    options, names = words[: words.index("demo") + 2], words[words.index("demo") + 2 :]
    done = cli.run("web01", *options, *names, env=env)
    assert done.states() == {"web01": "ok"}, done
    return dict(
        line.split("=", 1) for line in done.hosts()["web01"]["stdout"].splitlines()
    )


@pytest.fixture
def ranked(cli: Cli) -> Cli:
    """TIMEOUT is 60 in envs, 30 in settings.conf, 40 in .env, 50 in the inventory."""
    cli.command(
        _SHOW,
        envs={"TIMEOUT": "60", "PLACE": "$USER@$HOSTNAME:$HOME"},
        env_files=[".env"],
    )
    (cli.root / "commands/demo/do/.env").write_text(
        "TIMEOUT=40\nONLY_FILE='a b'\nWEAK=file\n"
    )
    (cli.root / "config/settings.conf").write_text("TIMEOUT=30\nWEAK=settings\n")
    hosts = {
        "web01": {
            "ansible_host": "127.0.0.1",
            "TIMEOUT": 50,
            "ZONE": "north",
            "no-name": 1,
        }
    }
    listing = {"all": {"hosts": ["web01"]}, "_meta": {"hostvars": hosts}}
    (cli.root / "inventory.json").write_text(json.dumps(listing))
    return cli


@pytest.mark.parametrize("caller", [None, "90", "60", "30", ""])
def test_the_worked_case(ranked: Cli, caller: str | None) -> None:
    """The caller's value is never changed, even if it is empty or equal to another one."""
    env = {} if caller is None else {"TIMEOUT": caller}
    expected = "60" if caller is None else caller
    assert _seen(ranked, "demo", "do", "TIMEOUT", env=env) == {"TIMEOUT": expected}


def test_the_inventory_stands_just_below_the_caller(ranked: Cli) -> None:
    inventory = ("--inventory", str(ranked.root / "inventory.json"))
    seen = _seen(ranked, *inventory, "demo", "do", "TIMEOUT", "ZONE", "ansible_host")
    assert seen == {"TIMEOUT": "50", "ZONE": "north", "ansible_host": "unset"}
    seen = _seen(ranked, *inventory, "demo", "do", "TIMEOUT", env={"TIMEOUT": "90"})
    assert seen == {"TIMEOUT": "90"}


def test_weaker_sources_and_the_hosts_own_facts(ranked: Cli) -> None:
    seen = _seen(
        ranked, "demo", "do", "WEAK", "ONLY_FILE", "PLACE", "HOME", "COMMAND_NAME"
    )
    assert seen == {
        "WEAK": "settings",
        "ONLY_FILE": "a b",
        "PLACE": "root@web01:/root",
        "HOME": "/root",
        "COMMAND_NAME": "do",
    }


def test_a_host_and_an_inventory_choose_nothing_on_this_machine(cli: Cli) -> None:
    """settings.conf and the paths of env_files get the caller's variables and the name in --on."""
    cli.rig.describe(
        "alias",
        (port := cli.rig.machines["web02"].port),
        f"HostKeyAlias [127.0.0.1]:{port}",
    )
    files = ("$HOSTNAME.env", "$HOME/at-home.env", "$ZONE.env", "$FROM_FILE.env")
    cli.command(
        _SHOW, env_files=list(files), envs={"THERE": "$HOME:$HOSTNAME:$ZONE:$FROM_FILE"}
    )
    folder = cli.root / "commands/demo/do"
    (folder / "alias.env").write_text("NAMED=alias\nFROM_FILE=$HOSTNAME:$ZONE\n")
    for name in ("web02", "north", "web02:north", "alias:"):
        (folder / f"{name}.env").write_text(f"NAMED={name}\n")
    (cli.home / "at-home.env").write_text("MINE=$HOME\n")
    (cli.root / "config/settings.conf").write_text(
        'HERE="$HOME:$HOSTNAME:${ZONE-unset}"\n'
    )
    variables = {"alias": {"ZONE": "north"}}
    listing = {"all": {"hosts": ["alias"]}, "_meta": {"hostvars": variables}}
    inventory = cli.root / "hosts.json"
    inventory.write_text(json.dumps(listing))
    done = cli.run(
        "alias",
        "--inventory",
        str(inventory),
        *("demo", "do", "HERE", "THERE", "NAMED", "MINE"),
    )
    assert done.outputs() == [
        f"HERE={cli.home}:alias:unset\nTHERE=/root:web02:north:web02:north\n"
        "NAMED=alias:\nMINE=/root\n"
    ]


def test_the_callers_own_travel_only_when_named(ranked: Cli) -> None:
    env = {"MINE": "x", "OTHER": "y", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
    names = ("MINE", "OTHER", "LC_ALL")
    unsent = {"MINE": "unset", "OTHER": "unset", "LC_ALL": "unset"}
    assert _seen(ranked, "demo", "do", *names, env=env) == unsent
    sent = _seen(ranked, "--env", "MINE", "demo", "do", *names, env=env)
    assert sent == unsent | {"MINE": "x"}


def test_a_variable_that_is_required(cli: Cli) -> None:
    cli.command(_SHOW, required_envs=["TOKEN"])
    done = cli.run("web01")
    assert (done.status, done.hosts()["web01"]["reason"]) == (1, "TOKEN must be set")
    assert _seen(cli, "demo", "do", "TOKEN", env={"TOKEN": "t"}) == {"TOKEN": "t"}


def test_a_required_variable_with_a_hint_and_a_type(cli: Cli) -> None:
    entry = {"name": "PORT", "type": "port", "hint": "ask the network team"}
    cli.command(_SHOW, required_envs=[entry])
    missing = cli.run("web01").hosts()["web01"]["reason"]
    assert missing == "PORT must be set; ask the network team"
    wrong = cli.run("web01", env={"PORT": "0"}).hosts()["web01"]["reason"]
    assert wrong == "PORT must be a port from 1 to 65535; ask the network team"
    assert _seen(cli, "demo", "do", "PORT", env={"PORT": "8080"}) == {"PORT": "8080"}


def test_a_dry_run_reports_a_missing_variable_as_a_run_does(cli: Cli) -> None:
    inventory = cli.root / "hosts.json"
    inventory.write_text(
        '{"all": {"hosts": ["web01", "web02"]}, "_meta": {"hostvars": {"web01": {"TOKEN": "t"}}}}'
    )
    cli.command(_SHOW, required_envs=["HOSTNAME", {"name": "TOKEN", "hint": "ask Ada"}])
    dry = ("run", "--inventory", str(inventory), "--dry-run", "--on")
    done = cli.fleet(*dry, "web01,web02", "demo", "do")
    assert (done.status, done.stdout) == (1, b"")
    assert done.stderr == "cli fleet run: web02: TOKEN must be set; ask Ada\n"
    assert cli.fleet(*dry, "web01", "demo", "do").status == 0


@pytest.mark.parametrize(
    "defined",
    [{"secrets": {"PORT": "run:echo 80"}}, {"env_files": ["run:echo PORT=80"]}],
    ids=lambda defined: next(iter(defined)),
)
def test_a_dry_run_does_not_refuse_an_unresolved_secret(
    cli: Cli, defined: dict[str, object]
) -> None:
    cli.command(_SHOW, required_envs=[{"name": "PORT", "type": "port"}], **defined)
    done = cli.run("web01", "--dry-run", "demo", "do", "PORT")
    assert (done.status, done.stderr) == (0, "")
    assert _seen(cli, "demo", "do", "PORT") == {"PORT": "80"}


def test_an_argument_from_the_callers_variable(cli: Cli) -> None:
    stage = {"name": "stage", "required": True, "env": "STAGE"}
    cli.command(
        _SHOW,
        args=[{"name": "names..."}, {"name": "--stage", "value": "S", "env": "STAGE"}],
    )
    seen = _seen(cli, "demo", "do", "ARG_STAGE", "STAGE", env={"STAGE": "prod"})
    assert seen == {"ARG_STAGE": "prod", "STAGE": "prod"}
    cli.command(_SHOW, args=[stage])
    assert cli.run("web01", "demo", "do").status == 2


def test_a_secret_argument_is_in_no_preview(cli: Cli) -> None:
    cli.command(
        _SHOW,
        args=[{"name": "--pin", "value": "PIN", "secret": True}, {"name": "x..."}],
        required_envs=[{"name": "DEMO", "secret": True}],
    )
    words = ("--pin=hunter2", "t0k3n", "e=s3cr3t", "a-hunter2")
    secrets = {"API_TOKEN": "t0k3n", "DEMO": "s3cr3t"}
    shown = cli.fleet(
        *("run", *cli.on("web01"), "--dry-run", "demo", "do", *words), env=secrets
    )
    assert shown.status == 0, shown.stderr
    assert b"demo do --pin=******** ******** e=******** a-********\n" in shown.stdout


def test_values_with_anything_in_them(cli: Cli) -> None:
    value = "a\nb 'c' \"d\" $(e) `f` \\ \t é "
    cli.command('printf %s "$VALUE"\n', envs={"VALUE": "x"})
    done = cli.run("web01", env={"VALUE": value})
    assert done.hosts()["web01"]["stdout"] == value


def test_declared_arguments_are_checked_here_and_set_there(cli: Cli) -> None:
    cli.command(_SHOW, args=[{"name": "names..."}, {"name": "--force"}])
    seen = _seen(cli, "demo", "do", "ARG_FORCE", "ARG_NAMES_COUNT")
    assert seen == {"ARG_FORCE": "false", "ARG_NAMES_COUNT": "2"}
    wrong = cli.run("web01", "demo", "do", "--farce")
    assert (wrong.status, wrong.stdout) == (2, b"")
    assert "--force" in wrong.stderr


def test_core_lib_is_loaded_and_leaves_no_trace(cli: Cli) -> None:
    cli.command(
        'log_info hi\necho "$LIB_DIR" "${BASH_ENV-none}" "${CLI_HOST_INIT-none}" "$0"\n'
        "get_config_field name\n[[ -d $LIB_DIR ]]\n"
    )
    result = cli.run("web01").hosts()["web01"]
    assert result["state"] == "ok", result
    library, none, nothing, script = result["stdout"].splitlines()[0].split()
    assert library == script.replace("/commands/demo/do/main.sh", "/core/lib")
    assert (none, nothing) == ("none", "none")
    assert "[INFO]" in result["stderr"]

"""The transports of containers, with stand-ins for docker, podman and kubectl.

The stand-ins run a shell of this machine where the programs would run one in a container, in a
home directory of its own. Their errors and exit statuses are those that the programs document.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from cli_host_fleet.containers import place_of
from cli_host_fleet.problem import FleetError
from cli_host_fleet.transport import Host
from conftest import Cli, Done

# docker and podman: `exec` ends with 126 if the program cannot be invoked, with 127 if it is not
# found, and with the program's own status otherwise; podman's own errors give 125, docker's 1.
_DOCKER = r"""#!/bin/bash
printf '%s\n' "$*" >>"$LOG"
case $1 in
ps) printf '%s\n' web_1 web_2 db bare ending ;;
exec)
  shift 2
  [[ $1 != --user ]] || { user=$2; shift 2; }
  name=$1; shift
  case $name in
  web_1 | web_2 | db) ;;
  bare) echo 'OCI runtime exec failed: exec: "sh": executable file not found' >&2; exit 127 ;;
  *) echo "Error response from daemon: No such container: $name" >&2; exit 1 ;;
  esac
  mkdir -p "$PLACES/$name"
  export HOME=$PLACES/$name USER=${user:-root}
  exec env -i PATH="${APPLETS:-$PATH}" HOME="$HOME" USER="$USER" NAME="$name" "$@" ;;
esac
"""
# kubectl exec: the status of the program in the container, or 1 for an error of its own.
_KUBECTL = r"""#!/bin/bash
printf '%s\n' "$*" >>"$LOG"
case $1 in
get) [[ $* == *"--namespace prod"* ]] || exit 0
  [[ $* == *--selector=app=web* ]] && printf 'pod/%s\n' web-7d-x1 web-7d-x2
  [[ $* == *--selector=\ * ]] && printf 'pod/%s\n' web-7d-x1 web-7d-x2 db-0
  exit 0 ;;
exec)
  shift 2; [[ $1 == --namespace ]] && shift 2
  name=$1; shift 2
  error="Error from server (NotFound): pods \"$name\" not found"
  [[ $name == web-* ]] || { echo "$error" >&2; exit 1; }
  echo 'Defaulted container "app" out of: app, sidecar' >&2
  mkdir -p "$PLACES/$name"
  exec env -i PATH="$PATH" HOME="$PLACES/$name" NAME="$name" "$@" ;;
esac
"""


@pytest.fixture
def places(cli: Cli, tmp_path: Path) -> Cli:
    """An installation that finds the stand-ins on PATH."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, text in (("docker", _DOCKER), ("podman", _DOCKER), ("kubectl", _KUBECTL)):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    cli.env["PATH"] = f"{tools}:{os.environ['PATH']}"
    cli.env["LOG"] = str(tmp_path / "log")
    cli.env["PLACES"] = str(tmp_path / "places")
    cli.command('echo "$NAME $USER ${HOME##*/} $X"\n', envs={"X": "x in $HOME"})
    return cli


def _run(cli: Cli, on: str, *words: str) -> Done:
    options = words or ("demo", "do")
    return cli.fleet("run", "--on", on, "--format", "json", *options)


@pytest.mark.parametrize("program", ["docker", "podman"])
def test_a_command_in_containers(places: Cli, program: str) -> None:
    done = _run(places, f"{program}:web_*")
    assert done.status == 0, done
    home = Path(places.env["PLACES"])
    assert {name: host["stdout"] for name, host in done.hosts().items()} == {
        name: f"{name} root {name} x in {home / name}\n" for name in ("web_1", "web_2")
    }
    # ClusterShell's groups name hosts, not containers.
    settings = places.home / ".config" / "clustershell"
    settings.mkdir(parents=True)
    (settings / "groups.conf").write_text("[Main]\nautodir: $CFGDIR\n")
    (settings / "here.yaml").write_text("here: {all: 'host[1-2]', front: host1}\n")
    for left_out in ("db,bare,ending", f"{program}:db,bare,ending"):
        listed = places.fleet("hosts", "--on", f"{program}:@all", "--except", left_out)
        assert listed.stdout == b"web_1\nweb_2\n"
    elsewhere = ("--on", f"{program}:@all", "--except", "kube:prod/db")
    assert places.fleet("hosts", *elsewhere).status == 2
    assert "@front: no such group" in _run(places, f"{program}:@front").stderr


def test_a_container_that_has_only_busybox(places: Cli, tmp_path: Path) -> None:
    """Its `head` and `tar` read more of a pipe than they need, and it has no bash."""
    busybox = shutil.which("busybox")
    if busybox is None:
        pytest.skip("busybox is missing")
    applets = tmp_path / "applets"
    applets.mkdir()
    subprocess.run([busybox, "--install", "-s", applets], check=True)
    places.env["APPLETS"] = str(applets)
    places.command('#!/bin/sh\necho "$1 $X $(cat)"\n', envs={"X": "it's"})
    (places.root / "commands/demo/do/main.sh").chmod(0o755)
    (places.root / "in").write_bytes(b"x" * 100_000)
    done = _run(
        places, "docker:db", "--stdin", str(places.root / "in"), "demo", "do", "é"
    )
    assert done.hosts()["db"]["stdout"] == f"é it's {'x' * 100_000}\n", done


def test_a_user_in_a_container(places: Cli) -> None:
    for on, options in (("docker:me@db", ()), ("docker:db", ("-l", "me"))):
        done = _run(places, on, *options, "demo", "do")
        assert done.hosts()["db"]["stdout"].startswith("db me db ")


def test_containers_that_cannot(places: Cli) -> None:
    done = _run(places, "docker:ending,bare,db")
    assert (done.status, done.states()) == (
        4,
        {"bare": "refused", "db": "ok", "ending": "unreachable"},
    )
    reasons = {name: host["reason"] for name, host in done.hosts().items()}
    assert reasons["ending"] == "Error response from daemon: No such container: ending"
    assert reasons["bare"].startswith("no sh on this host: OCI runtime exec failed: ")


def test_the_containers_that_failed(places: Cli) -> None:
    """`@failed` is where the last run was."""
    places.command("[[ $NAME != web_2 ]]\n")
    assert _run(places, "docker:web_*").status == 1
    assert _run(places, "@failed").states() == {"web_2": "failed"}
    wrong = _run(places, "podman:@failed")
    assert (wrong.status, "the last run was not in podman:" in wrong.stderr) == (
        2,
        True,
    )


def test_pods_by_label(places: Cli) -> None:
    done = _run(places, "kube:prod/app=web,tier=front")
    assert [*done.hosts()] == ["web-7d-x1", "web-7d-x2"]
    assert {host["state"] for host in done.hosts().values()} == {"ok"}
    assert done.hosts()["web-7d-x1"]["stderr"] == ""
    calls = Path(places.env["LOG"]).read_text().splitlines()
    assert calls[0].startswith(
        "get pods --namespace prod --field-selector=status.phase=Running"
    )
    assert any(
        call.startswith("exec -i --namespace prod web-7d-x1 -- sh -c") for call in calls
    )
    places.command("false\n")
    assert _run(places, "kube:prod/app=web").status == 1
    assert _run(places, "@failed").states() == dict.fromkeys(
        ["web-7d-x1", "web-7d-x2"], "failed"
    )


@pytest.mark.parametrize(
    ("on", "said"),
    [
        ("kube:prod", "--on kube:prod: expected kube:NAMESPACE/SELECTOR"),
        ("kube:prod/ ", "--on kube:prod/ : expected kube:NAMESPACE/SELECTOR"),
        ("kube:prod/@failed_disks", "selects no running pod"),
        ("kube:-x/app=web", "--on kube:-x/app=web: '-x' is not a namespace"),
        ("kube:prod/app=none", "--on kube:prod/app=none: selects no running pod"),
        ("@failed_disks", "@failed_disks: no such group"),
        ("docker:nope*", "--on docker:nope*: "),
        # docker would run it in a container whose ID begins so
        ("docker:d,web_1", "docker:d is not running; to leave it out: --except d"),
    ],
)
def test_sets_that_cannot_be(places: Cli, on: str, said: str) -> None:
    done = _run(places, on)
    assert (done.status, done.stdout) == (2, b"")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_options_of_ssh_have_no_effect(places: Cli) -> None:
    done = places.fleet("run", "--on", "docker:db", "--ssh-config", "x", "demo", "do")
    assert done.stderr == "cli fleet run: --ssh-config: has no effect on docker:db\n"
    done = places.fleet("run", "--on", "kube:prod/app=web", "-l", "me", "demo", "do")
    assert (done.status, "kubectl cannot choose the user" in done.stderr) == (2, True)


def test_a_program_that_is_missing(places: Cli) -> None:
    done = places.fleet(
        "run", "--on", "docker:db", "demo", "do", env={"PATH": "/missing"}
    )
    assert done.status == 127
    expected = "docker is not installed or not on PATH; install docker"
    assert done.stderr == f"cli fleet run: {expected}\n"


def test_a_timeout_in_a_container_leaves_nothing(places: Cli) -> None:
    mark = f"82{os.getpid()}"
    places.command(
        f"trap '' TERM; echo up; sleep {mark} & sleep {mark}; sleep {mark}\n"
    )
    done = _run(places, "docker:db", "--timeout", "1", "demo", "do")
    assert done.states() == {"db": "timeout"}
    running = subprocess.run(
        ["pgrep", "-f", f"sleep {mark}"], capture_output=True, check=False
    )
    assert running.stdout == b""


def test_the_history_has_the_place(places: Cli) -> None:
    places.command("true\n")
    assert _run(places, "docker:db").status == 0
    shown = places.installed.run("self", "history", "--format", "json")
    [run] = json.loads(shown.stdout)["runs"]
    assert run["hosts"][0]["host"] == "docker:db"


def test_places() -> None:
    assert place_of("web01") == ("", "web01")
    assert place_of("docker:web_*,db") == ("docker:", "web_*,db")
    assert place_of("kube:a-b/x=y,z") == ("kube:a-b/", "x=y,z")
    with pytest.raises(FleetError):
        Host("-x", place="docker:")

"""The history has one record of a run on many hosts, with the result of each."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from typing import Any

from conftest import Cli


def _history(cli: Cli) -> list[dict[str, Any]]:
    done = cli.installed.run("self", "history", "--format", "json")
    runs: list[dict[str, Any]] = json.loads(done.stdout)["runs"]
    return runs


def test_a_run_is_recorded_once(cli: Cli) -> None:
    pin = {"name": "--pin", "value": "PIN", "secret": True}
    cli.command(
        "[[ $HOSTNAME != web02 ]] || exit 3\n",
        args=[{"name": "stage"}, pin],
        secrets={"TOKEN": "run:echo t0k3n-here"},
    )
    # Nothing records the words of `fleet run`, too.
    config = cli.root / "core" / "cli.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "record": True}))
    words = ("demo", "do", "prod", "--pin=hunter2")
    done = cli.run("web[01-02],down", *words, env={"CLI_RECORD": "1"})
    assert done.status == 4
    (run,) = _history(cli)
    assert (run["words"], run["arguments"]) == (
        ["demo", "do"],
        ["prod", "--pin=********"],
    )
    assert (run["origin"], run["status"], run["signal"]) == ("fleet", 4, 0)
    hosts = {host["host"]: (host["state"], host["status"]) for host in run["hosts"]}
    assert hosts == {
        "down": ("unreachable", None),
        "web01": ("ok", 0),
        "web02": ("failed", 3),
    }
    everything = subprocess.run(
        ["grep", "-rE", "hunter2|t0k3n", cli.home], capture_output=True, check=False
    )
    assert everything.stdout == b""


def test_the_other_words_are_recorded(cli: Cli) -> None:
    inventory = cli.root / "hosts.json"
    variables = {"DB_PASSWORD": "hunter2", "ansible_become_password": "s3cr3t"}
    hosts = {"all": {"hosts": ["web01"]}, "_meta": {"hostvars": {"web01": variables}}}
    inventory.write_text(json.dumps(hosts))
    words = ("exec", *cli.on("web01"), "--inventory", str(inventory))
    words = (*words, "--", "true", "-phunter2", "s3cr3t")
    assert cli.fleet(*words, env={"CLI_RECORD": "1"}).status == 0
    (run,) = _history(cli)
    assert run["words"] == ["fleet", "exec"]
    assert run["arguments"][-4:] == ["--", "true", "-p********", "********"]


def test_a_dry_run_and_a_forbidden_record_leave_none(cli: Cli) -> None:
    cli.command("true\n")
    assert cli.run("web01", "--dry-run", "demo", "do").status == 0
    config = cli.root / "core" / "cli.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "record": False}))
    assert cli.run("web01").status == 0
    assert _history(cli) == []


def test_an_interrupted_run(cli: Cli) -> None:
    cli.command("echo up; sleep 60\n")
    process = cli.lead("run", *cli.on("web01"), "demo", "do")
    assert process.stdout is not None
    assert process.stdout.readline() == b"web01: up\n"
    os.kill(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    (run,) = _history(cli)
    assert [host["state"] for host in run["hosts"]] == ["interrupted"]
    assert run["signal"] == signal.SIGINT


def test_an_installed_program_does_not_record_the_run_again(cli: Cli) -> None:
    cli.command("true\n")
    program = cli.rig.machines["web01"].root / "opt" / "told"
    program.write_text("#!/bin/sh\necho ${CLI_RECORDED%%:*} $TRACEPARENT\n")
    program.chmod(0o755)
    trace = {"TRACEPARENT": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
    done = cli.run("web01", "--installed", "/opt/told", "demo", "do", env=trace)
    (run,) = _history(cli)
    said = f"{run['id']} {trace['TRACEPARENT']}\n"  # the trace of this run, too
    assert done.hosts()["web01"]["stdout"] == said

"""What a script gets from an assistant's call is what it gets from a shell (Linux)."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest
from mcp.client.stdio import get_default_environment

from conftest import MODES, connected, made
from testing.probe import SCRIPT, STATUS, read_report, variables

ARGUMENTS = ["a b", "two\nlines", "", "x=-y", "$HOME", "ü*"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize(
    "keys",
    [{}, {"record": True, "timeout": "10m", "exclusive": True}],
    ids=["plain", "all"],
)
def test_what_a_script_gets(tmp_path: Path, keys: dict[str, object]) -> None:
    cli = made(tmp_path)
    # The client adds these to the server's environment.
    cli.env = {**get_default_environment(), "HOME": str(cli.home)}
    words = [{"name": "words...", "passthrough": True}]
    cli.command("app probe", SCRIPT, effects="read", args=words, envs={"A": "b"})
    done = cli.run("app", "probe", *ARGUMENTS)
    assert done.returncode == STATUS
    plain = read_report(cli.home)

    cli.command(
        "app probe", SCRIPT, effects="read", args=words, envs={"A": "b"}, **keys
    )
    cli.command("app end", "echo before; kill -TERM $$; sleep 9\n", **keys)
    with connected(cli, next(iter(MODES))) as assistant:
        ended = assistant.call("app__end")
        answer = assistant.call("app__probe", words=ARGUMENTS)
    assert ended.blocks == ["before\n", "killed by signal 15, Terminated"]
    assert f"exit status {STATUS}" in answer.text
    called = read_report(cli.home)

    # The differences, each with its exact value: a process group and session of its own, no
    # terminal, the id of the recorded run in CLI_RUN, and the lock of an exclusive run.
    process = called.pop("process")
    was = plain.pop("process")
    if not keys:
        assert called.pop("group") == b"%s %s 0 -1\n" % (process, process)
    else:
        assert called.pop("group").endswith(b" 0 -1\n")
    del plain["group"]

    shown = cli.run("self", "history", "--format", "json")
    run, before = json.loads(shown.stdout)["runs"]
    assert (before["words"], before["signal"]) == (["app", "end"], 15)
    chain = variables(plain["environment"])[b"CLI_RUN"]
    with_id = chain + b"::" + run["id"].encode()
    for name in ("environment", "exported"):
        plain[name] = plain[name].replace(
            b"CLI_RUN=%s\0" % chain, b"CLI_RUN=%s\0" % with_id
        )
    plain["environment"] = plain["environment"].replace(
        b"CLI_HOST_INIT=%s:" % was, b"CLI_HOST_INIT=%s:" % process
    )
    for report in (plain, called):
        # The client decides the order of the variables.
        report["environment"] = b"\0".join(sorted(report["environment"].split(b"\0")))
        report["descriptors"] = re.sub(rb"pipe:\[\d+\]", b"pipe", report["descriptors"])
    if keys:
        [lock] = cli.home.glob(".local/state/cli-host/locks/*/command app probe")
        rows = [b"101 %s" % os.fsencode(lock), *plain["descriptors"].splitlines()]
        plain["descriptors"] = b"".join(sorted(row + b"\n" for row in rows))
        rows = called["descriptors"].splitlines()
        called["descriptors"] = b"".join(sorted(row + b"\n" for row in rows))
    for name in plain.keys() | called.keys():
        assert (name, called.get(name)) == (name, plain.get(name))

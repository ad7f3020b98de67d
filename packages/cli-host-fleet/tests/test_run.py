"""`fleet run` as a user types it, over real sshd."""

from __future__ import annotations

import json

from conftest import AT_THE_GATE, Cli


def test_output_by_line_with_its_host_and_a_table(cli: Cli) -> None:
    cli.command(
        'echo "hi $1 from $HOSTNAME"; echo oh >&2; [[ $HOSTNAME != web02 ]] || exit 3\n'
    )
    done = cli.fleet("run", *cli.on("web[01-03]"), "demo", "do", "you there")
    assert done.status == 1
    assert sorted(done.stdout.splitlines()) == [
        b"web01: hi you there from web01",
        b"web02: hi you there from web02",
        b"web03: hi you there from web03",
    ]
    lines = done.stderr.splitlines()
    assert sorted(lines[:3]) == ["web01: oh", "web02: oh", "web03: oh"]
    assert [line.split()[:3] for line in lines[3:6]] == [
        ["HOST", "STATE", "STATUS"],
        ["web01", "ok", "0"],
        ["web02", "failed", "3"],
    ]
    assert lines[-1].startswith("3 hosts in ")
    assert lines[-1].endswith(" s: 2 ok, 1 failed")


def test_json_has_an_object_for_each_host(cli: Cli) -> None:
    cli.command("printf 'a\\nb'; printf x >&2\n")
    done = cli.run("web[01-02]")
    assert (done.status, done.stderr) == (0, "")
    assert set(done.hosts()) == {"web01", "web02"}
    result = done.hosts()["web01"]
    assert 0 < result.pop("seconds") < 300
    assert result == {
        "host": "web01",
        "state": "ok",
        "status": 0,
        "attempts": 1,
        "reason": None,
        "stdout": "a\nb",
        "stderr": "x",
    }


def test_json_lines_come_as_hosts_end(cli: Cli) -> None:
    gate = cli.gate("web01")
    cli.command(f"[[ $HOSTNAME == web02 ]] || {AT_THE_GATE}\necho $HOSTNAME\n")
    process = cli.start("run", *cli.on("web[01-02]"), "--format", "jsonl", "demo", "do")
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["host"] == "web02"
    gate.touch()
    assert json.loads(process.communicate(timeout=60)[0])["host"] == "web01"

"""Batches, the number of hosts that may fail, retries, and the hosts of `@failed`."""

from __future__ import annotations

import itertools

import pytest

from cli_host_fleet.rollout import Amount, batches, failures_allowed
from conftest import Cli

_HOSTS = [f"h{number}" for number in range(1, 8)]


@pytest.mark.parametrize(
    ("serial", "sizes"),
    [
        (None, [7]),
        ("3", [3, 3, 1]),
        ("30%", [2, 2, 2, 1]),
        ("1%", [1] * 7),
        ("0", [1] * 7),
    ],
)
def test_batches(serial: str | None, sizes: list[int]) -> None:
    found = list(batches(_HOSTS, Amount.parse(serial) if serial else None))
    assert [len(batch) for batch in found] == sizes
    assert [host for batch in found for host in batch] == _HOSTS


@pytest.mark.parametrize(
    ("most", "serial", "allowed"),
    [
        (None, None, 10),
        (None, "2", 0),
        ("3", None, 3),
        ("25%", "2", 2),
        ("100%", "1", 10),
    ],
)
def test_failures_allowed(most: str | None, serial: str | None, allowed: int) -> None:
    amounts = [Amount.parse(text) if text else None for text in (most, serial)]
    assert failures_allowed(amounts[0], amounts[1], 10) == allowed


@pytest.mark.parametrize("text", ["", "x", "-1", "101%", "1.5", "%", "٣"])
def test_no_amount(text: str) -> None:
    with pytest.raises(ValueError, match="%"):
        Amount.parse(text)


def test_a_rolling_run_stops_at_the_first_batch_that_fails(cli: Cli) -> None:
    cli.command("[[ $HOSTNAME != web02 ]]\n")
    done = cli.run("web[01-04]", "--serial", "2")
    assert done.status == 1
    assert done.states() == {
        "web01": "ok",
        "web02": "failed",
        "web03": "skipped",
        "web04": "skipped",
    }
    assert done.hosts()["web03"]["reason"] == "too many hosts failed before this one"
    assert done.hosts()["web03"]["attempts"] == 0
    again = cli.run("@failed", "--serial", "50%", "--max-fail", "1")
    assert again.states() == {"web02": "failed", "web03": "ok", "web04": "ok"}
    # Elsewhere, web02 may be another machine.
    elsewhere = cli.fleet("hosts", "--on", "@failed")
    assert (elsewhere.status, elsewhere.stderr) == (
        2,
        "cli fleet hosts: @failed: the last run had another ssh-config; "
        f"give --ssh-config {cli.rig.ssh_config}\n",
    )


def test_no_two_of_a_rolling_run_at_once(cli: Cli) -> None:
    cli.command("date +%s%N; sleep 0.2; date +%s%N\n")
    done = cli.run("web[01-03]", "--serial", "1")
    spans = sorted(
        tuple(map(int, result["stdout"].split())) for result in done.hosts().values()
    )
    assert all(first[1] < second[0] for first, second in itertools.pairwise(spans))


def test_forks_are_a_limit(cli: Cli) -> None:
    cli.command("date +%s%N; sleep 0.2; date +%s%N\n")
    done = cli.run("web[01-04]", "--forks", "2")
    spans = [
        tuple(map(int, result["stdout"].split())) for result in done.hosts().values()
    ]
    for start, _ in spans:
        assert sum(begin <= start < end for begin, end in spans) <= 2


def test_only_what_was_out_of_reach_is_tried_again(cli: Cli) -> None:
    cli.command("echo x >>/opt/tries; exit 1\n")
    done = cli.run("web01,down", "--retries", "2")
    assert {name: result["attempts"] for name, result in done.hosts().items()} == {
        "web01": 1,
        "down": 3,
    }
    tries = cli.rig.machines["web01"].root / "opt" / "tries"
    assert tries.read_text() == "x\n"
    tries.unlink()


def test_nothing_failed(cli: Cli) -> None:
    cli.command("true\n")
    missing = cli.fleet("run", *cli.on("@failed"), "demo", "do")
    assert (missing.status, missing.stderr) == (
        2,
        "cli fleet run: @failed: there is no last run, or it has not ended\n",
    )
    assert cli.run("web01").status == 0
    none = cli.fleet("run", *cli.on("@failed"), "demo", "do")
    assert none.stderr == "cli fleet run: @failed: no host failed in the last run\n"

    # What failed before a run that was killed is not what failed in the last run.
    cli.command("echo up; sleep 60\n")
    process = cli.lead("run", *cli.on("web01"), "demo", "do")
    assert process.stdout is not None
    assert process.stdout.readline() == b"web01: up\n"
    process.kill()
    process.communicate(timeout=60)
    assert cli.fleet("run", *cli.on("@failed"), "demo", "do").stderr == missing.stderr

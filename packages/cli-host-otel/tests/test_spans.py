"""What a collector gets of a run, and what a run notices of a collector that fails."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from cli_host_otel.span import send_span
from conftest import Cli, Collector
from host import FinishedRun, OperationError

_TRACE = "0af7651916cd43dd8448eb211c80319c"
_PARENT = "b7ad6b7169203331"
_SAMPLED = f"00-{_TRACE}-{_PARENT}-01"
_ERROR = 2  # STATUS_CODE_ERROR
_INTERNAL = 1  # SPAN_KIND_INTERNAL


def test_the_span_of_a_run(cli: Cli, collector: Collector) -> None:
    pin = {"name": "--pin", "value": "PIN", "secret": True}
    cli.script("deploy app", "sleep 0.3; exit 3", args=[{"name": "where"}, pin])
    before = time.time_ns()
    done = cli.run("deploy", "app", "staging", "--pin", "4711")
    assert (done.status, done.stdout, done.stderr) == (3, "", "")
    [received] = collector.received
    span = received.span
    assert collector.paths == ["/v1/traces"]
    assert (span.name, span.kind, span.parent_span_id) == (
        "acme deploy app",
        _INTERNAL,
        b"",
    )
    assert (span.status.code, span.status.message) == (_ERROR, "exit status 3")
    assert (
        before - 10**9
        < span.start_time_unix_nano
        < span.end_time_unix_nano
        < time.time_ns()
    )
    assert 0.3e9 <= span.end_time_unix_nano - span.start_time_unix_nano < 30e9
    attributes = received.attributes
    assert attributes.pop("process.pid") > 1
    assert attributes.pop("process.owner")
    assert len(attributes.pop("cli_host.run.id")) == 12
    assert attributes == {
        "process.executable.name": "acme",
        "process.exit.code": 3,
        "process.command_args": [
            "acme",
            "deploy",
            "app",
            "staging",
            "--pin",
            "********",
        ],
        "process.working_directory": str(cli.home),
        "cli_host.command": "deploy app",
        "cli_host.run.origin": "script",
        "error.type": "exit status 3",
    }
    assert received.resource["service.name"] == "acme"
    assert received.resource["host.name"] == os.uname().nodename
    assert received.resource["service.version"]


def test_a_success_and_a_signal(cli: Cli, collector: Collector) -> None:
    cli.script("good", "echo $PPID")
    cli.script("killed", "kill -TERM $$; sleep 9")
    ran = cli.run("good")
    assert cli.run("killed").status == -15
    good, killed = collector.received
    assert (ran.status, good.span.status.code) == (0, 0)
    assert good.attributes["process.pid"] == int(ran.stdout)
    assert "error.type" not in good.attributes
    assert (
        killed.attributes["process.exit.code"],
        killed.attributes["error.type"],
    ) == (
        143,
        "SIGTERM",
    )


def test_the_callers_span_is_the_parent_and_the_scripts_is_that_of_its_run(
    cli: Cli, collector: Collector
) -> None:
    cli.script("show", "env | grep -v ^CLI_RUN= | sort")
    with_plugin = cli.run("show", TRACEPARENT=_SAMPLED, TRACESTATE="vendor=1")
    [received] = collector.received
    span = received.span
    assert span.trace_id.hex() == _TRACE
    assert span.parent_span_id.hex() == _PARENT
    assert span.trace_state == "vendor=1"
    own = f"00-{_TRACE}-{span.span_id.hex()}-01"
    assert cli.run("self", "plugin", "disable", "otel").status == 0
    without = cli.run("show", TRACEPARENT=_SAMPLED, TRACESTATE="vendor=1")
    assert with_plugin.stdout.replace(own, _SAMPLED) == without.stdout
    assert f"TRACEPARENT={_SAMPLED}\n" in without.stdout
    assert len(collector.received) == 1


def test_runs_inside_a_run_are_below_it(cli: Cli, collector: Collector) -> None:
    cli.script("inner", "echo $TRACEPARENT")
    cli.script("middle", "acme inner")
    cli.script("outer", "echo $TRACEPARENT; acme middle")
    done = cli.run("outer", CLI_RECORD="1", TRACEPARENT="00-invalid")
    assert (done.status, done.stderr) == (0, "")
    inner, middle, outer = [received.span for received in collector.received]
    assert outer.parent_span_id == b""
    assert middle.parent_span_id == outer.span_id
    assert inner.parent_span_id == middle.span_id
    seen = [
        f"00-{outer.trace_id.hex()}-{span.span_id.hex()}-01" for span in (outer, inner)
    ]
    assert done.stdout.split() == seen


@pytest.mark.parametrize(
    "env",
    [
        {"OTEL_EXPORTER_OTLP_ENDPOINT": ""},
        {"OTEL_SDK_DISABLED": "true"},
        {"OTEL_TRACES_EXPORTER": "none"},
        {"OTEL_TRACES_SAMPLER": "always_off"},
        {"TRACEPARENT": _SAMPLED.removesuffix("1") + "0"},
    ],
    ids=[
        "no collector",
        "disabled",
        "no exporter",
        "sampler",
        "caller does not sample",
    ],
)
def test_when_nothing_is_sent(
    cli: Cli, collector: Collector, env: dict[str, str]
) -> None:
    cli.script("good", "echo ran")
    done = cli.run("good", **env)
    assert (done.status, done.stdout, done.stderr) == (0, "ran\n", "")
    assert collector.paths == []


def test_the_standard_variables(cli: Cli, collector: Collector) -> None:
    cli.script("good", "true")
    done = cli.run(
        "good",
        OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1",
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=f"{collector.address}/own/path",
        OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20t",
        OTEL_EXPORTER_OTLP_COMPRESSION="gzip",
        OTEL_EXPORTER_OTLP_PROTOCOL="http/protobuf",
        OTEL_SERVICE_NAME="tools",
        OTEL_RESOURCE_ATTRIBUTES="deployment.environment.name=test",
    )
    assert (done.status, done.stderr) == (0, "")
    [received] = collector.received
    assert collector.paths == ["/own/path"]
    headers = {name.lower(): value for name, value in received.headers.items()}
    assert headers["authorization"] == "Bearer t"
    assert received.resource["service.name"] == "tools"
    assert received.resource["deployment.environment.name"] == "test"


def test_chosen_commands(cli: Cli, collector: Collector) -> None:
    for words in ("deploy app", "deploy site", "other"):
        cli.script(words, "true")
    config = cli.root / "config/otel.json"
    config.parent.mkdir(exist_ok=True)
    config.write_text(json.dumps({"commands": ["deploy", "deploy app"]}))
    for words in ("deploy app", "deploy site", "other"):
        assert cli.run(*words.split()).stderr == ""
    sent = [received.attributes["cli_host.command"] for received in collector.received]
    assert sent == ["deploy app", "deploy site"]
    config.write_text(json.dumps({"commands": ["other"]}))
    assert cli.run("other").status == 0
    assert len(collector.received) == 3
    config.write_text('{"commands": "other"}')
    done = cli.run("other")
    assert done.status == 0
    assert 'otel.json: "commands": expected a list of commands' in done.stderr


def test_a_collector_that_refuses(cli: Cli, collector: Collector) -> None:
    cli.script("bad", "exit 3")
    collector.answer = 400
    done = cli.run("bad")
    [warning] = done.stderr.splitlines()
    assert done.status == 3
    assert warning.startswith(
        "acme: warning: plugin otel: trace: cli_host_otel.span:send_span: "
    )
    assert f"no trace was sent to {collector.address}: " in warning
    assert "400" in warning
    # For a minute, no run tries again: it would wait and warn for nothing.
    collector.answer = 200
    assert cli.run("bad").stderr == ""
    assert collector.received == []
    [failure] = cli.home.rglob(".local/state/cli-host-otel/failed-*")
    an_hour_ago = time.time() - 3600
    os.utime(failure, (an_hour_ago, an_hour_ago))
    assert cli.run("bad").stderr == ""
    assert len(collector.received) == 1


def test_a_collector_that_is_gone(cli: Cli) -> None:
    cli.script("bad", "exit 3")
    began = time.monotonic()
    done = cli.run("bad", OTEL_EXPORTER_OTLP_ENDPOINT="http://user:hunter2@127.0.0.1:1")
    assert (done.status, len(done.stderr.splitlines())) == (3, 1)
    assert "no trace was sent to http://…@127.0.0.1:1: " in done.stderr
    assert "hunter2" not in done.stderr
    assert time.monotonic() - began < 15


def test_a_collector_that_hangs(cli: Cli, collector: Collector) -> None:
    cli.script("bad", "exit 3")
    collector.delay = 20
    began = time.monotonic()
    done = cli.run("bad", OTEL_EXPORTER_OTLP_TIMEOUT="30")
    assert (done.status, len(done.stderr.splitlines())) == (3, 1)
    assert f"no trace was sent to {collector.address}: " in done.stderr
    assert time.monotonic() - began < 15  # 3 seconds, and the start on a busy machine


def test_another_protocol_is_refused(cli: Cli, collector: Collector) -> None:
    cli.script("good", "true")
    done = cli.run("good", OTEL_EXPORTER_OTLP_PROTOCOL="grpc")
    assert done.status == 0
    assert "only the protocol http/protobuf is supported, not grpc\n" in done.stderr
    assert collector.paths == []


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("authorization Bearer s3cr3t", "400"),
        ("authorization=Bearer%0As3cr3t", "in header value: '********'"),
    ],
)
def test_a_malformed_header_stays_secret(
    collector: Collector,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    header: str,
    reason: str,
) -> None:
    collector.answer = 400
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", header)
    start = "2026-03-01T09:30:00.125Z"
    run = FinishedRun("1", start, 0.1, (), (), "", "", "", "", "", 0, 0, "")
    with pytest.raises(OperationError) as refused:
        send_span(run)
    assert reason in str(refused.value)
    assert "s3cr3t" not in str(refused.value)

"""Events that must never happen: a process stays, or a server hangs or fills memory."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import killed
from conftest import FULL, MODES, Assistant, Cli, connected, rare, until

_ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
}


def request(number: int, method: str, **params: Any) -> bytes:
    """Return a request of the protocol without a handshake."""
    body = {"method": method, "params": {**params, "_meta": _ENVELOPE}}
    return json.dumps({"jsonrpc": "2.0", "id": number, **body}).encode() + b"\n"


def send(server: subprocess.Popen[bytes], *lines: bytes) -> None:
    assert server.stdin
    server.stdin.write(b"".join(lines))
    server.stdin.flush()


def received(server: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert server.stdout
    line = server.stdout.readline()
    assert line, server.stderr.read() if server.stderr else ""
    found: dict[str, Any] = json.loads(line)
    return found


@pytest.fixture(autouse=True)
def nothing_is_left(cli: Cli) -> Any:
    yield
    until(lambda: not cli.marked())


@pytest.mark.parametrize("mode", MODES)
def test_a_cancelled_call(cli: Cli, mode: str) -> None:
    """All processes of the call end at once, even those in other sessions; other calls run on."""
    with connected(cli, mode, "--jobs", "1") as assistant:
        running = assistant.start("odd__hang")
        waiting = assistant.start("show__words", words=["next"])
        until(lambda: len(cli.marked()) >= 3)
        running.cancel()
        assert waiting.result(60).text == "next\n"
        assert assistant.call("show__words", words=["after"]).text == "after\n"
        assert cli.marked() == []


def test_a_call_whose_time_is_up(cli: Cli) -> None:
    """With both protocols, and called directly and by `run`."""
    limit = ("--timeout", "3")
    with (
        connected(cli, "2025-11-25", *limit) as one,
        connected(cli, "2026-07-28", *limit, "--tools", "search") as other,
    ):
        calls = [one.start("odd__hang"), other.start("run", command="odd/hang")]
        for call in calls:
            assert call.result(120).blocks == ["up\n", "ended at its time limit of 3 s"]
        assert cli.marked() == []


def test_what_a_command_leaves_in_its_group_ends_with_it(cli: Cli) -> None:
    """Processes that the command starts in a new session stay: services are started that way."""
    with connected(cli, "2026-07-28") as assistant:
        assert assistant.call("odd__straggler").text == "done\n"
        assert cli.marked() == []
        (cli.home / "daemon").unlink(missing_ok=True)
        assert assistant.call("odd__daemon").text == "left\n"
        until(lambda: cli.marked() == ["sleep 303 "])
        os.kill(int((cli.home / "daemon").read_text()), signal.SIGKILL)


ENDS: dict[str, Callable[[Any], None]] = {
    "stdin ends": lambda server: server.stdin.close(),
    "SIGTERM": lambda server: server.send_signal(signal.SIGTERM),
    "SIGINT": lambda server: server.send_signal(signal.SIGINT),
    "SIGKILL of all": lambda server: os.killpg(server.pid, signal.SIGKILL),
}


def test_a_server_that_ends(cli: Cli) -> None:
    """No process is left, even of a command that ignores TERM, and stdout is closed at once."""
    with ExitStack() as stack:
        servers = {name: stack.enter_context(cli.serve()) for name in ENDS}
        for server in servers.values():
            send(server, request(1, "tools/call", name="odd__hang"))
        until(lambda: len(cli.marked()) >= 3 * len(servers))
        start = time.monotonic()
        for name, end in ENDS.items():
            end(servers[name])
        for name, server in servers.items():
            assert server.stdout
            server.stdout.read()
            status = server.wait(60)
            assert status in (0, -signal.SIGTERM, -signal.SIGINT, -signal.SIGKILL), name
            assert server.stderr
            assert server.stderr.read() == b"", name
        until(lambda: not cli.marked())
        assert time.monotonic() - start < 60  # the command sleeps five times as long


def test_a_client_that_is_killed(cli: Cli, tmp_path: Path) -> None:
    """A client is killed during a call: both pipes are closed, and no message was sent."""
    client = tmp_path / "client.py"
    client.write_text(
        "import subprocess, sys\n"
        "server = subprocess.Popen(sys.argv[2:], stdin=-1, stdout=-1, start_new_session=True)\n"
        "server.stdin.write(sys.argv[1].encode()); server.stdin.flush()\n"
        "print(server.pid, flush=True); server.wait()\n"
    )
    line = request(1, "tools/call", name="odd__hang").decode()
    argv = [os.sys.executable, client, line, cli.file, "mcp", "serve"]
    with subprocess.Popen(argv, env=cli.environ, stdout=subprocess.PIPE) as started:
        assert started.stdout
        server = int(started.stdout.readline())
        until(lambda: len(cli.marked()) >= 3)
        started.kill()
    until(lambda: not cli.marked())
    until(lambda: not Path(f"/proc/{server}").exists())


def test_killed_in_each_state_of_a_call(cli: Cli) -> None:
    """A server may be killed between any two steps of a call."""
    done = subprocess.run(
        [sys.executable, killed.__file__],
        env={**cli.environ, "CLI_DIR": str(cli.root)},
        stdout=subprocess.PIPE,
        check=True,
        timeout=60,
    )
    assert json.loads(done.stdout) == dict.fromkeys(killed.STATES, -signal.SIGKILL)


def test_a_flood_of_calls(cli: Cli) -> None:
    """Many calls at once: those that cannot wait are refused, and the others are answered."""
    with cli.serve("--jobs", "1") as server:
        count = 1000 if FULL else 120
        calls = [request(n, "tools/call", name="odd__slow") for n in range(count)]
        send(server, *calls)
        found = [received(server)["result"] for _ in range(count - 65)]
        said = [one["content"][0]["text"] for one in found]
        assert (
            said.count("busy: 1 running, 64 waiting; try again later; nothing was run")
            > count - 100
        )
        ping = request(count, "tools/list")
        send(server, ping)
        while received(server)["id"] != count:
            pass
        server.terminate()


@rare
def test_a_client_that_only_writes(cli: Cli) -> None:
    """The client is blocked in the end, and the server's memory does not grow."""
    with cli.serve(stderr=subprocess.DEVNULL) as server:
        send(server, request(0, "tools/list"))
        received(server)
        assert server.stdin
        os.set_blocking(server.stdin.fileno(), False)
        block = b"".join(
            request(n, "tools/call", name="unknown" * 9) for n in range(1, 400)
        )
        until_seconds = time.monotonic() + 2
        sent = 0
        while time.monotonic() < until_seconds:
            try:
                sent += os.write(server.stdin.fileno(), block)
            except BlockingIOError:
                time.sleep(0.02)
        assert _resident(server.pid) < 400, "MiB"
        assert sent < 100 << 20
        server.kill()


def test_what_is_no_message_is_passed_over(cli: Cli) -> None:
    odd = (
        b"{}",
        b"\xff\xfe",
        b"[1, 2]",
        b'{"jsonrpc": "2.0"',
        b"\n\n",
        b"x" * (5 << 20),
    )
    with cli.serve() as server:
        for number, line in enumerate(odd):
            send(server, line, b"\n", request(number, "tools/list"))
            assert received(server)["id"] == number
        half = request(
            9, "tools/call", name="show__words", arguments={"words": ["\ud800"]}
        )
        send(server, half)
        refused = received(server)
        assert (refused["id"], refused["error"]["code"]) == (9, -32602)
        assert server.stdin
        server.stdin.close()
        assert server.wait(60) == 0
        assert server.stderr
        told = server.stderr.read().decode()
    assert (
        told
        == "cli mcp serve: warning: a message of more than 4194304 bytes was dropped\n"
    )


def test_an_agreement_cannot_be_made_up(cli: Cli) -> None:
    """A consent is valid once, for one command line, and only with the state that was issued."""
    envelope = {
        **_ENVELOPE,
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    }
    yes = {"agree": {"action": "accept", "content": {}}}

    def call(word: str, pin: str = "1", **more: Any) -> dict[str, Any]:
        body = {
            "name": "drop",
            "arguments": {"what": word, "pin": pin},
            "_meta": envelope,
            **more,
        }
        line = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": body}
        send(server, json.dumps(line).encode() + b"\n")
        found: dict[str, Any] = received(server)["result"]
        return found

    args = [{"name": "what"}, {"name": "--pin", "value": "PIN", "secret": True}]
    cli.command("drop", 'echo "dropped $ARG_WHAT"\n', effects="destroy", args=args)
    with cli.serve() as server:
        made_up = call("a", requestState="x", inputResponses=yes)
        state = made_up["requestState"]
        other = call("b", requestState=state, inputResponses=yes)
        other_state = other["requestState"]
        unseen = call("b", "2", requestState=other_state, inputResponses=yes)
        used = call("a", requestState=state, inputResponses=yes)
        assert [one["resultType"] for one in (made_up, other, unseen, used)] == [
            "input_required"
        ] * 4
        asked = used["inputRequests"]["agree"]["params"]["message"]
        assert asked == "Run cli drop --pin '********' a? It may destroy something."
        done = call("a", requestState=used["requestState"], inputResponses=yes)
        assert done["content"][0]["text"] == "dropped a\n"
        assert call("a", requestState=used["requestState"], inputResponses=yes)[
            "inputRequests"
        ]
        server.terminate()
    shutil.rmtree(cli.root / "commands/drop")


def test_a_closed_stdout_ends_the_server(cli: Cli) -> None:
    with cli.serve() as server:
        assert server.stdout
        server.stdout.close()
        send(server, request(1, "tools/list"))
        assert server.wait(60) == 0


def test_a_command_line_that_is_too_long(assistant: Assistant) -> None:
    found = assistant.call("show__words", words=["x" * 200_000])
    assert found.failed
    assert found.text == "the command cannot be started: Argument list too long"


def _resident(process: int) -> int:
    """Return how many MiB of memory a process uses."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) // 1024

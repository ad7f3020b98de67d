"""Run the protocol's conformance suite against the server; start it by hand, with Node 22.

    npm install --prefix /tmp/suite @modelcontextprotocol/conformance@0.2.0-alpha.12
    python tests/conformance.py node /tmp/suite/node_modules/@modelcontextprotocol/conformance/dist

All its scenarios run for each version of the protocol, 2025-06-18, 2025-11-25 and 2026-07-28.
The suite speaks HTTP, so the server of the SDK with our tools is served over HTTP here, on this
machine only; there is no suite for stdio. `EXPECTED` has the scenarios that fail and why; the exit
status is 1 if another one fails, or if one of these passes.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

TOOLS = {
    "test_simple_text": "echo This is a simple text response for testing.",
    "test_error_handling": "echo This tool intentionally returns an error for testing; exit 1",
    "test_tool_with_logging": "for line in one two three; do echo $line; sleep 0.2; done",
    "test_logging_tool": "echo one; sleep 0.2; echo two",
    "test_tool_with_progress": "for line in 0 50 100; do echo $line; sleep 0.2; done",
}
_NO_MEDIA = "a command prints text, so there is no tool with images, audio or embedded resources"
_NO_PROMPTS = "commands are no prompts, so the server has none"
_OWN_TOOLS = (
    "it needs a tool that the suite names, and ours asks only whether a command may run"
)
_OWN_ADDRESS = (
    "it needs an address that the suite names; tests/test_resources.py uses ours"
)
EXPECTED = {
    "tools-call-image": _NO_MEDIA,
    "tools-call-audio": _NO_MEDIA,
    "tools-call-embedded-resource": _NO_MEDIA,
    "tools-call-mixed-content": _NO_MEDIA,
    "tools-call-sampling": "the server never asks the client's model",
    "tools-call-elicitation": _OWN_TOOLS,
    "elicitation-sep1034-defaults": _OWN_TOOLS,
    "elicitation-sep1330-enums": _OWN_TOOLS,
    "json-schema-2020-12": "it needs a tool whose schema has $defs; ours come from `args`",
    "resources-read-text": _OWN_ADDRESS,
    "resources-read-binary": _NO_MEDIA,
    "resources-templates-read": _OWN_ADDRESS,
    "resources-subscribe": _OWN_ADDRESS,
    "resources-unsubscribe": _OWN_ADDRESS,
    "prompts-list": _NO_PROMPTS,
    "prompts-get-simple": _NO_PROMPTS,
    "prompts-get-with-args": _NO_PROMPTS,
    "prompts-get-embedded-resource": _NO_PROMPTS,
    "prompts-get-with-image": _NO_PROMPTS,
    # of the protocol of 2026
    "server-stateless": "three of its checks need tools that the suite names; see _FAILED_CHECKS",
    "caching": "one of its checks is about prompts; see _FAILED_CHECKS",
    "http-custom-header-server-validation": "no argument of a command is a header of HTTP",
    "input-required-result-basic-elicitation": _OWN_TOOLS,
    "input-required-result-basic-sampling": "the server never asks the client's model",
    "input-required-result-basic-list-roots": "the server never asks for the client's folders",
    "input-required-result-request-state": _OWN_TOOLS,
    "input-required-result-multiple-input-requests": _OWN_TOOLS,
    "input-required-result-multi-round": _OWN_TOOLS,
    "input-required-result-non-tool-request": _NO_PROMPTS,
    "input-required-result-result-type": _OWN_TOOLS,
    "input-required-result-tampered-state": _OWN_TOOLS,
    "input-required-result-capability-check": _OWN_TOOLS,
}
_VERSIONS = ("2025-06-18", "2025-11-25", "2026-07-28")
# How many checks fail in a scenario of which most checks are about what this server has.
_FAILED_CHECKS = {"server-stateless": 3, "caching": 1}


def serve_installation(place: Path, port: int) -> None:
    """Make an installation with the suite's tools, and serve it until this process ends."""
    root = place / "cli"
    own = [sys.executable, "-m", "host", "self", "init", str(root), "--name", "cli"]
    subprocess.run(
        own, env={**os.environ, "HOME": str(place)}, check=True, capture_output=True
    )
    for name, script in TOOLS.items():
        file = root / "commands" / name
        file.write_text(f"#!/bin/bash\n# Do what the suite expects.\n{script}\n")
        file.chmod(0o755)
    ours = {"CLI_DIR": str(root), "COMMAND_NAME": "serve", "COMMAND_CATEGORY": "mcp"}
    os.environ.update(ours, HOME=str(place))
    from cli_host_mcp.choice import Choice, all_commands
    from cli_host_mcp.guard import Guard
    from cli_host_mcp.offer import Offer
    from host import Program

    guard = Guard()
    guard.start()
    program = Program.current()
    choice = Choice(tuple(TOOLS))
    offer = Offer(
        choice, choice.served(program, all_commands(program)), "cli", search=False
    )
    import uvicorn

    from cli_host_mcp.resources import Resources
    from cli_host_mcp.runs import Limits, Runner
    from cli_host_mcp.server import Tools, server_of

    limits = Limits()
    tools = Tools(offer, Resources(offer, "cli"), Runner(guard, limits), limits, 4)
    app = server_of(program, tools, "For the suite").streamable_http_app()
    server = uvicorn.Server(uvicorn.Config(app, "127.0.0.1", port, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()


def main(node: str, suite: str) -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="conformance-") as place:
        serve_installation(Path(place), port)
        time.sleep(2)
        words = [
            node,
            f"{suite}/index.js",
            "server",
            "--url",
            f"http://127.0.0.1:{port}/mcp",
        ]
        wrong = 0
        for version in _VERSIONS:
            print(f"== {version}")
            call = [*words, "--suite", "all", "--spec-version", version]
            done = subprocess.run(
                call,
                capture_output=True,
                text=True,
                check=False,
                cwd=place,
                timeout=300,
            )
            wrong += _unexpected(done.stdout) if done.stdout else 1
            print(done.stderr[:2000], end="")
    return 1 if wrong else 0


def _unexpected(printed: str) -> int:
    """Print each scenario with its result; return how many results are not expected."""
    results = re.findall(
        r"^([✓✗]) ([a-z0-9-]+): .*, ([0-9]+) failed", printed, re.MULTILINE
    )
    wrong = 0
    for mark, name, failed in results:
        is_expected = (mark == "✗") == (name in EXPECTED)
        if name in _FAILED_CHECKS:
            is_expected = int(failed) == _FAILED_CHECKS[name]
        wrong += not is_expected
        note = EXPECTED.get(name, "") if is_expected else "NOT EXPECTED"
        print(mark, name, note)
    return wrong if results else 1


if __name__ == "__main__":
    sys.stdout.flush()
    status = main(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(status)

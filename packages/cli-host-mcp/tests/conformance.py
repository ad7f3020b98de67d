"""Run the protocol's conformance suite against the server; start it by hand, with Node 22.

    npm install --prefix /tmp/suite @modelcontextprotocol/conformance@0.1.16
    python tests/conformance.py node /tmp/suite/node_modules/@modelcontextprotocol/conformance/dist

The suite speaks HTTP, so the server of the SDK with our tools is served over HTTP here, on this
machine only. `EXPECTED` has the scenarios that fail and why; the exit status is 1 if another one
fails, or if one of these passes.
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
    "test_tool_with_progress": "for line in 0 50 100; do echo $line; sleep 0.2; done",
}
_NO_MEDIA = "a command prints text, so there is no tool with images, audio or embedded resources"
_NO_PROMPTS = "commands are no prompts, so the server has none"
_OWN_TOOLS = "it needs a tool that the suite names, and ours asks only whether a command may run"
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
    "resources-read-text": "it reads an address of its own; tests/test_resources.py reads ours",
    "resources-read-binary": _NO_MEDIA,
    "resources-templates-read": "it reads a template of its own",
    "resources-subscribe": "the list of commands is announced by tools/list_changed",
    "resources-unsubscribe": "the list of commands is announced by tools/list_changed",
    "prompts-list": _NO_PROMPTS,
    "prompts-get-simple": _NO_PROMPTS,
    "prompts-get-with-args": _NO_PROMPTS,
    "prompts-get-embedded-resource": _NO_PROMPTS,
    "prompts-get-with-image": _NO_PROMPTS,
}


def serve_installation(place: Path, port: int) -> None:
    """Make an installation with the suite's tools, and serve it until this process ends."""
    root = place / "cli"
    own = [sys.executable, "-m", "host", "self", "init", str(root), "--name", "cli"]
    subprocess.run(own, env={**os.environ, "HOME": str(place)}, check=True, capture_output=True)
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
    offer = Offer(choice, choice.served(all_commands(program)), "cli", search=False)
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
        words = [node, f"{suite}/index.js", "server", "--url", f"http://127.0.0.1:{port}/mcp"]
        words += ["--suite", "all"]
        done = subprocess.run(
            words, capture_output=True, text=True, check=False, cwd=place, timeout=300
        )
    lines = re.findall(r"^([✓✗]) ([a-z0-9-]+): ", done.stdout, re.MULTILINE)
    results = {name: mark for mark, name in lines}
    if not results:
        print(done.stdout, done.stderr)
        return 1
    wrong = 0
    for name, mark in results.items():
        is_expected = (mark == "✗") == (name in EXPECTED)
        wrong += not is_expected
        note = EXPECTED.get(name, "") if is_expected else "NOT EXPECTED"
        print(mark, name, note)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.stdout.flush()
    status = main(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(status)

"""`cli mcp serve` against a server of the SDK that does nothing else, in turn, on one machine.

The first list: from the start of the process to the answer. A call: against the same run
at a shell plus a call of the bare server, whose tool answers at once. Wall clock and processor
time, of the server and all that it starts. Started by bench/mcp, which makes the environment.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_BARE = """
import anyio
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

TOOL = types.Tool(name="hello", description="Greet", input_schema={"type": "object"})

async def tools(ctx, params):
    return types.ListToolsResult(tools=[TOOL])

async def call(ctx, params):
    return types.CallToolResult(content=[types.TextContent(text="Hello, Ada!")])

async def main():
    server = Server("bare", on_list_tools=tools, on_call_tool=call)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())

anyio.run(main)
"""
_BLOCK = 20  # calls between two looks at the processors' clock, which ticks at 10 ms
_ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}


@dataclass
class Figure:
    """What runs of one thing took: seconds by the clock, and of processors."""

    name: str
    run: Callable[[], object]
    seconds: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)

    def measure(self) -> None:
        start, busy = time.perf_counter(), _children()
        self.run()
        self.seconds.append(time.perf_counter() - start)
        self.busy.append(_children() - busy)

    def medians(self) -> tuple[float, float]:
        return statistics.median(self.seconds) * 1000, statistics.median(
            self.busy
        ) * 1000


class Server:
    """A server over stdio, and a client as small as one can be."""

    def __init__(self, argv: Sequence[str], env: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._number = 0

    def ask(self, method: str, **params: Any) -> Any:
        self._number += 1
        body = {"method": method, "params": {**params, "_meta": _ENVELOPE}}
        message = {"jsonrpc": "2.0", "id": self._number, **body}
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())["result"]

    def busy(self) -> float:
        """Return the seconds of processors that it, its helpers and what ended have used."""
        main = self._process.pid
        beside = Path(f"/proc/{main}/task/{main}/children").read_text().split()
        stats = [Path(f"/proc/{one}/stat").read_text() for one in (main, *beside)]
        fields = [stat.rpartition(")")[2].split()[11:15] for stat in stats]
        return sum(int(one) for four in fields for one in four) / os.sysconf(
            "SC_CLK_TCK"
        )

    def end(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def installation(root: Path, env: dict[str, str]) -> str:
    """Make an installation with the demo commands; return its `cli`."""
    subprocess.run(
        [sys.executable, "-m", "host", "self", "init", root, "--name", "cli"],
        env=env,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return str(root / "core/cli")


def first_list(argv: Sequence[str], env: dict[str, str]) -> Callable[[], object]:
    def run() -> None:
        server = Server(argv, env)
        server.ask("tools/list")
        server.end()

    return run


def show(title: str, figures: Sequence[Figure], floor: tuple[float, float]) -> None:
    print(title)
    for one in figures:
        clock, busy = one.medians()
        print(f"  {one.name:<44} {clock:8.1f} ms {busy:8.1f} ms of processors")
    clock, busy = figures[-1].medians()
    print(
        f"  ratio: {clock / floor[0]:.2f} by the clock, {busy / floor[1]:.2f} of processors\n"
    )


def calls(cli: str, bare: Sequence[str], env: dict[str, str], runs: int) -> None:
    """Measure calls in blocks in turn: the clock of each, the processors of each block."""
    ours, theirs = Server([cli, "mcp", "serve"], env), Server(bare, env)
    line = [cli, "demo", "hello", "Ada"]
    nowhere = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    ada = {"words": ["Ada"]}
    figures = [
        Figure(
            "a call of the bare server", lambda: theirs.ask("tools/call", name="hello")
        ),
        Figure(
            "cli demo hello Ada",
            lambda: subprocess.run(line, env=env, check=True, **nowhere),
        ),
        Figure(
            "a call of demo__hello",
            lambda: ours.ask("tools/call", name="demo__hello", arguments=ada),
        ),
    ]
    for one in figures:
        one.run()
    busy = [0.0, 0.0, 0.0]
    meters = [theirs.busy, _children, ours.busy]
    for _ in range(runs):
        for index, one in enumerate(figures):
            before = meters[index]()
            for _ in range(_BLOCK):
                one.measure()
            busy[index] += meters[index]() - before
    for one, used in zip(figures, busy, strict=True):
        one.busy = [used / (_BLOCK * runs)]
    pairs = [one.medians() for one in figures[:2]]
    show(
        "a call", figures, (sum(one[0] for one in pairs), sum(one[1] for one in pairs))
    )
    ours.end()
    theirs.end()


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    chosen = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="mcp-bench.") as place:
        env = {"PATH": os.environ["PATH"], "HOME": place}
        cli = installation(Path(place, "acme"), env)
        Path(place, "bare.py").write_text(_BARE)
        bare = [sys.executable, f"{place}/bare.py"]
        figures = [
            Figure("a bare server of the SDK", first_list(bare, env)),
            Figure("cli mcp serve", first_list([cli, "mcp", "serve"], env)),
        ]
        for _ in range(chosen.runs + 1):
            for one in figures:
                one.measure()
        for one in figures:
            del one.seconds[0], one.busy[0]
        show("from the start to the first list", figures, figures[0].medians())
        calls(cli, bare, env, chosen.runs)


if __name__ == "__main__":
    main(sys.argv[1:])

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
        start = time.perf_counter()
        busy = _children()
        self.run()
        self.seconds.append(time.perf_counter() - start)
        self.busy.append(_children() - busy)

    def medians(self) -> tuple[float, float]:
        clock = statistics.median(self.seconds)
        busy = statistics.median(self.busy)
        return clock * 1000, busy * 1000


class Server:
    """A server over stdio, and a client as small as one can be."""

    def __init__(self, argv: Sequence[str], env: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._number = 0

    def ask(self, method: str, **params: Any) -> Any:
        self._number += 1
        message = {
            "jsonrpc": "2.0",
            "id": self._number,
            "method": method,
            "params": {**params, "_meta": _ENVELOPE},
        }
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        return json.loads(answer)["result"]

    def busy(self) -> float:
        """Return the seconds of processors that it, its helpers and what ended have used."""
        main = self._process.pid
        helpers = Path(f"/proc/{main}/task/{main}/children").read_text().split()
        ticks = 0
        for process in (main, *helpers):
            stat = Path(f"/proc/{process}/stat").read_text()
            # utime, stime, cutime and cstime; the name before may contain blanks.
            fields = stat.rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def installation(root: Path, env: dict[str, str]) -> str:
    """Make an installation with the demo commands; return its `cli`."""
    init = [sys.executable, "-m", "host", "self", "init", root, "--name", "cli"]
    subprocess.run(init, env=env, check=True, stdout=subprocess.DEVNULL)
    return str(root / "core/cli")


def first_list(argv: Sequence[str], env: dict[str, str]) -> Callable[[], object]:
    def run() -> None:
        server = Server(argv, env)
        server.ask("tools/list")
        server.end()

    return run


def show(title: str, figures: Sequence[Figure], floor: tuple[float, float]) -> None:
    print(title)
    for figure in figures:
        clock, busy = figure.medians()
        print(f"  {figure.name:<44} {clock:8.1f} ms {busy:8.1f} ms of processors")

    clock, busy = figures[-1].medians()
    by_clock = clock / floor[0]
    of_processors = busy / floor[1]
    print(f"  ratio: {by_clock:.2f} by the clock, {of_processors:.2f} of processors\n")


def calls(cli: str, bare: Sequence[str], env: dict[str, str], runs: int) -> None:
    """Measure calls in blocks in turn: the clock of each, the processors of each block."""
    ours = Server([cli, "mcp", "serve"], env)
    theirs = Server(bare, env)

    def call_bare() -> object:
        return theirs.ask("tools/call", name="hello")

    def run_at_shell() -> object:
        return subprocess.run(
            [cli, "demo", "hello", "Ada"],
            env=env,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )

    def call_tool() -> object:
        arguments = {"words": ["Ada"]}
        return ours.ask("tools/call", name="demo__hello", arguments=arguments)

    figures = [
        Figure("a call of the bare server", call_bare),
        Figure("cli demo hello Ada", run_at_shell),
        Figure("a call of demo__hello", call_tool),
    ]
    meters = [theirs.busy, _children, ours.busy]
    for figure in figures:
        figure.run()

    busy = [0.0, 0.0, 0.0]
    for _ in range(runs):
        for index, figure in enumerate(figures):
            before = meters[index]()
            for _ in range(_BLOCK):
                figure.measure()
            busy[index] += meters[index]() - before
    for figure, seconds in zip(figures, busy, strict=True):
        figure.busy = [seconds / (_BLOCK * runs)]

    # The floor: a bare server's call, and the same run at a shell.
    bare_clock, bare_busy = figures[0].medians()
    run_clock, run_busy = figures[1].medians()
    show("a call", figures, (bare_clock + run_clock, bare_busy + run_busy))
    ours.end()
    theirs.end()


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args(argv)

    with tempfile.TemporaryDirectory(prefix="mcp-bench.") as place:
        env = {"PATH": os.environ["PATH"], "HOME": place}
        cli = installation(Path(place, "acme"), env)
        script = Path(place, "bare.py")
        script.write_text(_BARE)
        bare = [sys.executable, str(script)]

        figures = [
            Figure("a bare server of the SDK", first_list(bare, env)),
            Figure("cli mcp serve", first_list([cli, "mcp", "serve"], env)),
        ]
        for _ in range(options.runs + 1):
            for figure in figures:
                figure.measure()
        for figure in figures:  # without the first run, which fills caches
            del figure.seconds[0], figure.busy[0]

        show("from the start to the first list", figures, figures[0].medians())
        calls(cli, bare, env, options.runs)


if __name__ == "__main__":
    main(sys.argv[1:])

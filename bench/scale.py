"""What grows, and how, up to 100,000 commands in 1,000 categories and 1,000 plugins.

    bash bench/run --no-peers --runs 1 && .venv-bench/bin/python bench/scale.py [--write]

Prints a table of milliseconds of the processor (three runs each, the least of them); with
`--write` docs/performance.md gets it. Takes about three minutes and 600 MB of temporary files.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import trees
from report import PAGE, between

_SIZES = ((1000, 10), (10_000, 100), (100_000, 1000))  # commands, plugins
_CASES = {
    "run": ("cat000", "cmd00000"),
    "Tab completion in a category of 100 commands": (
        "--complete",
        "zsh",
        "cat000",
        "cmd",
    ),
    "Tab completion at the root": ("--complete", "zsh", ""),
    "listing of a category of 100 commands": ("cat000",),
    "root": (),
    "`self list --format json`": ("self", "list", "--format", "json"),
    "`self search`": ("self", "search", "number 42"),
    "a misspelt command": ("cat000", "cmd0000x"),
    "`self plugin list`": ("self", "plugin", "list"),
    "the first run after a plugin was added": ("--lock", "cat000", "cmd00000"),
}


def main() -> None:
    columns: list[list[float]] = []
    for commands, plugins in _SIZES:
        with tempfile.TemporaryDirectory() as scratch:
            root = make(Path(scratch) / "cli", commands, plugins)
            columns.append([least(root, words) for words in _CASES.values()])

    heads = [f"{commands:,} and {plugins:,}" for commands, plugins in _SIZES]
    lines = [
        f"| commands and plugins | {' | '.join(heads)} |",
        f"|---|{'---|' * len(heads)}",
    ]
    for index, case in enumerate(_CASES):
        cells = [f"{column[index] * 1000:.0f} ms" for column in columns]
        lines.append(f"| {case} | {' | '.join(cells)} |")

    print("\n".join(lines))
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(between(PAGE.read_text(), "scale", lines))


def make(root: Path, commands: int, plugins: int) -> Path:
    init = [str(Path(sys.executable).parent / "cli"), "self", "init", str(root)]
    subprocess.run(init, check=True, stdout=subprocess.DEVNULL, env=environment(root))
    trees.make_commands(root, commands)

    definition = {"name": "Run", "description": "Run it", "entrypoint": "main.sh"}
    for number in range(plugins):
        folder = root / f"plugins/p{number:04}/c{number:04}/run"
        folder.mkdir(parents=True)
        (folder / "command.json").write_text(json.dumps(definition))

    time.sleep(3)  # until the files are old enough to be remembered
    return root


def environment(root: Path) -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "HOME": str(root.parent), "LANG": "C.UTF-8"}


def least(root: Path, words: tuple[str, ...]) -> float:
    """Return the least seconds of the processor of three runs, after one that is not counted."""
    removes_lock = words[:1] == ("--lock",)
    argv = [str(root / "core/cli"), *words]
    if removes_lock:
        argv.remove("--lock")

    seconds = []
    for _ in range(4):
        if removes_lock:
            (root / "cli.lock").unlink(missing_ok=True)
        before = used()
        subprocess.run(
            argv,
            env=environment(root),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        seconds.append(used() - before)
    return min(seconds[1:])


def used() -> float:
    """Return the seconds of the processor that all children so far have taken."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()

"""`bench/run`: what a run, a listing and a Tab cost, as ratios to a baseline of the same minute.

Three takes of everything take about twelve minutes on two idle cores. With `--out FILE` the
figures go there as JSON; `bench/report.py FILE` makes tables and plots of them.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import trees
from plugins import installation as with_plugins
from timing import Timed, measure, peak_memory

_PEERS: dict[str, Callable[[Path, int], trees.Peer]] = {
    "just": trees.make_justfile,
    "task": trees.make_taskfile,
    "mise": trees.make_mise,
    "invoke": trees.make_invoke,
}
_ARGUMENTS = [
    {"name": "--force", "short": "-f"},
    {"name": "--count", "short": "-n", "value": "N", "type": "integer", "default": "3"},
    {"name": "env", "choices": ["dev", "prod"], "required": True},
]
_SOURCE = """\
from host import EnvSource, hookimpl

@hookimpl
def env_sources():
    yield EnvSource("elsewhere", 3, files=("/nowhere/.env",), words=("elsewhere",))
"""
_LOOP = """
import json, pathlib
for file in pathlib.Path({root!r}).rglob("command.json"):
    json.loads(file.read_text())
"""
_CLICK = "bench_click_command"  # a module beside the packages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--runs", type=int, default=31, help="measured runs of each (31)"
    )
    parser.add_argument(
        "--takes", type=int, default=1, help="how often all of it is done (1)"
    )
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--out", type=Path, help="where the figures go, as JSON")
    asked = parser.parse_args()
    bin_dirs = [
        str(Path(sys.executable).parent),
        str(Path(".venv-bench/node/bin").resolve()),
    ]
    with tempfile.TemporaryDirectory() as scratch:
        env = {
            "PATH": os.pathsep.join([*bin_dirs, "/usr/local/bin", "/usr/bin", "/bin"]),
            "HOME": scratch,
            "USER": "bench",
            "LANG": "C.UTF-8",
        }
        bench = Bench(Path(scratch), env, asked.runs)
        bench.make(peers=not asked.no_peers)
        for take in range(1, asked.takes + 1):
            print(f"Take {take} of {asked.takes}\n", flush=True)
            bench.figures.append([])
            bench.measure()
    if asked.out:
        asked.out.write_text(json.dumps(bench.described(), indent=1) + "\n")


class Bench:
    """The trees, and the figures of each take: a case, its ratio to its baseline, its seconds."""

    def __init__(self, scratch: Path, env: dict[str, str], runs: int) -> None:
        self.scratch = scratch
        self.env = env
        self.count = runs
        self.made: dict[int, Path] = {}
        self.peers: dict[str, dict[int, trees.Peer]] = {}
        self.figures: list[list[dict[str, Any]]] = []
        self.bare = [sys.executable, "-I", "-S", "-c", "pass"]

    def make(self, *, peers: bool) -> None:
        """Make all trees, and wait until their files are old enough to be remembered."""
        for size in (10, 100, 1000, 10_000):
            self.made[size] = self.installation(str(size), size)
            for name, make in _PEERS.items() if peers else ():
                if shutil.which(name, path=self.env["PATH"]) is None:
                    print(f"{name} is not installed here; left out")
                    continue
                directory = self.scratch / f"{name}-{size}"
                directory.mkdir()
                self.peers.setdefault(name, {})[size] = make(directory, size)
        self.settings = self.installation("settings")
        lines = "".join(f'SETTING_{i}="value {i}"\n' for i in range(10))
        (self.settings / "config/settings.conf").write_text(lines)
        self.uv, self.env_file = self.installation("uv"), self.installation("env-file")
        self.change(self.env_file, env_files=[".env"])
        self.required = self.installation("required")
        self.change(self.required, requires=["sh", "tar", "bash>=3"])
        self.all = self.everything(lines)
        self.python = self.installation("python")
        self.change(self.python, entrypoint=f"{_CLICK}:main", envs={})
        packages = next(Path(one) for one in sys.path if one.endswith("site-packages"))
        (packages / f"{_CLICK}.py").write_text(
            "import click\n\n@click.command\ndef main():\n    pass\n"
        )
        self.nested = self.installation("nested")
        inner = " ".join([str(self.nested / "core/cli"), *trees.words_of(1)])
        script = self.nested.joinpath("commands", *trees.words_of(0), "main.sh")
        script.write_text(f"#!/bin/bash\n{inner}\n")
        self.one_plugin = with_plugins(self.scratch / "one", 1)
        self.disabled = with_plugins(self.scratch / "disabled", 1)
        disable = [str(self.disabled), "self", "plugin", "disable", "p000"]
        subprocess.run(disable, env=self.env, check=True, stdout=subprocess.DEVNULL)
        trees.make_commands(self.disabled.parent.parent, 10)
        self.many_plugins = with_plugins(self.scratch / "many", 100)
        time.sleep(3)

    def installation(self, name: str, size: int = 10) -> Path:
        root = self.scratch / f"cli-{name}"
        init = [str(Path(sys.executable).parent / "cli"), "self", "init", str(root)]
        subprocess.run(init, env=self.env, check=True, stdout=subprocess.DEVNULL)
        shutil.rmtree(root / "commands")
        trees.make_commands(root, size)
        return root

    def change(self, root: Path, **fields: object) -> Path:
        """Change the definition of the first command and give it two `.env` files."""
        directory = root.joinpath("commands", *trees.words_of(0))
        definition = directory / "command.json"
        definition.write_text(
            json.dumps({**json.loads(definition.read_text()), **fields})
        )
        for name in (".env", ".env.local"):
            lines = "".join(f'ENTRY_{i}="$HOME/{i}"\n' for i in range(10))
            (directory / name).write_text(lines)
        return directory

    def everything(self, settings: str) -> Path:
        """Return an installation whose first command has every kind of source and arguments."""
        root = self.installation("everything")
        (root / "config/settings.conf").write_text(settings)
        envs = {f"BENCH_{index}": f"${{HOME}}/value{index}" for index in range(10)}
        self.change(root, envs=envs, env_files=[".env", ".env.local"], args=_ARGUMENTS)
        plugin = root / "plugins/elsewhere"
        plugin.mkdir(parents=True)
        (plugin / "plugin.json").write_text(
            '{"name": "elsewhere", "hooks": "hooks.py"}'
        )
        (plugin / "hooks.py").write_text(_SOURCE)
        return root

    def timed(self, name: str, root: Path, *words: str) -> Timed:
        return Timed(name, [str(root / "core" / "cli"), *words], self.env)

    def floor(self) -> Timed:
        """The same script, started by the same interpreter with nothing in between."""
        script = str(self.made[10].joinpath("commands", *trees.words_of(0), "main.sh"))
        program = f"import os; os.execv({script!r}, [{script!r}])"
        return Timed("floor", [sys.executable, "-I", "-S", "-c", program], self.env)

    def report(
        self, kind: str, baseline: Timed, rows: Sequence[Timed], **more: object
    ) -> None:
        """Measure the rows against their baseline, print them and keep the figures."""
        measure([baseline, *rows], self.count)
        print(f"{kind} (x {baseline.name}, {baseline.median * 1000:.1f} ms)")
        for row in rows:
            if not row.seconds:
                print(f"  {row.name:<52} too long to wait for")
                continue
            ratio = row.over(baseline)
            print(
                f"  {row.name:<52} {row.median * 1000:9.2f} ms {ratio:7.2f} x",
                flush=True,
            )
            figure = {
                "kind": kind,
                "case": row.name,
                "ratio": ratio,
                "seconds": row.median,
            }
            self.figures[-1].append({**figure, "runs": len(row.seconds), **more})
        print()

    def measure(self) -> None:
        self.runs()
        self.recorded()
        self.answers()
        self.thousands()
        self.python_command()
        self.memory()
        for size in self.made if self.peers else ():
            self.side_by_side(size)

    def runs(self) -> None:
        first = trees.words_of(0)
        console = self.timed("a console script that pip made", self.made[10], *first)
        console.argv = [str(Path(sys.executable).parent / "cli"), *first]
        console.env = {**self.env, "CLI_DIR": str(self.made[10])}
        rows = [
            *(
                self.timed(f"run, {size:,} commands", root, *trees.words_of(size - 1))
                for size, root in self.made.items()
                if size != 100
            ),
            Timed("run, 1 plugin", [str(self.one_plugin), "c000-0", "k0"], self.env),
            Timed("run, 1 disabled plugin", [str(self.disabled), *first], self.env),
            Timed(
                "run, 100 plugins", [str(self.many_plugins), "c000-0", "k0"], self.env
            ),
            self.timed("run inside a run", self.nested, *first),
            self.timed("run, settings.conf of ten assignments", self.settings, *first),
            self.timed("run, .env of ten lines", self.env_file, *first),
            self.timed("run, three required programs", self.required, *first),
            self.timed("run, everything at once", self.all, *first, "-fn", "7", "dev"),
            console,
        ]
        uv = Path(".venv-bench/uv/bin/cli").resolve()
        if uv.exists():
            env = {**self.env, "CLI_DIR": str(self.uv)}  # each environment has its lock
            rows.append(Timed("a console script that uv made", [str(uv), *first], env))
        rows.append(
            self.timed("Tab, 100 of 10,000 commands", self.made[10_000], *_tab(10_000))
        )
        rows.append(self.timed("Tab, 10 of 10 commands", self.made[10], *_tab(10)))
        self.report("run", self.floor(), rows)

    def recorded(self) -> None:
        """What the history costs a run of a script that does nothing."""
        ordinary = self.timed("ordinary run", self.made[10], *trees.words_of(0))
        env = {**self.env, "CLI_RECORD": "1"}
        self.report("recorded", ordinary, [Timed("run, recorded", ordinary.argv, env)])

    def answers(self) -> None:
        """What people wait for before they run something."""
        bare = Timed("bare interpreter", self.bare, self.env)
        rows = [
            self.timed("--version", self.made[10], "--version"),
            self.timed("listing of 10 commands", self.made[10], trees.words_of(0)[0]),
            self.timed(
                "listing of 100 commands, 10,000 in all", self.made[10_000], "cat042"
            ),
            self.timed("root of 100 categories", self.made[10_000]),
            self.timed(
                "self list --format json, 100 commands", self.made[100], *_json()
            ),
            Timed(
                "self plugin list, 100 plugins",
                [str(self.many_plugins), "self", "plugin", "list"],
                self.env,
            ),
        ]
        self.report("answer", bare, rows)

    def thousands(self) -> None:
        """Everything in a large tree, against a loop that only parses its definitions."""
        root = self.made[10_000]
        loop = [*self.bare[:-1], _LOOP.format(root=str(root / "commands"))]
        rows = [
            self.timed("self list --format json, 10,000 commands", root, *_json()),
            self.timed(
                "self search, 10,000 commands", root, "self", "search", "number 4242"
            ),
        ]
        self.report(
            "thousands",
            Timed("loop over the tree with json.loads", loop, self.env),
            rows,
        )

    def python_command(self) -> None:
        alone = Timed(
            "python -c 'import click'", [sys.executable, "-c", "import click"], self.env
        )
        row = self.timed(
            "command in Python with click", self.python, *trees.words_of(0)
        )
        self.report("python", alone, [row])

    def memory(self) -> None:
        for size in (10, 10_000):
            argv = [str(self.made[size] / "core" / "cli"), *trees.words_of(size - 1)]
            peak = peak_memory(argv, self.env)
            case = f"peak memory of a run before exec, {size:,} commands"
            print(f"{case}: {peak:.1f} MiB")
            self.figures[-1].append({"kind": "memory", "case": case, "mebibytes": peak})
        print()

    def side_by_side(self, size: int) -> None:
        """The same commands of other programs: run, listing and completion of one word."""
        root = self.made[size]
        ours = {
            "run": trees.words_of(size - 1),
            "list": _json(),
            "complete": _tab(size),
        }
        for what, words in ours.items():
            rows = [self.timed("cli", root, *words)]
            for name, sizes in self.peers.items():
                directory = str(self.scratch / f"{name}-{size}")
                env = {**self.env, "MISE_TRUSTED_CONFIG_PATHS": directory}
                if what == "complete":
                    env |= sizes[size].completing
                argv = getattr(sizes[size], what)
                rows.append(Timed(name, argv, env, directory))
                rows[-1].argv = [
                    shutil.which(name, path=self.env["PATH"]) or name,
                    *argv[1:],
                ]
            self.report(f"{what} of {size:,}", self.floor(), rows, size=size, what=what)

    def described(self) -> dict[str, Any]:
        """Return the figures of all takes with the machine and the versions."""
        versions = {"python": platform.python_version(), "cli-host": _version_of("cli")}
        versions |= {name: _version_of(name, self.env["PATH"]) for name in self.peers}
        return {
            "date": dt.datetime.now(dt.UTC).date().isoformat(),
            "machine": f"{platform.system()} {platform.machine()}, {_processor()}, "
            f"{os.cpu_count()} cores",
            "runs": self.count,
            "versions": versions,
            "takes": self.figures,
        }


def _tab(size: int) -> tuple[str, ...]:
    return ("--complete", "zsh", trees.words_of(size - 1)[0], "cmd")


def _json() -> tuple[str, ...]:
    return ("self", "list", "--format", "json")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next(
        (one.split(":")[1].strip() for one in lines if "model name" in one), "unknown"
    )


def _version_of(program: str, path: str = "") -> str:
    """Return the first word of `program --version` that has a digit."""
    if program == "cli":
        import importlib_metadata

        return str(importlib_metadata.version("cli-host"))
    found = shutil.which(program, path=path) or program
    text = subprocess.run(
        [found, "--version"], capture_output=True, text=True, check=True
    ).stdout
    return next((word for word in text.split() if word[:1].isdigit()), "?")


if __name__ == "__main__":
    main()

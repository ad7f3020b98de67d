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
_RULE = """\
from host import BeforeRun, hookimpl

@hookimpl
def before_run():
    yield BeforeRun("rule", "nowhere:check", words=("elsewhere",))
"""
_LOOP = """
import json, pathlib
for file in pathlib.Path({root!r}).rglob("command.json"):
    json.loads(file.read_text())
"""
_CLICK = "bench_click_command"  # a module beside the packages
_REMEMBERED = 3.0  # seconds after which the index remembers a file


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
    options = parser.parse_args()

    path = [
        str(Path(sys.executable).parent),
        str(Path(".venv-bench/node/bin").resolve()),
        "/usr/local/bin",
        "/usr/bin",
        "/bin",
    ]
    with tempfile.TemporaryDirectory() as scratch:
        env = {
            "PATH": os.pathsep.join(path),
            "HOME": scratch,
            "USER": "bench",
            "LANG": "C.UTF-8",
        }
        bench = Bench(Path(scratch), env, options.runs)
        bench.make(peers=not options.no_peers)
        for take in range(1, options.takes + 1):
            print(f"Take {take} of {options.takes}\n", flush=True)
            bench.figures.append([])
            bench.measure()

    if options.out:
        options.out.write_text(json.dumps(bench.described(), indent=1) + "\n")


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
            if peers:
                self._make_peers(size)

        self.settings = self.installation("settings")
        lines = "".join(f'SETTING_{i}="value {i}"\n' for i in range(10))
        (self.settings / "config/settings.conf").write_text(lines)
        self.uv = self.installation("uv")
        self.env_file = self.installation("env-file")
        self.change(self.env_file, env_files=[".env"])
        self.required = self.installation("required")
        self.change(self.required, requires=["sh", "tar", "bash>=3"])
        self.all = self.everything(lines)
        self.hooked = self.installation("hooked")
        _add_plugin(self.hooked, _SOURCE)
        self.ruled = self.installation("ruled")
        _add_plugin(self.ruled, _RULE)

        self._make_python_command()
        self._make_nested_run()
        self._make_plugins()
        time.sleep(_REMEMBERED)

    def _make_peers(self, size: int) -> None:
        for name, make in _PEERS.items():
            if shutil.which(name, path=self.env["PATH"]) is None:
                print(f"{name} is not installed here; left out")
                continue
            directory = self.scratch / f"{name}-{size}"
            directory.mkdir()
            self.peers.setdefault(name, {})[size] = make(directory, size)

    def _make_python_command(self) -> None:
        """Make an installation whose first command is a click command."""
        self.python = self.installation("python")
        self.change(self.python, entrypoint=f"{_CLICK}:main", envs={})
        packages = next(
            Path(path) for path in sys.path if path.endswith("site-packages")
        )
        code = "import click\n\n@click.command\ndef main():\n    pass\n"
        (packages / f"{_CLICK}.py").write_text(code)

    def _make_nested_run(self) -> None:
        """Make an installation whose first command runs its second one."""
        self.nested = self.installation("nested")
        inner = " ".join([str(self.nested / "core/cli"), *trees.words_of(1)])
        script = self.nested.joinpath("commands", *trees.words_of(0), "main.sh")
        script.write_text(f"#!/bin/bash\n{inner}\n")

    def _make_plugins(self) -> None:
        """Make installations with one plugin, with a disabled one, and with a hundred."""
        self.one_plugin = with_plugins(self.scratch / "one", 1)
        self.many_plugins = with_plugins(self.scratch / "many", 100)

        # Commands of its own, too, because the plugin's cannot run.
        self.disabled = with_plugins(self.scratch / "disabled", 1)
        root = self.disabled.parent.parent
        disable = [str(self.disabled), "self", "plugin", "disable", "p000"]
        subprocess.run(disable, env=self.env, check=True, stdout=subprocess.DEVNULL)
        trees.make_commands(root, 10)

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
        definition_file = directory / "command.json"
        definition = json.loads(definition_file.read_text())
        definition_file.write_text(json.dumps({**definition, **fields}))

        lines = "".join(f'ENTRY_{i}="$HOME/{i}"\n' for i in range(10))
        for name in (".env", ".env.local"):
            (directory / name).write_text(lines)
        return directory

    def everything(self, settings: str) -> Path:
        """Return an installation whose first command has every kind of source and arguments."""
        root = self.installation("everything")
        (root / "config/settings.conf").write_text(settings)
        envs = {f"BENCH_{index}": f"${{HOME}}/value{index}" for index in range(10)}
        self.change(root, envs=envs, env_files=[".env", ".env.local"], args=_ARGUMENTS)

        _add_plugin(root, _SOURCE)
        return root

    def timed(self, name: str, root: Path, *words: str) -> Timed:
        return Timed(name, [str(root / "core" / "cli"), *words], self.env)

    def floor(self) -> Timed:
        """The same script, started by the same interpreter with nothing in between."""
        script = self.made[10].joinpath("commands", *trees.words_of(0), "main.sh")
        path = str(script)
        program = f"import os; os.execv({path!r}, [{path!r}])"
        argv = [sys.executable, "-I", "-S", "-c", program]
        return Timed("floor", argv, self.env)

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
            milliseconds = row.median * 1000
            print(f"  {row.name:<52} {milliseconds:9.2f} ms {ratio:7.2f} x", flush=True)
            figure = {
                "kind": kind,
                "case": row.name,
                "ratio": ratio,
                "seconds": row.median,
                "runs": len(row.seconds),
                **more,
            }
            self.figures[-1].append(figure)
        print()

    def measure(self) -> None:
        self.runs()
        self.recorded()
        self.ruled_elsewhere()
        self.answers()
        self.thousands()
        self.python_command()
        self.memory()
        if self.peers:
            for size in self.made:
                self.side_by_side(size)

    def runs(self) -> None:
        first = trees.words_of(0)
        one, many = str(self.one_plugin), str(self.many_plugins)
        of_plugin = ("c000-0", "k0")

        rows = []
        for size, root in self.made.items():
            if size != 100:
                last = trees.words_of(size - 1)
                rows.append(self.timed(f"run, {size:,} commands", root, *last))
        rows += [
            Timed("run, 1 plugin", [one, *of_plugin], self.env),
            Timed("run, 1 disabled plugin", [str(self.disabled), *first], self.env),
            Timed("run, 100 plugins", [many, *of_plugin], self.env),
            self.timed("run inside a run", self.nested, *first),
            self.timed("run, settings.conf of ten assignments", self.settings, *first),
            self.timed("run, .env of ten lines", self.env_file, *first),
            self.timed("run, three required programs", self.required, *first),
            self.timed("run, everything at once", self.all, *first, "-fn", "7", "dev"),
        ]
        rows += self._console_scripts()

        root = self.made[10_000]
        rows.append(self.timed("Tab, 100 of 10,000 commands", root, *_tab(10_000)))
        rows.append(self.timed("Tab, 10 of 10 commands", self.made[10], *_tab(10)))
        self.report("run", self.floor(), rows)

    def _console_scripts(self) -> list[Timed]:
        """Return runs that begin with the scripts of pip and uv instead of our launcher."""
        first = trees.words_of(0)
        pip = Path(sys.executable).parent / "cli"
        env = {**self.env, "CLI_DIR": str(self.made[10])}
        rows = [Timed("a console script that pip made", [str(pip), *first], env)]

        uv = Path(".venv-bench/uv/bin/cli").resolve()
        if uv.exists():
            env = {**self.env, "CLI_DIR": str(self.uv)}  # each environment has its lock
            rows.append(Timed("a console script that uv made", [str(uv), *first], env))
        return rows

    def recorded(self) -> None:
        """What the history costs a run of a script that does nothing."""
        first = trees.words_of(0)
        ordinary = self.timed("ordinary run", self.made[10], *first)
        env = {**self.env, "CLI_RECORD": "1"}
        recorded = Timed("run, recorded", ordinary.argv, env)
        self.report("recorded", ordinary, [recorded])

    def ruled_elsewhere(self) -> None:
        """What a plugin's `before_run` for other commands costs a run: nothing, if all is well."""
        first = trees.words_of(0)
        plain = self.timed("run with a plugin", self.hooked, *first)
        ruled = self.timed("run, a plugin's before_run for others", self.ruled, *first)
        self.report("ruled", plain, [ruled])

    def answers(self) -> None:
        """What people wait for before they run something."""
        bare = Timed("bare interpreter", self.bare, self.env)
        small, large = self.made[10], self.made[10_000]
        plugin_list = [str(self.many_plugins), "self", "plugin", "list"]
        rows = [
            self.timed("--version", small, "--version"),
            self.timed("listing of 10 commands", small, trees.words_of(0)[0]),
            self.timed("listing of 100 commands, 10,000 in all", large, "cat042"),
            self.timed("root of 100 categories", large),
            self.timed(
                "self list --format json, 100 commands", self.made[100], *_json()
            ),
            Timed("self plugin list, 100 plugins", plugin_list, self.env),
        ]
        self.report("answer", bare, rows)

    def thousands(self) -> None:
        """Everything in a large tree, against a loop that only parses its definitions."""
        root = self.made[10_000]
        program = _LOOP.format(root=str(root / "commands"))
        loop = Timed(
            "loop over the tree with json.loads", [*self.bare[:-1], program], self.env
        )
        search = ("self", "search", "number 4242")
        rows = [
            self.timed("self list --format json, 10,000 commands", root, *_json()),
            self.timed("self search, 10,000 commands", root, *search),
        ]
        self.report("thousands", loop, rows)

    def python_command(self) -> None:
        argv = [sys.executable, "-c", "import click"]
        alone = Timed("python -c 'import click'", argv, self.env)
        first = trees.words_of(0)
        row = self.timed("command in Python with click", self.python, *first)
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
                rows.append(self._of_peer(name, sizes[size], what, size))
            self.report(f"{what} of {size:,}", self.floor(), rows, size=size, what=what)

    def _of_peer(self, name: str, peer: trees.Peer, what: str, size: int) -> Timed:
        directory = str(self.scratch / f"{name}-{size}")
        env = {**self.env, "MISE_TRUSTED_CONFIG_PATHS": directory}
        if what == "complete":
            env |= peer.completing

        # The absolute path, so that nothing is searched for while the clock runs.
        _, *arguments = getattr(peer, what)
        program = shutil.which(name, path=self.env["PATH"]) or name
        return Timed(name, [program, *arguments], env, directory)

    def described(self) -> dict[str, Any]:
        """Return the figures of all takes with the machine and the versions."""
        versions = {"python": platform.python_version(), "cli-host": _version_of("cli")}
        for name in self.peers:
            versions[name] = _version_of(name, self.env["PATH"])

        system = f"{platform.system()} {platform.machine()}"
        return {
            "date": dt.datetime.now(dt.UTC).date().isoformat(),
            "machine": f"{system}, {_processor()}, {os.cpu_count()} cores",
            "runs": self.count,
            "versions": versions,
            "takes": self.figures,
        }


def _add_plugin(root: Path, hooks: str) -> None:
    """Give an installation a plugin with these hooks."""
    plugin = root / "plugins/elsewhere"
    plugin.mkdir(parents=True)
    manifest = {"name": "elsewhere", "hooks": "hooks.py"}
    (plugin / "plugin.json").write_text(json.dumps(manifest))
    (plugin / "hooks.py").write_text(hooks)


def _tab(size: int) -> tuple[str, ...]:
    return ("--complete", "zsh", trees.words_of(size - 1)[0], "cmd")


def _json() -> tuple[str, ...]:
    return ("self", "list", "--format", "json")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()

    for line in lines:
        if "model name" in line:
            return line.split(":")[1].strip()
    return "unknown"


def _version_of(program: str, path: str = "") -> str:
    """Return the first word of `program --version` that has a digit."""
    if program == "cli":
        import importlib_metadata

        return str(importlib_metadata.version("cli-host"))

    file = shutil.which(program, path=path) or program
    finished = subprocess.run(
        [file, "--version"], capture_output=True, text=True, check=True
    )
    for word in finished.stdout.split():
        if word[:1].isdigit():
            return word
    return "?"


if __name__ == "__main__":
    main()

"""`bench/run`: what a run and a listing cost, as ratios to a baseline of the same minute."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import trees
from timing import Timed, measure, peak_memory, table

_PEERS: dict[str, Callable[[Path, int], list[str]]] = {
    "just": trees.make_justfile,
    "task": trees.make_taskfile,
    "invoke": trees.make_invoke,
    "mise": trees.make_mise,
}

_ARGUMENTS = [
    {"name": "--force", "short": "-f"},
    {"name": "--count", "short": "-n", "value": "N", "type": "integer", "default": "3"},
    {"name": "env", "choices": ["dev", "prod"], "required": True},
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=31, help="measured runs of each (31)")
    parser.add_argument("--sizes", default="10,1000,10000", help="commands in the trees")
    parser.add_argument("--no-peers", action="store_true")
    asked = parser.parse_args()
    sizes = [int(size) for size in asked.sizes.split(",")]
    bin_dirs = [str(Path(sys.executable).parent), str(Path(".venv-bench/node/bin").resolve())]
    with tempfile.TemporaryDirectory() as scratch:
        env = {
            "PATH": os.pathsep.join([*bin_dirs, "/usr/local/bin", "/usr/bin", "/bin"]),
            "HOME": scratch,
            "USER": "bench",
            "LANG": "C.UTF-8",
        }
        bench = Bench(Path(scratch), env, asked.runs)
        made = {size: bench.installation(size) for size in sizes}
        bench.runs(made)
        bench.environments(made[sizes[0]])
        bench.arguments(made[sizes[0]])
        bench.listings(made)
        bench.memory(made)
        if not asked.no_peers:
            for size in sizes:
                bench.peers(made[size], size)


class Bench:
    """The measurements, each printed when it is done."""

    def __init__(self, scratch: Path, env: dict[str, str], runs: int) -> None:
        self.scratch = scratch
        self.env = env
        self.count = runs
        self.bare = [sys.executable, "-I", "-S", "-c", "pass"]

    def installation(self, size: int, name: str = "") -> Path:
        root = self.scratch / f"cli-{size}{name}"
        init = [str(Path(sys.executable).parent / "cli"), "self", "init", str(root)]
        subprocess.run(init, env=self.env, check=True, stdout=subprocess.DEVNULL)
        shutil.rmtree(root / "commands")
        trees.make_commands(root, size)
        return root

    def timed(self, name: str, root: Path, *words: str) -> Timed:
        return Timed(name, [str(root / "core" / "cli"), *words], self.env)

    def floor(self, root: Path) -> Timed:
        """The same script, started by the same interpreter with nothing in between."""
        category, command = trees.words_of(0)
        script = str(root / "commands" / category / command / "main.sh")
        program = f"import os; os.execv({script!r}, [{script!r}])"
        return Timed(
            "floor: python -I -S -c execv", [sys.executable, "-I", "-S", "-c", program], self.env
        )

    def report(self, title: str, candidates: list[Timed], baseline: Timed) -> None:
        measure(candidates, self.count)
        print(table(title, candidates, baseline), end="\n\n", flush=True)

    def runs(self, made: dict[int, Path]) -> None:
        smallest = min(made)
        floor = self.floor(made[smallest])
        rows = [floor]
        for size, root in made.items():
            rows.append(self.timed(f"run, {size} commands", root, *trees.words_of(size - 1)))
        console = self.timed("console script of pip, smallest tree", made[smallest])
        console.argv = [str(Path(sys.executable).parent / "cli"), *trees.words_of(0)]
        console.env = {**self.env, "CLI_DIR": str(made[smallest])}
        self.report("A run with five envs", [*rows, console], floor)
        if len(made) > 1:
            ratio = rows[-1].median / rows[1].median
            print(f"  {rows[-1].name} against {rows[1].name}: {ratio:.2f} x\n")

    def environments(self, root: Path) -> None:
        floor = self.floor(root)
        words = trees.words_of(0)
        with_settings = self.installation(10, "-settings")
        lines = "".join(f'SETTING_{i}="value {i}"\n' for i in range(10))
        (with_settings / "config" / "settings.conf").write_text(lines)
        with_env_file = self.installation(10, "-env-file")
        directory = with_env_file / "commands" / words[0] / words[1]
        (directory / ".env").write_text("".join(f'ENTRY_{i}="$HOME/{i}"\n' for i in range(10)))
        definition = directory / "command.json"
        definition.write_text(definition.read_text().replace("{", '{"env_files": [".env"], ', 1))
        rows = [
            floor,
            self.timed("run, no files", root, *words),
            self.timed("run, settings.conf of ten assignments", with_settings, *words),
            self.timed("run, .env of ten lines", with_env_file, *words),
        ]
        self.report("What the sources of variables add", rows, floor)

    def arguments(self, root: Path) -> None:
        """The same command with the same three words, which one of the two declares."""
        bare = Timed("bare interpreter: python -I -S -c pass", self.bare, self.env)
        words = trees.words_of(0)
        declaring = self.installation(10, "-arguments")
        definition = declaring / "commands" / words[0] / words[1] / "command.json"
        definition.write_text(
            definition.read_text().replace("{", f'{{"args": {json.dumps(_ARGUMENTS)}, ', 1)
        )
        given = (*words, "-fn", "7", "dev")
        without = self.timed("run with three words", root, *given)
        declared = self.timed("run with three declared arguments", declaring, *given)
        self.report("What declared arguments add", [bare, without, declared], bare)
        print(
            f"  {declared.name} against {without.name}: {declared.median / without.median:.2f} x\n"
        )

    def listings(self, made: dict[int, Path]) -> None:
        bare = Timed("bare interpreter: python -I -S -c pass", self.bare, self.env)
        rows = [bare]
        for size, root in made.items():
            category = trees.words_of(size - 1)[0]
            below = min(size, trees.PER_CATEGORY)
            rows.append(self.timed(f"list a category of {below}, {size} in all", root, category))
        largest = max(made)
        rows.append(
            self.timed(
                f"self list --format json, {largest}",
                made[largest],
                *("self", "list", "--format", "json"),
            )
        )
        self.report("Listings", rows, bare)

    def memory(self, made: dict[int, Path]) -> None:
        for size, root in made.items():
            argv = [str(root / "core" / "cli"), *trees.words_of(size - 1)]
            peak = peak_memory(argv, self.env)
            print(f"Peak memory of a run before exec, {size} commands: {peak:.1f} MiB")
        print()

    def peers(self, root: Path, size: int) -> None:
        floor = self.floor(root)
        rows = [floor, self.timed(f"cli, {size} commands", root, *trees.words_of(size - 1))]
        for peer, make in _PEERS.items():
            program = shutil.which(peer, path=self.env["PATH"])
            if program is None:
                print(f"  {peer} is not installed here; left out")
                continue
            directory = self.scratch / f"{peer}-{size}"
            directory.mkdir()
            argv = [program, *make(directory, size)[1:]]
            env = {**self.env, "MISE_TRUSTED_CONFIG_PATHS": str(directory)}
            rows.append(Timed(f"{peer}, {size} commands", argv, env, str(directory)))
        self.report(f"The same {size} commands elsewhere", rows, floor)


if __name__ == "__main__":
    main()

"""What plugins cost: lists, runs and the first run after an installation, against baselines.

    python bench/plugins.py [--runs N]

Makes installations with 1 and with 100 plugins (10,000 commands), and a virtual
environment with 50 other distributions; prints each figure beside its limit.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from timing import Timed, measure

from builtin_plugins.program.launcher import write_launcher

_WRITE = """
import sys
from builtin_plugins.program.launcher import write_launcher
write_launcher(sys.argv[1])
"""
_COMMAND = {"name": "Name", "description": "Description", "entrypoint": "main.sh"}
_HOOKS = "from host import hookimpl\n@hookimpl\ndef discover_commands(): return []\n"
_PLUGINS = 100
_CATEGORIES = 10  # of each plugin
_COMMANDS = 10  # in each category
_WORDS = ("c000-0", "k0")  # the first command of the first plugin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--runs", type=int, default=21, help="measured runs of each (21)"
    )
    runs = parser.parse_args().runs

    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        env = {"PATH": "/usr/bin:/bin", "HOME": scratch}
        one = str(installation(root / "one", 1))
        many = str(installation(root / "many", _PLUGINS))

        bare = [sys.executable, "-I", "-S", "-c", "pass"]
        base = Timed("bare interpreter", bare, env)
        listed = Timed("list", [many, "self", "plugin", "list"], env)
        with_one = Timed("run, 1 plugin", [one, *_WORDS], env)
        with_many = Timed("run, 100 plugins", [many, *_WORDS], env)
        measure([base, listed, with_one, with_many], runs)

        report("self plugin list, 100 plugins, 10,000 commands", listed, base, 4)
        report("a run with 100 plugins to one with 1", with_many, with_one, 1.15)
        first_run(root / "venv", env, runs)


def report(what: str, timed: Timed, base: Timed, limit: float) -> None:
    ratio = timed.median / base.median
    print(f"{what}: {timed.median * 1000:.1f} ms, {ratio:.2f} x (limit {limit:g})")


def installation(root: Path, plugins: int) -> Path:
    """Make an installation with that many plugins of 100 commands; return its launcher."""
    for path in ("core", "commands", "plugins"):
        (root / path).mkdir(parents=True)
    (root / "core/cli.json").write_text('{"name": "Bench", "version": "1.0.0"}')

    for plugin in range(plugins):
        folder = root / f"plugins/p{plugin:03}"
        for category in range(_CATEGORIES):
            for command in range(_COMMANDS):
                make_command(folder / f"c{plugin:03}-{category}/k{command}")

    # The first runs write the lock and the index.
    launcher = root / "core/cli"
    write_launcher(launcher)
    subprocess.run([launcher, *_WORDS], check=True)
    subprocess.run([launcher, *_WORDS], check=True)
    return launcher


def make_command(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "command.json").write_text(json.dumps(_COMMAND))
    (folder / "main.sh").write_text("#!/bin/sh\n")
    (folder / "main.sh").chmod(0o755)


def first_run(root: Path, env: dict[str, str], runs: int) -> None:
    """Time the first run after a plugin was installed, with 50 other distributions there."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root], check=True)
    packages = next((root / "lib").glob("python*")) / "site-packages"
    own = next(Path(path) for path in sys.path if (Path(path) / "pluggy").is_dir())
    source = Path(__file__).parent.parent / "src"
    (packages / "own.pth").write_text(f"{own}\n{source}\n")
    for number in range(50):
        distribution(packages, f"other{number}", "")

    # The launcher must start this environment, so its own Python writes it.
    installation_root = root / "installation"
    installation(installation_root, 1)
    launcher = installation_root / "core/cli"
    subprocess.run([root / "bin/python", "-c", _WRITE, launcher], check=True)

    seconds = []
    for number in range(runs):
        name = f"plugin{number}"
        distribution(packages, name, f"[cli_host]\n{name} = {name}\n")
        before = time.perf_counter()
        subprocess.run([launcher, *_WORDS], check=True, env=env)
        seconds.append(time.perf_counter() - before)
    middle = statistics.median(seconds)
    print(f"first run after an installation, 50 others: {middle:.2f} s (limit 0.5)")


def distribution(packages: Path, name: str, points: str) -> None:
    """Install a distribution as pip would."""
    metadata = f"{name}-1.0.dist-info"
    files = {
        f"{name}.py": _HOOKS,
        f"{metadata}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{metadata}/entry_points.txt": points,
        f"{metadata}/RECORD": "",
    }
    for name_of_file, text in files.items():
        path = packages / name_of_file
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main()

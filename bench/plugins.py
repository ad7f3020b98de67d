"""What plugins cost: lists, runs and the first run after an installation, against baselines.

    python bench/plugins.py [--runs N]

Makes installations with 1 and with 100 plugins (10,000 commands), and a virtual
environment with 50 other distributions; prints each figure beside its limit.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from timing import Timed, measure

from builtin_plugins.administration.program.launcher import write_launcher

_WRITE = """
import sys
from builtin_plugins.administration.program.launcher import write_launcher
write_launcher(sys.argv[1])
"""
_COMMAND = {"name": "Name", "description": "Description", "entrypoint": "main.sh"}
_PLUGINS, _CATEGORIES, _COMMANDS = 100, 10, 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--runs", type=int, default=21, help="measured runs of each (21)"
    )
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        env = {"PATH": "/usr/bin:/bin", "HOME": scratch}
        bare = [sys.executable, "-I", "-S", "-c", "pass"]
        one, many = installation(root / "one", 1), installation(root / "many", _PLUGINS)
        word = ["c000-0", "k0"]
        base = Timed("bare interpreter", bare, env)
        listed = Timed("list", [str(many), "self", "plugin", "list"], env)
        few = Timed("run, 1 plugin", [str(one), *word], env)
        lots = Timed("run, 100 plugins", [str(many), *word], env)
        measure([base, listed, few, lots], runs)
        report("self plugin list, 100 plugins, 10,000 commands", listed, base, 4)
        report("a run with 100 plugins to one with 1", lots, few, 1.15)
        first_run(root / "venv", env, runs)


def report(what: str, found: Timed, base: Timed, limit: float) -> None:
    ratio = found.median / base.median
    print(f"{what}: {found.median * 1000:.1f} ms, {ratio:.2f} x (limit {limit:g})")


def installation(root: Path, plugins: int) -> Path:
    """Make an installation with that many plugins of 100 commands; return its launcher."""
    for path in ("core", "commands", "plugins"):
        (root / path).mkdir(parents=True)
    (root / "core/cli.json").write_text('{"name": "Bench", "version": "1.0.0"}')
    for plugin in range(plugins):
        for category in range(_CATEGORIES):
            for command in range(_COMMANDS):
                place = (
                    root / f"plugins/p{plugin:03}/c{plugin:03}-{category}/k{command}"
                )
                place.mkdir(parents=True)
                (place / "command.json").write_text(json.dumps(_COMMAND))
                (place / "main.sh").write_text("#!/bin/sh\n")
                (place / "main.sh").chmod(0o755)
    launcher = root / "core/cli"
    write_launcher(launcher)
    subprocess.run([launcher, "c000-0", "k0"], check=True)
    subprocess.run([launcher, "c000-0", "k0"], check=True)
    return launcher


def first_run(root: Path, env: dict[str, str], runs: int) -> None:
    """Time the first run after a plugin was installed, with 50 other distributions there."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root], check=True)
    packages = next((root / "lib").glob("python*")) / "site-packages"
    own = next(Path(path) for path in sys.path if (Path(path) / "pluggy").is_dir())
    source = Path(__file__).parent.parent / "src"
    (packages / "own.pth").write_text(f"{own}\n{source}\n")
    for number in range(50):
        distribution(packages, f"other{number}", "")
    installation_root = root / "installation"
    installation(installation_root, 1)
    launcher = installation_root / "core/cli"
    subprocess.run(
        [
            *(root / "bin/python", "-c"),
            _WRITE,
            launcher,
        ],
        check=True,
    )
    seconds = []
    for number in range(runs):
        distribution(
            packages,
            f"plugin{number}",
            f"[cli_host]\nplugin{number} = plugin{number}\n",
        )
        before = time.perf_counter()
        subprocess.run([launcher, "c000-0", "k0"], check=True, env=env)
        seconds.append(time.perf_counter() - before)
    middle = sorted(seconds)[len(seconds) // 2]
    print(f"first run after an installation, 50 others: {middle:.2f} s (limit 0.5)")


def distribution(packages: Path, name: str, points: str) -> None:
    """Install a distribution as pip would."""
    files = {
        f"{name}.py": "from host import hookimpl\n@hookimpl\ndef discover_commands(): return []\n",
        f"{name}-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{name}-1.0.dist-info/entry_points.txt": points,
        f"{name}-1.0.dist-info/RECORD": "",
    }
    archive = packages / f"{name}.zip"
    with zipfile.ZipFile(archive, "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    with zipfile.ZipFile(archive) as wheel:
        wheel.extractall(packages)
    archive.unlink()


if __name__ == "__main__":
    main()

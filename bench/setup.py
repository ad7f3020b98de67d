"""How long `setup <tool>` takes for a large archive, against curl and tar on the same file.

    python bench/setup.py [MEGABYTES]

Serves an archive of that many megabytes (200) from this machine, made of programs and
libraries found here, and prints the medians of five runs each, their ratio and the
peak memory of a run. Baseline: `curl -o archive URL && tar -xf archive`.
"""

from __future__ import annotations

import http.server
import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

RUNS = 5
# Directories with programs and libraries of this machine.
_SOURCES = (
    "/usr/lib/x86_64-linux-gnu",
    "/usr/bin",
    "/usr/lib",
    "/usr/local/lib",
    "/opt",
)
SETUP = (
    "import resource, sys; from builtin_plugins.setup import main; main(['--quiet']);"
    "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"
)


def files() -> Iterator[Path]:
    for base in _SOURCES:
        for above, _, names in os.walk(base):
            for name in names:
                path = Path(above, name)
                if path.is_file() and not path.is_symlink():
                    yield path


def make_archive(path: Path, size: int) -> int:
    """Write a .tar.gz of about `size` bytes; return how many files it holds."""
    count = 0
    with tarfile.open(path, "w:gz", compresslevel=6) as archive:
        launcher = tarfile.TarInfo("App/tool")
        launcher.mode = 0o755
        archive.addfile(launcher)

        for count, file in enumerate(files(), 1):
            name = f"App/{count % 50}/{count}"
            archive.add(file, name, recursive=False, filter=plain)
            if path.stat().st_size >= size:
                break
    return count


def plain(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return member if member.isreg() else None


def serve(directory: Path) -> str:
    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments, directory=str(directory))  # type: ignore[arg-type]

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def make_command(root: Path) -> None:
    """Make an installation with the command `setup tool`."""
    definitions = {
        "core/cli.json": {"name": "CLI", "version": "1.0.0"},
        "commands/setup/tool/command.json": {
            "name": "Tool",
            "description": "A tool",
            "entrypoint": "builtin_plugins.setup:main",
        },
    }
    for name, content in definitions.items():
        path = root / name
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(content))


def with_setup(address: str, root: Path, place: Path) -> tuple[float, int]:
    """Return seconds and peak MiB of one installation."""
    environ = os.environ | {
        "CLI_DIR": str(root),
        "COMMAND_CATEGORY": "setup",
        "COMMAND_NAME": "tool",
        "TOOL_DOWNLOAD_URL": address,
        "TOOL_INSTALL_DIR": str(place / "opt" / "tool"),
        "TOOL_BIN_DIR": str(place / "bin"),
        "TOOL_DESKTOP_FILE": str(place / "share" / "tool.desktop"),
    }
    started = time.perf_counter()
    finished = subprocess.run(
        [sys.executable, "-c", SETUP],
        env=environ,
        check=True,
        capture_output=True,
        text=True,
    )
    seconds = time.perf_counter() - started
    return seconds, int(finished.stdout)


def with_curl_and_tar(address: str, place: Path) -> float:
    place.mkdir()
    archive = place / "archive"
    started = time.perf_counter()
    subprocess.run(["curl", "-sSf", "-o", archive, address], check=True)
    subprocess.run(["tar", "-C", place, "-xf", archive], check=True)
    return time.perf_counter() - started


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as directory:
        base = Path(directory)
        archive = base / "site" / "tool.tar.gz"
        archive.parent.mkdir()
        make_command(base / "root")
        count = make_archive(archive, megabytes * 1_000_000)
        address = f"{serve(archive.parent)}/{archive.name}"

        ours = []
        theirs = []
        memory = 0
        for _ in range(RUNS):
            place = base / "place"
            theirs.append(with_curl_and_tar(address, place))
            shutil.rmtree(place)

            seconds, peak = with_setup(address, base / "root", place)
            ours.append(seconds)
            memory = max(memory, peak)
            shutil.rmtree(place)

        own = statistics.median(ours)
        baseline = statistics.median(theirs)
        packed = archive.stat().st_size / 1e6
        print(f"archive: {packed:.0f} MB packed, {count} files, {RUNS} runs each")
        print(f"setup:       {own:6.2f} s  (peak memory {memory} MiB)")
        print(f"curl + tar:  {baseline:6.2f} s  (baseline)")
        print(f"ratio:       {own / baseline:6.2f}  (target: at most 1.5)")


if __name__ == "__main__":
    main()

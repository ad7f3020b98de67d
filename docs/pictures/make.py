"""The pictures of README and pages: real runs on a terminal, as SVG. `make.py` writes them anew.

Each run is that of somebody whose home is /home/babbage: a directory whose path is as long, so
that lines break where they would.
"""

from __future__ import annotations

import fcntl
import http.server
import io
import json
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

HERE = Path(__file__).parent
_HOME = "/home/babbage"
_LAST_PIECE = 1 << 17  # bytes, as many as a download reads at once
_PATIENCE = 60.0  # seconds for a run
_PROMPT = "\033[1m$\033[0m "
_BAR = re.compile(r"\r(Postman:  50%\|)[^|\r]*(\| \S+ )\[[^\r]*\]")
_CODES = re.compile(r"\033\[[0-9;]*m")
_COLOURS = TerminalTheme(
    (27, 31, 42),
    (220, 225, 235),
    [
        (27, 31, 42),
        (255, 121, 121),
        (122, 214, 138),
        (240, 200, 110),
        (122, 170, 255),
        (214, 150, 235),
        (112, 208, 224),
        (220, 225, 235),
    ],
)
# The fonts are those of the reader's own system: nothing is fetched to look at a picture.
_SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, "SF Mono", Menlo, Consolas,
  "DejaVu Sans Mono", monospace; font-size: {char_height}px; }}
.{unique_id}-title {{ font: bold 18px system-ui, sans-serif; }}
{styles}
</style>
<defs>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
_COMMAND = {"entrypoint": "main.sh"}
_ACME: dict[str, dict[str, object] | str] = {
    "core/cli.json": {
        "name": "Acme",
        "description": "What the Acme team runs every day",
        "version": "2.4.0",
    },
    "config/settings.conf": "ACME_REGION=eu-west\nACME_TOKEN=3f9a-bb07\n",
    "commands/db/category.json": {"name": "db", "description": "Databases: backups, migrations"},
    "commands/db/backup/command.json": _COMMAND
    | {"name": "Backup", "description": "Write a dump of a database", "effects": "read"},
    "commands/db/drop/command.json": _COMMAND
    | {
        "name": "Drop",
        "description": "Drop a database of a branch",
        "effects": "destroy",
        "confirm": "Drop it?",
    },
    "commands/db/tune/command.json": _COMMAND
    | {"name": "Tune", "description": "Set kernel limits for the server", "sudo": True},
    "commands/deploy/category.json": {"name": "deploy", "description": "Bring versions to servers"},
    "commands/deploy/staging/.env": "ACME_REGION=local\nACME_REPLICAS=2\n",
    "commands/deploy/staging/command.json": _COMMAND
    | {
        "name": "Staging",
        "description": "Deploy the branch that is checked out to staging",
        "args": [
            {"name": "branch", "default": "main"},
            {"name": "--dry-run", "short": "-n", "description": "only say what would be done"},
        ],
        "env_files": [".env"],
        "envs": {"ACME_STAGE": "staging", "ACME_REPLICAS": "3"},
    },
    "commands/setup/docker/command.json": _COMMAND
    | {
        "name": "Docker",
        "description": "Containers, for the services that tests need",
        "sudo": True,
        "installed_when": {"path": "/"},
    },
}
_PLUGIN: dict[str, dict[str, object] | str] = {
    "plugin.json": {"name": "release", "version": "1.4.0", "description": "Release trains"},
    "db/migrate/command.json": _COMMAND
    | {"name": "Migrate", "description": "Bring a schema to the newest migration"},
    "setup/terraform/command.json": _COMMAND
    | {
        "name": "Terraform",
        "description": "Servers from files, in the version that we pin",
        "installed_when": {"path": "/"},
    },
}
_NEWER: dict[str, dict[str, object] | str] = {
    "plugin.json": {"name": "release", "version": "1.5.0", "description": "Release trains"},
    "release/cut/command.json": _COMMAND
    | {"name": "Cut", "description": "Cut a release from main", "sudo": True},
    "setup/terraform/command.json": _COMMAND
    | {
        "name": "Terraform",
        "description": "Servers from files, in the version that we pin",
        "installed_when": {"path": "/"},
        "envs": {"TERRAFORM_VERSION": "1.13"},
    },
}


def screens() -> dict[str, str]:
    """Return what each picture shows, as a terminal gets it; nothing in it changes by chance."""
    home = tempfile.mkdtemp(prefix="", dir="/tmp")
    try:
        return {name: text.replace(home, _HOME) for name, text in _Desk(home).screens()}
    finally:
        shutil.rmtree(home)


class _Desk:
    """A home with an installation called acme, and a plugin from git that has a newer version."""

    def __init__(self, home: str) -> None:
        if len(home) != len(_HOME):
            raise AssertionError(f"{home} is not as long as {_HOME}")
        self.home = Path(home)
        self.root = self.home / "acme"
        bin_dir = self.home / ".local" / "bin"
        bin_dir.mkdir(parents=True)
        (bin_dir / "acme").symlink_to(self.root / "core" / "acme")
        self.environ = {
            "PATH": f"{bin_dir}:/usr/local/bin:/usr/bin:/bin",
            "HOME": home,
            "USER": "babbage",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            **{
                f"GIT_{who}_{what}": value
                for who in ("AUTHOR", "COMMITTER")
                for what, value in (
                    ("NAME", "Ada"),
                    ("EMAIL", "ada@example.com"),
                    ("DATE", "2026-01-05T09:00:00Z"),
                )
            },
        }
        self._quietly(
            sys.executable, "-m", "host", "self", "init", str(self.root), "--name", "acme"
        )
        shutil.rmtree(self.root / "commands" / "demo")
        _write(self.root, _ACME)

    def screens(self) -> Iterator[tuple[str, str]]:
        """Yield each picture's name and text."""
        plugin = self.home / "plugins" / "release"
        _write(plugin, _PLUGIN)
        self._quietly("git", "-C", str(plugin), "init", "--quiet", "--initial-branch=main")
        self._commit(plugin)
        self._quietly("acme", "self", "plugin", "add", f"file://{plugin}", "--yes")
        yield "root", self._shown(80, "acme")
        yield "category", self._shown(80, "acme db", "acme setup")
        yield "env", self._shown(108, "ACME_STAGE=review acme self env deploy staging")
        wrong = ("acme stagin", "acme deploy staging --dry-rnu", "acme self plugin install x")
        yield "suggestion", self._shown(80, *wrong)
        yield "progress", self._download(80)
        _write(plugin, _NEWER)
        self._commit(plugin)
        yield "update", self._shown(80, "acme self plugin update --dry-run")
        (self.root / "commands/db/tune/main.sh").unlink()
        self.root.joinpath("config/settings.conf").chmod(0o666)
        yield "doctor", self._shown(108, "acme self doctor")

    def _commit(self, repository: Path) -> None:
        self._quietly("git", "-C", str(repository), "add", "--all")
        self._quietly("git", "-C", str(repository), "commit", "--quiet", "--message", "Release")

    def _quietly(self, *words: str) -> None:
        subprocess.run(words, env=self.environ, check=True, capture_output=True)

    def _shown(self, columns: int, *lines: str) -> str:
        """Return a session of command lines, each behind a prompt, with what it shows."""
        return "\n".join(f"{_PROMPT}{line}\n{self._run(columns, line)}" for line in lines)

    def _run(self, columns: int, line: str, until: re.Pattern[str] | None = None) -> str:
        """Return what a command shows on a terminal, to its end or until something is there."""
        child, terminal = pty.fork()
        if not child:
            os.chdir(self.home)
            os.execve("/bin/bash", ["bash", "-c", line], self.environ)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        shown = b""
        end = time.monotonic() + _PATIENCE
        while not (until and until.search(shown.decode(errors="ignore"))):
            if not select.select([terminal], [], [], end - time.monotonic())[0]:
                raise AssertionError(f"{line}: {shown!r}")
            try:
                chunk = os.read(terminal, 65536)
            except OSError:  # its end, on Linux
                break
            if not chunk:
                break
            shown += chunk
        os.close(terminal)
        os.waitpid(child, 0)
        return shown.decode().replace("\r\n", "\n")

    def _download(self, columns: int) -> str:
        """Return a download that is half done: its server holds the other half back."""
        line = "acme setup postman"
        with _half_served() as port:
            url = f"POSTMAN_DOWNLOAD_URL=http://127.0.0.1:{port}/postman.tar.gz"
            there = (
                f"POSTMAN_INSTALL_DIR={self.home}/postman POSTMAN_BIN_DIR={self.home}/.local/bin"
            )
            menu = f"POSTMAN_DESKTOP_FILE={self.home}/postman.desktop"
            shown = self._run(columns, f"{url} {there} {menu} {line}", _BAR)
        tool = json.loads((self.root / "commands/setup/postman/command.json").read_text())
        said = re.sub(r"http://127\S+", tool["envs"]["POSTMAN_DOWNLOAD_URL"], shown.split("\r")[0])
        found = _BAR.search(shown)
        if found is None:
            raise AssertionError(shown)
        # The rate is chance, and the length of the bar depends on how the rate is written.
        behind = f"{found[2]}[00:01<00:01, 8.40MiB/s]"
        room = columns - 1 - len(found[1]) - len(behind)
        bar = "█" * (room // 2) + "▌" * (room % 2)
        return f"{_PROMPT}{line}\n{said}{found[1]}{bar:<{room}}{behind}\n"


@contextmanager
def _half_served(size: int = 24 << 20) -> Iterator[int]:
    """Serve half of a file and then nothing; give the port."""
    done = threading.Event()

    class Half(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(size))
            self.end_headers()
            self.wfile.write(bytes(size // 2 - _LAST_PIECE))
            self.wfile.flush()
            time.sleep(0.3)  # the bar is drawn again only after a while
            self.wfile.write(bytes(_LAST_PIECE))
            self.wfile.flush()
            done.wait(_PATIENCE)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Half) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_port
        finally:
            done.set()
            server.shutdown()


def _write(root: Path, files: Mapping[str, dict[str, object] | str]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
        if isinstance(content, dict) and "entrypoint" in content:
            path.with_name("main.sh").write_text("#!/usr/bin/env bash\necho done\n")
            path.with_name("main.sh").chmod(0o755)


def drawn(name: str, text: str) -> str:
    """Return a picture: a terminal of its own colours, whatever the page's are."""
    width = max(80, *(len(_CODES.sub("", line)) for line in text.splitlines()))
    console = Console(file=io.StringIO(), record=True, width=width, color_system="truecolor")
    console.print(Text.from_ansi(text.rstrip("\n")), soft_wrap=True, end="")
    return console.export_svg(
        title="acme", theme=_COLOURS, unique_id=f"acme-{name}", code_format=_SVG
    )


def main() -> None:
    """Write the pictures beside this file."""
    for name, text in screens().items():
        (HERE / f"{name}.svg").write_text(drawn(name, text), encoding="utf-8")


if __name__ == "__main__":
    main()

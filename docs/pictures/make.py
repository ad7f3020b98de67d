"""Draw the pictures of the README and the pages: real runs on a terminal, as SVG.

After a change to the output in the pictures, run: python docs/pictures/make.py

The runs take place in a temporary home directory. Its path is as long as /home/babbage, which
replaces it in the pictures, so lines break as they would for the user babbage.
"""

from __future__ import annotations

import http.server
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from drawing import DARK, LIGHT, badge, terminal_picture
from terminal import COLUMNS, TerminalSession

HERE = Path(__file__).parent
_HOME = "/home/babbage"
_LAST_PIECE = 1 << 17  # bytes that a download reads at once
# Seconds before the last piece of a download is sent, and seconds to wait for the bar.
_ATTEMPTS = ((0.3, 15.0), (4.0, 30.0), (12.0, 60.0))
_PROMPT = "\033[1m$\033[0m "
_BAR = re.compile(r"\r(Postman:  50%\|)[^|\r]*(\| \S+ )\[[^\r]*\]")
# The README badges are local files, so that a page loads nothing from other servers.
_BADGES = {
    "python": ("python", "3.11+", "#3572a5"),
    "platform": ("platform", "linux | macos", "#57606a"),
    "types": ("types", "mypy strict", "#1a7f37"),
    "licence": ("licence", "MIT", "#8250df"),
}
_RUN_IDS = ("5c0e71d2a94b", "b83f06e9c217", "e41a9d57f380")
_RUN_STARTS = (
    "2026-01-05T09:00:12.000Z",
    "2026-01-05T09:00:31.000Z",
    "2026-01-05T09:01:04.000Z",
)
_RUN_SECONDS = (0.8, 0.2, 1.4)
_COMMAND = {"entrypoint": "main.sh"}
_ACME: dict[str, dict[str, object] | str] = {
    "core/cli.json": {
        "name": "Acme",
        "description": "What the Acme team runs every day",
        "version": "2.4.0",
        "history": {"days": 36500},  # the dates in the recording are fixed
    },
    "config/settings.conf": "REGION=eu-west\nTOKEN=3f9a-bb07\n",
    "commands/db/category.json": {
        "name": "db",
        "description": "Databases: backups, migrations",
    },
    "commands/db/backup/command.json": _COMMAND
    | {
        "name": "Backup",
        "description": "Write a dump of a database",
        "effects": "read",
    },
    "commands/db/drop/command.json": _COMMAND
    | {
        "name": "Drop",
        "description": "Drop the database of a branch",
        "effects": "destroy",
        "confirm": "Drop it?",
    },
    "commands/db/tune/command.json": _COMMAND
    | {"name": "Tune", "description": "Set kernel limits for the server", "sudo": True},
    "commands/deploy/category.json": {
        "name": "deploy",
        "description": "Deploy to servers",
    },
    "commands/deploy/staging/.env": "REGION=local\nREPLICAS=2\n",
    "commands/deploy/staging/command.json": _COMMAND
    | {
        "name": "Staging",
        "description": "Deploy the branch that is checked out to staging",
        "args": [
            {"name": "branch", "default": "main"},
            {
                "name": "--dry-run",
                "short": "-n",
                "description": "only print what would be done",
            },
        ],
        "env_files": [".env"],
        "envs": {"STAGE": "staging", "REPLICAS": "3"},
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
    "plugin.json": {
        "name": "release",
        "version": "1.4.0",
        "description": "Release trains",
    },
    "db/migrate/command.json": _COMMAND
    | {"name": "Migrate", "description": "Migrate a schema to the latest version"},
    "setup/terraform/command.json": _COMMAND
    | {
        "name": "Terraform",
        "description": "Infrastructure as code",
        "installed_when": {"path": "/"},
    },
}
_NEWER: dict[str, dict[str, object] | str] = {
    "plugin.json": {
        "name": "release",
        "version": "1.5.0",
        "description": "Release trains",
    },
    "release/cut/command.json": _COMMAND
    | {"name": "Cut", "description": "Cut a release from main", "sudo": True},
    "setup/terraform/command.json": _COMMAND
    | {
        "name": "Terraform",
        "description": "Infrastructure as code",
        "installed_when": {"path": "/"},
        "envs": {"TERRAFORM_VERSION": "1.13"},
    },
}


_SCRIPTS: dict[str, dict[str, object] | str] = {
    "backup": """\
#!/bin/bash
# Write a copy of a database
# /// command
# { "envs": { "DB": "app" } }
# ///
echo "copied $DB"
""",
    "deploy": """\
#!/usr/bin/env python3
# Deploy a branch to a stage
# /// command
# { "args": [{ "name": "stage", "required": true, "choices": ["staging", "production"] }] }
# ///
import sys
print("deployed to", sys.argv[1])
""",
    "restart": "#!/bin/bash\n# Restart the web servers\n",
}


def pictures() -> dict[str, str]:
    """Return each picture's file name and content; two calls give the same bytes."""
    made = {f"badge-{name}.svg": badge(*words) for name, words in _BADGES.items()}
    for name, text in _screens().items():
        made[f"{name}.svg"] = terminal_picture(name, text, DARK)

    minute = _in_a_home(lambda home: _Desk(home).first_minute())
    made["minute.svg"] = terminal_picture("minute", minute, LIGHT, moving=True)
    made["minute-dark.svg"] = terminal_picture("minute-dark", minute, DARK, moving=True)
    # For a reader who wants no motion. Not all browsers ask for that inside an image.
    made["minute-still.svg"] = terminal_picture("minute-still", minute, LIGHT)
    made["minute-still-dark.svg"] = terminal_picture("minute-still-dark", minute, DARK)
    return made


def _screens() -> dict[str, str]:
    """Return the text of each picture with its escape sequences, as a terminal receives it."""

    def draw(home: str) -> str:
        return json.dumps(dict(_Desk(home).screens()))

    # As one text, in which the path of the home directory is replaced.
    return json.loads(_in_a_home(draw))


def _in_a_home(draw: Callable[[str], str]) -> str:
    home = tempfile.mkdtemp(prefix="", dir="/tmp")
    try:
        return draw(home).replace(home, _HOME)
    finally:
        shutil.rmtree(home)


class _Desk:
    """A home directory with an installation called acme, and with an outdated plugin from git."""

    def __init__(self, home: str) -> None:
        if len(home) != len(_HOME):
            raise AssertionError(f"{home} must have as many characters as {_HOME}")
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
        }
        for role in ("AUTHOR", "COMMITTER"):
            self.environ[f"GIT_{role}_NAME"] = "Ada"
            self.environ[f"GIT_{role}_EMAIL"] = "ada@example.com"
            self.environ[f"GIT_{role}_DATE"] = "2026-01-05T09:00:00Z"

        host = (sys.executable, "-m", "host")
        self._quietly(*host, "self", "init", str(self.root), "--name", "acme")
        shutil.rmtree(self.root / "commands" / "demo")
        _write(self.root, _ACME)

    def screens(self) -> Iterator[tuple[str, str]]:
        """Yield each picture's name and text."""
        plugin = self.home / "plugins" / "release"
        _write(plugin, _PLUGIN)
        git_init = ("init", "--quiet", "--initial-branch=main")
        self._quietly("git", "-C", str(plugin), *git_init)
        self._commit(plugin)
        self._quietly("acme", "self", "plugin", "add", f"file://{plugin}", "--yes")

        yield "root", self._shown("acme")
        env = "STAGE=review acme self env deploy staging REGION STAGE TOKEN"
        yield "env", self._shown(env)
        yield "progress", self._download()

        _write(plugin, _NEWER)
        self._commit(plugin)
        yield "update", self._shown("acme self plugin update --dry-run")

        # Two problems for the doctor: a missing script, and settings that everybody can change.
        (self.root / "commands/db/tune/main.sh").unlink()
        (self.root / "config/settings.conf").chmod(0o666)
        yield "doctor", self._shown("acme self doctor")

    def first_minute(self) -> str:
        """Return what a terminal shows when scripts become commands that are used in several ways.

        The parts: the scripts are added; Tab; a typo; --explain; the picker; and the history.
        """
        self._keep_only_scripts()
        environ = {
            **self.environ,
            "CLI_RECORD": "1",
            "TZ": "UTC",
            "CLICOLOR_FORCE": "1",
        }
        session = TerminalSession(self.home, environ)
        session.enter(
            "bind 'set enable-bracketed-paste off'; bind 'set show-all-if-ambiguous on'"
        )
        session.enter("source <(acme self completion bash)")

        shown = session.enter("ls bin")
        shown += session.press("acme self plugin add ./bin\r", "[y/N] ")
        shown += session.enter("y")

        # Tab itself shows nothing, so the picture names it.
        completed = session.press("acme deploy \t", "$ acme deploy ")
        line, _, candidates = completed.partition("\n")
        shown += f"{line.rstrip()} <Tab>\n{candidates}"
        shown += session.enter("staging")

        shown += session.enter("acme bakcup")
        shown += session.enter("DB=test acme --explain backup | head -n 16")

        # Some machines have fzf, which the picker would use.
        session.enter(f"everywhere=$PATH PATH={self._programs_for_picker()}")
        shown += session.press("acme self pick\r", "number: ")
        shown += session.press("2\r", "\nstage: ")
        shown += session.enter("production")
        session.enter("PATH=$everywhere")

        self._settle_history()
        shown += session.enter("acme self history")
        session.end()
        return f"$ {shown}"

    def _keep_only_scripts(self) -> None:
        """Leave an installation without commands, and a folder with scripts beside it."""
        for folder in ("commands/db", "commands/deploy", "commands/setup"):
            shutil.rmtree(self.root / folder)
        (self.root / "config/settings.conf").unlink()
        _write(self.home / "bin", _SCRIPTS)
        for name in _SCRIPTS:
            (self.home / "bin" / name).chmod(0o755)

    def _programs_for_picker(self) -> str:
        """Return a PATH with the program and what its scripts need."""
        programs = self.home / ".programs"
        programs.mkdir()
        (programs / "python3").symlink_to(os.path.realpath(sys.executable))
        for name in ("bash", "env"):
            (programs / name).symlink_to(f"/usr/bin/{name}")
        return f"{self.home}/.local/bin:{programs}"

    def _settle_history(self) -> None:
        """Replace what differs from one drawing to the next in the records of the runs."""
        [file] = (self.home / ".local/state/cli-host/history").glob("*.sqlite3")
        with sqlite3.connect(file) as database:
            rows = database.execute("SELECT id FROM runs ORDER BY start").fetchall()
            for number, (run_id,) in enumerate(rows):
                database.execute(
                    "UPDATE runs SET id = ?, start = ?, seconds = ?, user = 'babbage',"
                    " host = 'web1' WHERE id = ?",
                    (
                        _RUN_IDS[number],
                        _RUN_STARTS[number],
                        _RUN_SECONDS[number],
                        run_id,
                    ),
                )

    def _commit(self, repository: Path) -> None:
        git = ("git", "-C", str(repository))
        self._quietly(*git, "add", "--all")
        self._quietly(*git, "commit", "--quiet", "--message", "Release")

    def _quietly(self, *words: str) -> None:
        subprocess.run(words, env=self.environ, check=True, capture_output=True)

    def _shown(self, *lines: str) -> str:
        """Run command lines; return each after a prompt, followed by its output."""
        texts = [f"{_PROMPT}{line}\n{self._run(line)}" for line in lines]
        return "\n".join(texts)

    def _run(self, line: str) -> str:
        """Run a command on a terminal and return its output."""
        session = TerminalSession(self.home, self.environ, ("-c", line))
        shown = session.read(lambda _: None)
        session.end()
        return shown

    def _download(self) -> str:
        """Return the output of a download whose server sends only half of the file."""
        line = "acme setup postman"
        shown = self._half_downloaded(line)
        bar_shown = _BAR.search(shown)
        if bar_shown is None:
            raise AssertionError(f"no bar: {shown!r}")
        label, progress = bar_shown.groups()

        # A reader should see the address of the definition, not that of the server here.
        definition_file = self.root / "commands/setup/postman/command.json"
        definition = json.loads(definition_file.read_text())
        address = definition["envs"]["POSTMAN_DOWNLOAD_URL"]
        text = re.sub(r"http://127\S+", address, shown.partition("\r")[0])

        # The measured rate varies in width, which would change the length of the bar.
        behind = f"{progress}[00:01<00:01, 8.40MiB/s]"
        room = COLUMNS - 1 - len(label) - len(behind)
        bar = "█" * (room // 2) + "▌" * (room % 2)
        return f"{_PROMPT}{line}\n{text}{label}{bar:<{room}}{behind}\n"

    def _half_downloaded(self, line: str) -> str:
        """Return the output of a download up to the bar at 50 %.

        The program draws the bar at intervals, so on a busy machine the last piece can be too early
        for a drawing. Then the next attempt gives the program more time.
        """
        for pause, patience in _ATTEMPTS:
            with _half_served(pause) as port:
                variables = (
                    f"POSTMAN_DOWNLOAD_URL=http://127.0.0.1:{port}/postman.tar.gz",
                    f"POSTMAN_INSTALL_DIR={self.home}/postman",
                    f"POSTMAN_BIN_DIR={self.home}/.local/bin",
                    f"POSTMAN_DESKTOP_FILE={self.home}/postman.desktop",
                )
                command = f"{' '.join(variables)} {line}"
                session = TerminalSession(self.home, self.environ, ("-c", command))
                try:
                    return session.read(_BAR.search, patience)
                except TimeoutError:
                    continue
                finally:
                    session.end()
        raise AssertionError("the bar was not drawn at 50 %")


@contextmanager
def _half_served(pause: float, size: int = 24 << 20) -> Iterator[int]:
    """Serve half of a file, whose last piece follows after a pause; yield the port."""
    done = threading.Event()

    class Half(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(size))
            self.end_headers()
            self.wfile.write(bytes(size // 2 - _LAST_PIECE))
            self.wfile.flush()
            time.sleep(pause)  # the program redraws the bar only at intervals
            self.wfile.write(bytes(_LAST_PIECE))
            self.wfile.flush()
            done.wait()

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
        if isinstance(content, str):
            path.write_text(content)
            continue

        path.write_text(json.dumps(content, indent=2))
        if "entrypoint" in content:
            script = path.with_name("main.sh")
            script.write_text("#!/usr/bin/env bash\necho done\n")
            script.chmod(0o755)


def main() -> None:
    """Write the pictures beside this file."""
    for name, content in pictures().items():
        (HERE / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()

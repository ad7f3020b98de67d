"""Draw the pictures of the README and the pages: real runs on a terminal, as SVG.

After a change to the output in the pictures, run: python docs/pictures/make.py

The runs take place in a temporary home directory. Its path is as long as /home/babbage, which
replaces it in the pictures, so lines break as they would for the user babbage.
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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

HERE = Path(__file__).parent
_HOME = "/home/babbage"
_LAST_PIECE = 1 << 17  # bytes that a download reads at once
_COLUMNS = 57  # readable on a phone
_PATIENCE = 60.0  # seconds for a run
_PROMPT = "\033[1m$\033[0m "
_BAR = re.compile(r"\r(Postman:  50%\|)[^|\r]*(\| \S+ )\[[^\r]*\]")
_INVISIBLE = re.compile(r"\r(?=\r*\n)|\a|\033\[\?2004[hl]\r?")
_LIGHT = TerminalTheme(
    (246, 248, 250),
    (36, 41, 47),
    [
        (36, 41, 47),
        (179, 29, 40),
        (17, 99, 41),
        (125, 78, 0),
        (9, 105, 218),
        (130, 80, 223),
        (27, 124, 131),
        (36, 41, 47),
    ],
)
_DARK = TerminalTheme(
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
# The README badges are local files, so that a page loads nothing from other servers.
_BADGES = {
    "python": ("python", "3.11+", "#3572a5"),
    "platform": ("platform", "linux | macos", "#57606a"),
    "types": ("types", "mypy strict", "#1a7f37"),
    "licence": ("licence", "MIT", "#8250df"),
}
_BADGE = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img">
<rect width="{width}" height="20" rx="3" fill="#444c56"/>
<path d="M{left} 0h{right}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{right}z" fill="{colour}"/>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="{name_at}" y="14">{name}</text><text x="{value_at}" y="14">{value}</text></g>
</svg>
"""
# A reader who wants no motion sees the first screen; the pictures without motion show all lines.
_MOTION = """\
@media (prefers-reduced-motion: no-preference) {{
@keyframes appear {{ from {{ opacity: 0 }} }}
@keyframes type {{ from {{ clip-path: inset(0 100% 0 0) }} to {{ clip-path: inset(0 0 0 0) }} }}
text {{ animation: appear .01s both }}
{rules}
}}
"""
_SCREEN = 23  # lines of the recording that are visible at the same time
_LINE_HEIGHT = 24.4  # of rich's pictures
_TYPING = 0.06  # seconds per typed letter in the recording
_READING = 0.12  # seconds per line of output
_PAUSE = 0.9  # seconds before the next command
# The fonts are those of the reader's own system: a picture loads nothing.
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
# In the recording, the lines move up behind a screen of fixed height.
_SCREEN_CLIP = """\
<clipPath id="{unique_id}-screen">
<rect width="{terminal_width}" height="{screen_height}"/>
</clipPath>
</defs>"""
_RUN_IDS = ("5c0e71d2a94b", "b83f06e9c217", "e41a9d57f380")
_RUN_STARTS = ("2026-01-05T09:00:12.000Z", "2026-01-05T09:00:31.000Z", "2026-01-05T09:01:04.000Z")
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
    "commands/db/category.json": {"name": "db", "description": "Databases: backups, migrations"},
    "commands/db/backup/command.json": _COMMAND
    | {"name": "Backup", "description": "Write a dump of a database", "effects": "read"},
    "commands/db/drop/command.json": _COMMAND
    | {
        "name": "Drop",
        "description": "Drop the database of a branch",
        "effects": "destroy",
        "confirm": "Drop it?",
    },
    "commands/db/tune/command.json": _COMMAND
    | {"name": "Tune", "description": "Set kernel limits for the server", "sudo": True},
    "commands/deploy/category.json": {"name": "deploy", "description": "Deploy to servers"},
    "commands/deploy/staging/.env": "REGION=local\nREPLICAS=2\n",
    "commands/deploy/staging/command.json": _COMMAND
    | {
        "name": "Staging",
        "description": "Deploy the branch that is checked out to staging",
        "args": [
            {"name": "branch", "default": "main"},
            {"name": "--dry-run", "short": "-n", "description": "only print what would be done"},
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
    "plugin.json": {"name": "release", "version": "1.4.0", "description": "Release trains"},
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
    "plugin.json": {"name": "release", "version": "1.5.0", "description": "Release trains"},
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
    made = {f"badge-{name}.svg": _badge(*words) for name, words in _BADGES.items()}
    for name, text in _screens().items():
        made[f"{name}.svg"] = _drawn(name, text, _DARK)
    minute = _in_a_home(lambda home: _Desk(home).first_minute())
    made["minute.svg"] = _drawn("minute", minute, _LIGHT, moving=True)
    made["minute-dark.svg"] = _drawn("minute-dark", minute, _DARK, moving=True)
    # For a reader who wants no motion. Not all browsers ask for that inside an image.
    made["minute-still.svg"] = _drawn("minute-still", minute, _LIGHT)
    made["minute-still-dark.svg"] = _drawn("minute-still-dark", minute, _DARK)
    return made


def _screens() -> dict[str, str]:
    """Return the text of each picture with its escape sequences, as a terminal receives it."""
    return json.loads(_in_a_home(lambda home: json.dumps(dict(_Desk(home).screens()))))


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
        yield "root", self._shown("acme")
        yield "category", self._shown("acme db", "acme setup")
        yield "env", self._shown("STAGE=review acme self env deploy staging REGION STAGE TOKEN")
        wrong = ("acme stagin", "acme deploy staging --dry-rnu", "acme self plugin install x")
        yield "suggestion", self._shown(*wrong)
        yield "progress", self._download()
        _write(plugin, _NEWER)
        self._commit(plugin)
        yield "update", self._shown("acme self plugin update --dry-run")
        (self.root / "commands/db/tune/main.sh").unlink()
        self.root.joinpath("config/settings.conf").chmod(0o666)
        yield "doctor", self._shown("acme self doctor")

    def first_minute(self) -> str:
        """Return what a terminal shows when scripts become commands that are used in several ways.

        The parts: the scripts are added; Tab; a typo; --explain; the picker; and the history.
        """
        for folder in ("commands/db", "commands/deploy", "commands/setup"):
            shutil.rmtree(self.root / folder)
        (self.root / "config/settings.conf").unlink()
        _write(self.home / "bin", _SCRIPTS)
        for name in _SCRIPTS:
            (self.home / "bin" / name).chmod(0o755)
        environ = {**self.environ, "CLI_RECORD": "1", "TZ": "UTC", "CLICOLOR_FORCE": "1"}
        session = _Session(self.home, environ)
        session.enter("bind 'set enable-bracketed-paste off'; bind 'set show-all-if-ambiguous on'")
        session.enter("source <(acme self completion bash)")

        shown = session.enter("ls bin")
        shown += session.press("acme self plugin add ./bin\r", "[y/N] ") + session.enter("y")
        listed = session.press("acme deploy \t", "$ acme deploy ").partition("\n")
        shown += f"{listed[0].rstrip()} <Tab>\n{listed[2]}" + session.enter("staging")
        shown += session.enter("acme bakcup")
        shown += session.enter("DB=test acme --explain backup | head -n 16")
        # Some machines have fzf, which the picker would use.
        session.enter(f"everywhere=$PATH PATH={self._programs_for_picker()}")
        shown += session.press("acme self pick\r", "text: ") + session.press("dep\r", "text: ")
        shown += session.press("\r", "\nstage: ") + session.enter("production")
        session.enter("PATH=$everywhere")
        self._settle_history()
        shown += session.enter("acme self history")
        session.end()
        return f"$ {shown}"

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
        [spool] = (self.home / ".local/state/cli-host/history").glob("*.spool")
        lines = []
        runs: dict[str, int] = {}
        for line in spool.read_text().splitlines():
            if not line:
                lines.append(line)
                continue
            record = json.loads(line)
            number = runs.setdefault(record["id"], len(runs))
            record["id"] = _RUN_IDS[number]
            if "start" in record:
                record |= {"start": _RUN_STARTS[number], "user": "babbage", "host": "web1"}
            else:
                record["seconds"] = _RUN_SECONDS[number]
            lines.append(json.dumps(record, separators=(",", ":")))
        spool.write_text("\n".join([*lines, ""]))

    def _commit(self, repository: Path) -> None:
        self._quietly("git", "-C", str(repository), "add", "--all")
        self._quietly("git", "-C", str(repository), "commit", "--quiet", "--message", "Release")

    def _quietly(self, *words: str) -> None:
        subprocess.run(words, env=self.environ, check=True, capture_output=True)

    def _shown(self, *lines: str) -> str:
        """Run command lines; return each after a prompt, followed by its output."""
        return "\n".join(f"{_PROMPT}{line}\n{self._run(line)}" for line in lines)

    def _run(self, line: str, until: re.Pattern[str] | None = None) -> str:
        """Run a command on a terminal; return its output until it ends or matches `until`."""
        session = _Session(self.home, self.environ, ("-c", line))
        shown = session.read(until.search if until else lambda _: None)
        session.end()
        return shown

    def _download(self) -> str:
        """Return the output of a download whose server sends only half of the file."""
        line = "acme setup postman"
        with _half_served() as port:
            variables = (
                f"POSTMAN_DOWNLOAD_URL=http://127.0.0.1:{port}/postman.tar.gz",
                f"POSTMAN_INSTALL_DIR={self.home}/postman",
                f"POSTMAN_BIN_DIR={self.home}/.local/bin",
                f"POSTMAN_DESKTOP_FILE={self.home}/postman.desktop",
            )
            shown = self._run(f"{' '.join(variables)} {line}", _BAR)
        tool = json.loads((self.root / "commands/setup/postman/command.json").read_text())
        text = re.sub(r"http://127\S+", tool["envs"]["POSTMAN_DOWNLOAD_URL"], shown.split("\r")[0])
        bar_shown = _BAR.search(shown)
        if bar_shown is None:
            raise AssertionError(shown)
        label, progress = bar_shown.groups()

        # The measured rate varies in width, which would change the length of the bar.
        behind = f"{progress}[00:01<00:01, 8.40MiB/s]"
        room = _COLUMNS - 1 - len(label) - len(behind)
        bar = "█" * (room // 2) + "▌" * (room % 2)
        return f"{_PROMPT}{line}\n{text}{label}{bar:<{room}}{behind}\n"


class _Session:
    """A bash process on its own pseudo-terminal."""

    def __init__(
        self,
        home: Path,
        environ: dict[str, str],
        options: tuple[str, ...] = ("--norc", "-i"),
    ) -> None:
        self._child, self._terminal = pty.fork()
        if not self._child:
            os.chdir(home)
            os.execve("/bin/bash", ["bash", *options], {**environ, "PS1": "$ "})
        size = struct.pack("HHHH", 40, _COLUMNS, 0, 0)
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, size)
        if "-i" in options:
            self.read(lambda shown: shown.endswith("$ "))

    def enter(self, line: str) -> str:
        """Type a line and return what the terminal shows until the next prompt."""
        return self.press(f"{line}\r", "\n$ ")

    def press(self, keys: str, end: str) -> str:
        """Press keys and return what the terminal shows until the output ends with `end`."""
        os.write(self._terminal, keys.encode())
        return self.read(lambda shown: shown.endswith(end))

    def read(self, ends: Callable[[str], object]) -> str:
        """Return what the terminal shows until a condition holds or the program ends."""
        shown = b""
        text = ""
        until = time.monotonic() + _PATIENCE
        while not ends(text):
            if not select.select([self._terminal], [], [], until - time.monotonic())[0]:
                raise AssertionError(f"{shown!r}")
            try:
                chunk = os.read(self._terminal, 65536)
            except OSError:  # Linux raises EIO when the program has ended
                break
            if not chunk:
                break
            shown += chunk
            text = _INVISIBLE.sub("", shown.decode(errors="ignore"))
        return text

    def end(self) -> None:
        """Close the terminal, which ends the program."""
        os.close(self._terminal)
        os.waitpid(self._child, 0)


@contextmanager
def _half_served(size: int = 24 << 20) -> Iterator[int]:
    """Serve half of a file and then nothing; yield the port."""
    done = threading.Event()

    class Half(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(size))
            self.end_headers()
            self.wfile.write(bytes(size // 2 - _LAST_PIECE))
            self.wfile.flush()
            time.sleep(0.3)  # the program redraws the bar only at intervals
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


def _drawn(name: str, text: str, theme: TerminalTheme, *, moving: bool = False) -> str:
    """Return a picture of a terminal, animated if `moving`."""
    wrapped: list[Text] = []
    for line in Text.from_ansi(text.expandtabs().rstrip("\n")).split():
        wrapped += line.divide(range(_COLUMNS, len(line), _COLUMNS))
    if not moving:
        return _exported(name, wrapped, theme, _SVG)

    # The frame is that of the first screen; all lines move up behind it.
    parts = _exported(name, wrapped[:_SCREEN], theme, "{height}\f{chrome}\f{terminal_height}")
    height, chrome, screen_height = parts.split("\f")
    template = _SVG.replace("</defs>", _SCREEN_CLIP.replace("{screen_height}", screen_height))
    template = template.replace("{height}", height)
    template = template.replace("{chrome}", chrome.replace("{", "{{").replace("}", "}}"))
    template = template.replace(
        '<g transform="translate({terminal_x}, {terminal_y})">',
        '<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-screen)">'
        '\n<g class="scroll">',
    )
    template = template.replace("</g>\n</svg>", "</g>\n</g>\n</svg>")
    motion = _MOTION.replace("{rules}", _timeline([part.plain for part in wrapped]))
    return _exported(name, wrapped, theme, template.replace("</style>", f"{motion}</style>"))


def _exported(name: str, lines: list[Text], theme: TerminalTheme, template: str) -> str:
    console = Console(file=io.StringIO(), record=True, width=_COLUMNS, color_system="truecolor")
    console.print(Text("\n").join(lines), soft_wrap=True, end="")
    svg = console.export_svg(
        title="acme", theme=theme, unique_id=f"acme-{name}", code_format=template
    )
    return re.sub(r'(<text class="[^"]*)("[^>]*-line-(\d+)\))', r"\1 l\3\2", svg)


def _timeline(lines: list[str]) -> str:
    """Return the CSS that shows the lines one after another, as if typed and printed.

    The first two commands and their output are there from the start, so that the picture, of which
    some readers see only the first frame, shows what the program does.
    The fill mode is "backwards": with "both", Chromium can hide the last letter of a line.
    """
    prompts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    begin = prompts[2]
    rules = [f".l{number} {{{{ animation: none }}}}" for number in range(begin)]
    shown: list[float] = [0.0] * begin  # when each line appears
    now = 0.0
    for number, line in enumerate(lines[begin:], begin):
        if line.startswith("$ "):
            now += _PAUSE
            shown.append(now)
            letters = len(line)
            rules.append(
                f".l{number} {{{{ animation: type {letters * _TYPING:.2f}s "
                f"steps({letters}) {now:.2f}s backwards }}}}"
            )
            now += letters * _TYPING
        else:
            rules.append(f".l{number} {{{{ animation-delay: {now:.2f}s }}}}")
            shown.append(now)
        now += _READING
    return "\n".join([*rules, *_scrolling(shown, now)])


def _scrolling(shown: list[float], total: float) -> Iterator[str]:
    """Yield the CSS that moves the lines up when the screen is full."""
    yield "@keyframes scroll {{"
    for number, time_shown in enumerate(shown[_SCREEN:], 1):
        offset = number * _LINE_HEIGHT
        yield f"{100 * time_shown / total:.3f}% {{{{ transform: translateY(-{offset:.1f}px) }}}}"
    yield f"100% {{{{ transform: translateY(-{(len(shown) - _SCREEN) * _LINE_HEIGHT:.1f}px) }}}}"
    yield "}}"
    yield f".scroll {{{{ animation: scroll {total:.2f}s step-end both }}}}"


def _badge(name: str, value: str, colour: str) -> str:
    left, right = (7 * len(word) + 12 for word in (name, value))
    return _BADGE.format(
        name=name,
        value=value,
        colour=colour,
        width=left + right,
        left=left,
        right=right - 3,
        name_at=left / 2,
        value_at=left + right / 2,
    )


def main() -> None:
    """Write the pictures beside this file."""
    for name, content in pictures().items():
        (HERE / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()

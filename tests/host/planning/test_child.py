"""Plugins asked in a child process: whatever one does, the others are asked."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from host.planning.child import Report, survey
from host.planning.loading import directory_hooks, load, third_party
from host.records import CommandDeclaration, EnvSource, Installation
from testing.installation import Made, builder, command

_GOOD = """
from host import CommandDeclaration, EnvSource, hookimpl

@hookimpl
def discover_commands(installation):
    yield CommandDeclaration(("a", "b"), {"name": "\\udc80é", "envs": {"N": 1}})

@hookimpl
def env_sources():
    return [EnvSource("s", 2.5, files=("/x",), words=("a",))]

@hookimpl
def render_listing(listing, format):
    print("noise")
    return None

@hookimpl
def is_installed(command):
    raise SystemExit(3)
"""

_SPEAKING = """
from host import hookimpl

@hookimpl
def render_listing(listing, format):
    print("noise")
    return "x\\n" if format == "x" else None

@hookimpl
def is_installed(command):
    raise SystemExit(3)
"""

ODD = {
    "hangs": ("import time; time.sleep(60)", "within 0.5 seconds"),
    "forks": ("import os\nif os.fork() == 0: os._exit(0)", ""),
    "forks and goes on": ("import os\nos.fork()", ""),
    "changes the process": (
        "import os, sys, signal\nos.chdir('/')\nos.environ.clear()\nsys.path.clear()\n"
        "signal.signal(15, signal.SIG_IGN)\nos.close(0)",
        "",
    ),
    "closes all": ("import os; os.closerange(0, 100)", "ended the process"),
    "exits in a hook": (
        "from host import hookimpl\n@hookimpl\ndef env_sources(): raise SystemExit(1)",
        "env_sources raised SystemExit: 1",
    ),
    "interrupts": ("raise KeyboardInterrupt", "ended the process"),
    "recurses": ("def f(): f()\nf()", "RecursionError"),
    "not JSON": (
        "from host import *\nfrom host import hookimpl, CommandDeclaration\n@hookimpl\n"
        "def discover_commands(): return [CommandDeclaration(('a',), {'x': object()})]",
        "not JSON serializable",
    ),
    "a class of its own": (
        "from host import hookimpl\nclass CommandTree: pass\n@hookimpl\n"
        "def discover_commands(): return [CommandTree()]",
        "expected one of",
    ),
    "nothing": ("", ""),
}


def _asked(tmp_path: Path, files: dict[str, str]) -> dict[str, Report]:
    made: Made = builder(tmp_path)()
    for name, text in files.items():
        made.write({f"plugins/{name}/plugin.json": {"hooks": "h.py"}, f"plugins/{name}/h.py": text})
    plugins_dir = str(made.root / "plugins")
    candidates = list(directory_hooks(plugins_dir))
    installation = Installation("cli", str(made.root), "", plugins_dir, "")
    return {one.candidate.name: one for one in survey(candidates, installation, 0.5)}


@pytest.mark.parametrize(("text", "reason"), ODD.values(), ids=ODD)
def test_one_that_misbehaves(tmp_path: Path, text: str, reason: str) -> None:
    before = (os.getcwd(), dict(os.environ))
    found = _asked(tmp_path, {"a-good": _GOOD, "b-odd": text, "c-good": _GOOD})
    assert reason in found["b-odd"].reason
    assert bool(found["b-odd"].reason) == bool(reason)
    assert (os.getcwd(), dict(os.environ)) == before
    for name in ("a-good", "c-good"):
        assert found[name].reason == ""
        assert sorted(found[name].hooks) == [
            "discover_commands", "env_sources", "is_installed", "render_listing",
        ]  # fmt: skip
        [declared] = found[name].records["discover_commands"]
        assert declared == CommandDeclaration(
            words=["a", "b"],  # type: ignore[arg-type] - a list, after JSON
            definition={"name": "\udc80é", "envs": {"N": 1}},
        )
        [source] = found[name].records["env_sources"]
        assert isinstance(source, EnvSource)
        assert source.rank == 2.5


GARBAGE = {
    "a path that is none": ("discover_commands", "CommandTree(None)", "expected a str"),
    "a number as path": ("discover_commands", "CommandTree(12)", "expected a str"),
    "a relative path": ("discover_commands", "CommandTree('x')", "expected an absolute path"),
    "a NUL": ("discover_commands", "CommandTree('/x\\0y')", "holds a NUL"),
    "half a character": ("discover_commands", "CommandTree('/x\\ud800')", "surrogates not allowed"),
    "words as one text": (
        "discover_commands", "CommandDeclaration('ab', {})", "words: expected a tuple, not 'ab'"
    ),
    "a watched number": ("discover_commands", "Watch(1)", "expected a str"),
    "files as one text": (
        "env_sources", "EnvSource('s', 3, files='/etc/hostname')", "files: expected a tuple"
    ),
    "a file that is none": ("env_sources", "EnvSource('s', 3, files=(None,))", "expected a str"),
    "source words as one text": (
        "env_sources", "EnvSource('s', 3, ('/x',), words='acme')", "words: expected a tuple"
    ),
    "a provider that is none": (
        "env_sources", "EnvSource('s', 3, provider='os')", "must be a reference"
    ),
    "a rank that is none": ("env_sources", "EnvSource('s', 'x', ('/x',))", "rank must be"),
    "not a list": ("env_sources", "12", "not iterable"),
}  # fmt: skip


@pytest.mark.parametrize(("hook", "returned", "reason"), GARBAGE.values(), ids=GARBAGE)
def test_what_is_no_record_costs_its_plugin_only(
    tmp_path: Path, hook: str, returned: str, reason: str
) -> None:
    made = builder(tmp_path)()
    made.write({"commands/a/b/command.json": command(), "commands/a/b/main.sh": "echo ran"})
    text = f"from host import *\nfrom host import hookimpl\n@hookimpl\ndef {hook}(): "
    text += f"return {returned if returned == '12' else f'[{returned}]'}\n"
    made.write({"plugins/odd/plugin.json": {"hooks": "h.py"}, "plugins/odd/h.py": text})
    for _ in range(2):  # with and without a lock
        assert made.run("a", "b").stdout == "ran\n"
        listing = made.run("a")
        assert (listing.status, listing.stderr.count("\n")) == (0, 1)
    [row] = json.loads(made.run("self", "plugin", "list", "--format", "json").stdout)["plugins"]
    assert (row["state"], reason in row["reason"]) == ("broken", True), row["reason"]


@pytest.mark.parametrize(
    "text",
    [
        "import os\nfor n in range(3, 50):\n  try: os.write(n, b'{}\\n')\n  except OSError: pass",
        "import os\nfor n in range(3, 50):\n  try: os.write(n, b'x' * 4 + b'\\n')\n"
        "  except OSError: pass",
        "from host import hookimpl, Watch\n@hookimpl\n"
        "def discover_commands(): return [Watch('/' + 'x' * (17 << 20))]",
    ],
    ids=["an object on every descriptor", "noise on every descriptor", "an answer without end"],
)
def test_an_answer_that_is_none(tmp_path: Path, text: str) -> None:
    made = builder(tmp_path)()
    made.write({"commands/a/b/command.json": command(), "commands/a/b/main.sh": "echo ran"})
    made.write({"plugins/odd/plugin.json": {"hooks": "h.py"}, "plugins/odd/h.py": text})
    ran = made.run("a", "b")
    assert (ran.status, ran.stdout) == (0, "ran\n")
    assert ran.stderr.count("plugin odd is broken") == 1
    assert "internal error" not in ran.stderr


SPEAKERS = {
    "exits": "import os; os._exit(3)",
    "raises": "raise ValueError('no')",
    "interrupts": "raise KeyboardInterrupt",
    "hangs": "import time; time.sleep(30)",
    "is a number": "return 12345",
    "is a generator": "yield None",
    "is odd": "return type('Odd', (), {'__bool__': lambda self: 1 / 0})()",
    "is signalled": "import os; os.kill(os.getpid(), 14)",
}


@pytest.mark.parametrize("body", SPEAKERS.values(), ids=SPEAKERS)
@pytest.mark.parametrize("hook", ["render_listing(listing)", "is_installed(command)"])
def test_a_listing_hook_that_misbehaves_is_left_out(tmp_path: Path, hook: str, body: str) -> None:
    made = builder(tmp_path)()
    made.write({"commands/setup/t/command.json": command(installed_when={"path": "/"})})
    plain = made.run("setup")
    text = "import atexit\natexit.register(print, 'late')\nfrom host import hookimpl\n"
    text += f"@hookimpl\ndef {hook}:\n  {body}\n"
    made.write({"plugins/odd/plugin.json": {"hooks": "h.py"}, "plugins/odd/h.py": text})
    first = made.run("setup")
    assert (first.status, first.stdout) == (0, plain.stdout)
    warnings = [
        line for line in first.stderr.splitlines() if "warning: plugin odd is broken" in line
    ]
    assert len(warnings) == 1
    second = made.run("setup")  # noted: it is not asked, and nobody waits, again
    assert (second.status, second.stdout, second.stderr.splitlines()) == (0, plain.stdout, warnings)
    [row] = json.loads(made.run("self", "plugin", "list", "--format", "json").stdout)["plugins"]
    assert row["state"] == "broken"
    good = "from host import hookimpl\n@hookimpl\ndef is_installed(command): return False\n"
    made.write({"plugins/odd/h.py": good})
    assert made.run("setup").stderr == ""


def test_many_that_hang_cost_a_deadline_each(tmp_path: Path) -> None:
    started = time.monotonic()
    found = _asked(tmp_path, {f"p{n}": "import time; time.sleep(9)" for n in range(3)})
    assert all("within 0.5" in one.reason for one in found.values())
    assert time.monotonic() - started < 4


def test_listing_hooks_keep_stdout_clean(tmp_path: Path) -> None:
    made = builder(tmp_path)()
    made.write({"plugins/a/plugin.json": {"hooks": "h.py"}, "plugins/a/h.py": _SPEAKING})
    listing = made.run("--format", "x")
    assert (listing.status, listing.stdout) == (0, "x\n")
    assert "noise" in listing.stderr
    made.write({"commands/setup/t/command.json": command()})
    assert made.run("setup").status == 0
    loaded = load(third_party([], str(made.root / "plugins"), {}))
    assert loaded.first("is_installed", command=None) is None
    assert "SystemExit: 3" in loaded.broken["a"]

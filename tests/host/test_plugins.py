"""Plugins asked in a child process: whatever one does, the others are asked."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from host.candidates import directory_hooks, third_party
from host.plugins import load
from host.records import CommandDeclaration, EnvSource, Installation
from host.survey import Report, survey
from installation import Made, builder, command

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

"""Plugins asked in a child process: whatever one does, the others are asked."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from host.lock.loading import LoadedPlugin, plugin_manager
from host.lock.plugin import Plugin
from host.lock.plugin_worker import PluginAnswer, query
from host.record_base import EnvSource
from host.records import CommandDeclaration, Installation
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
    "hangs": ("import time; time.sleep(60)", "took more than 2 seconds"),
    "is endless": (
        "import time\nfrom host import hookimpl\n@hookimpl\ndef discover_commands():\n"
        "  while 1: time.sleep(0.01)",
        "took more than 2 seconds",
    ),
    "forks": ("import os\nif os.fork() == 0: os._exit(0)", ""),
    "forks and goes on": ("import os\nos.fork()", ""),
    "changes the process": (
        "import os, sys, signal\nos.chdir('/')\nos.environ.clear()\nsys.path.clear()\n"
        "signal.signal(15, signal.SIG_IGN)\nos.close(0)",
        "",
    ),
    "closes all": ("import os; os.closerange(0, 4096)", "ended the process"),
    "exits in a hook": (
        "from host import hookimpl\n@hookimpl\ndef env_sources(): raise SystemExit(1)",
        "env_sources raised SystemExit: 1",
    ),
    "interrupts": ("raise KeyboardInterrupt", "raised KeyboardInterrupt"),
    "recurses": ("def f(): f()\nf()", "RecursionError"),
    "imports a lazy module": (
        "import sys\nclass Lazy:\n  def __getattr__(self, name): raise ImportError(name)\n"
        "sys.modules['lazy'] = Lazy()",
        "",
    ),
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


def _asked(
    tmp_path: Path,
    files: dict[str, str],
    limits: Mapping[str, float] = MappingProxyType({}),
) -> dict[str, PluginAnswer]:
    """Return the answers of plugins; `limits` has the time limits of those that use theirs up."""
    made: Made = builder(tmp_path)()
    for name, text in files.items():
        made.write(
            {
                f"plugins/{name}/plugin.json": {"hooks": "h.py"},
                f"plugins/{name}/h.py": text,
            }
        )
    plugins_dir = str(made.root / "plugins")
    plugins = [
        Plugin(name, name, file=f"{plugins_dir}/{name}/h.py") for name in sorted(files)
    ]
    installation = Installation("cli", str(made.root), "", plugins_dir, "")
    return {
        plugin.name: query(plugin, installation, limits.get(plugin.name, 60))
        for plugin in plugins
    }


@pytest.mark.slow
@pytest.mark.parametrize(("text", "reason"), ODD.values(), ids=ODD)
@pytest.mark.sampled
def test_one_that_misbehaves(tmp_path: Path, text: str, reason: str) -> None:
    before = (os.getcwd(), dict(os.environ))
    limits = {"b-odd": 2} if "took" in reason else {}
    found = _asked(tmp_path, {"a-good": _GOOD, "b-odd": text, "c-good": _GOOD}, limits)
    assert reason in found["b-odd"].reason
    assert bool(found["b-odd"].reason) == bool(reason)
    assert (os.getcwd(), dict(os.environ)) == before
    for name in ("a-good", "c-good"):
        assert found[name].reason == ""
        assert sorted(found[name].hooks) == [
            "discover_commands", "env_sources", "is_installed", "render_listing",
        ]  # fmt: skip
        (hook, declared), (_, source) = found[name].records
        assert hook == "discover_commands"
        assert declared == CommandDeclaration(
            words=["a", "b"],  # type: ignore[arg-type] - a list, after JSON
            definition={"name": "\udc80é", "envs": {"N": 1}},
        )
        assert isinstance(source, EnvSource)
        assert source.rank == 2.5


GARBAGE = {
    "a path that is none": ("discover_commands", "CommandTree(None)", "expected a str"),
    "a number as path": ("discover_commands", "CommandTree(12)", "expected a str"),
    "a relative path": ("discover_commands", "CommandTree('x')", "expected an absolute path"),
    "a NUL": ("discover_commands", "CommandTree('/x\\0y')", "contains a NUL"),
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
        "env_sources", "EnvSource('s', 3, provider='os')", "must have the form"
    ),
    "a rank that is none": ("env_sources", "EnvSource('s', 'x', ('/x',))", "rank must be"),
    "no rank": ("env_sources", "EnvSource('s', files=('/x',))", "rank must be from 2 to 4"),
    "a rank by a reader": ("env_sources", "EnvSource('s', reader='envs')", "rank must be from 2"),
    "not a list": ("env_sources", "12", "not iterable"),
}  # fmt: skip


@pytest.mark.slow
def test_what_is_no_record_costs_its_plugin_only(tmp_path: Path) -> None:
    made = builder(tmp_path)()
    made.write(
        {"commands/a/b/command.json": command(), "commands/a/b/main.sh": "echo ran"}
    )
    reasons = {}
    for number, (hook, returned, reason) in enumerate(GARBAGE.values()):
        name = f"odd{number}"
        reasons[name] = reason
        text = (
            f"from host import *\nfrom host import hookimpl\n@hookimpl\ndef {hook}(): "
        )
        text += f"return {returned if returned == '12' else f'[{returned}]'}\n"
        made.write(
            {
                f"plugins/{name}/plugin.json": {"hooks": "h.py"},
                f"plugins/{name}/h.py": text,
            }
        )
    for _ in range(2):  # with and without a lock
        assert made.run("a", "b").stdout == "ran\n"
        listing = made.run("a")
        assert (listing.status, listing.stderr.count("\n")) == (0, len(reasons))
    rows = json.loads(made.run("self", "plugin", "list", "--format", "json").stdout)[
        "plugins"
    ]
    found = {row["name"]: (row["state"], row["reason"]) for row in rows}
    assert {state for state, _ in found.values()} == {"broken"}
    assert [
        name for name, reason in reasons.items() if reason not in found[name][1]
    ] == [], found


@pytest.mark.parametrize(
    "text",
    [
        "import os\nfor n in range(3, 50):\n  try: os.write(n, b'x' * 4 + b'\\n')\n"
        "  except OSError: pass",
    ],
    ids=["noise on every descriptor"],
)
def test_an_answer_that_is_none(tmp_path: Path, text: str) -> None:
    made = builder(tmp_path)()
    made.write(
        {"commands/a/b/command.json": command(), "commands/a/b/main.sh": "echo ran"}
    )
    made.write({"plugins/odd/plugin.json": {"hooks": "h.py"}, "plugins/odd/h.py": text})
    ran = made.run("a", "b")
    assert (ran.status, ran.stdout) == (0, "ran\n")
    assert ran.stderr.count("plugin odd is broken") == 1
    assert "internal error" not in ran.stderr


SPEAKERS = {
    "exits": "import os; os._exit(3)",
    "raises": "raise ValueError('no')",
    "hangs": "import time; time.sleep(60)",
    "is a number": "return 12345",
    "is a generator": "yield None",
    "is odd": "return type('Odd', (), {'__bool__': lambda self: 1 / 0})()",
    "is signalled": "import os; os.kill(os.getpid(), 14)",
}


# The process is the same for both hooks, but not what each makes of an answer.
MISBEHAVING = [
    pytest.param(hook, body, id=f"{hook}-{name}")
    for hook in ("render_listing(listing)", "is_installed(command)")
    for name, body in SPEAKERS.items()
    if hook.startswith("render") or name in {"is a number", "is odd"}
]


@pytest.mark.slow
@pytest.mark.parametrize(("hook", "body"), MISBEHAVING)
@pytest.mark.sampled
def test_a_listing_hook_that_misbehaves_is_left_out(
    tmp_path: Path, hook: str, body: str
) -> None:
    made = builder(tmp_path)()
    made.write({"commands/setup/t/command.json": command(installed_when={"path": "/"})})
    words = ["setup", *(["--format", "odd"] if hook.startswith("render") else [])]
    plain = made.run(*words)
    text = "import atexit\natexit.register(print, 'late')\nfrom host import hookimpl\n"
    text += f"@hookimpl\ndef {hook}:\n  {body}\n"
    made.write({"plugins/odd/plugin.json": {"hooks": "h.py"}, "plugins/odd/h.py": text})
    first = made.run(*words)
    assert (first.status, first.stdout) == (plain.status, plain.stdout)
    warnings = [
        line
        for line in first.stderr.splitlines()
        if "warning: plugin odd is broken" in line
    ]
    assert len(warnings) == 1
    second = made.run(*words)  # noted: it is not asked, and nobody waits, again
    assert (second.status, second.stdout) == (plain.status, plain.stdout)
    assert second.stderr.splitlines() == [*warnings, *plain.stderr.splitlines()]
    [row] = json.loads(made.run("self", "plugin", "list", "--format", "json").stdout)[
        "plugins"
    ]
    assert row["state"] == "broken"
    good = "from host import hookimpl\n@hookimpl\ndef is_installed(command): return False\n"
    made.write({"plugins/odd/h.py": good})
    assert made.run("setup").stderr == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["text", "json", "tree"])
def test_the_formats_of_the_program_are_nobody_elses(tmp_path: Path, name: str) -> None:
    made = builder(tmp_path)()
    made.write({"commands/a/b/command.json": command()})
    plain = made.run("--format", name)
    text = "from host import hookimpl\n@hookimpl\ndef render_listing(listing): return 'mine\\n'\n"
    made.write(
        {"plugins/greedy/plugin.json": {"hooks": "h.py"}, "plugins/greedy/h.py": text}
    )
    assert made.run("--format", name).all == plain.all
    assert made.run("--format", "other").all == (0, "mine\n", "")


_ORDERED = """
from host import CommandTree, hookimpl

@hookimpl({order})
def discover_commands(installation):
    return [CommandTree(f"{{installation.root}}/{name}", plugin="{name}")]

@hookimpl({order})
def render_listing(listing, format):
    return "{name}\\n" if format == "x" else None
"""

ORDERS = {
    "as named": (["", "", ""], "a-one", "c-three"),
    "first and last": (["trylast=True", "", "tryfirst=True"], "c-three", "c-three"),
    "the last goes first": (["", "trylast=True", "trylast=True"], "a-one", "a-one"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("orders", "wins", "renders"), ORDERS.values(), ids=ORDERS)
def test_tryfirst_and_trylast_order_the_calls_of_all_plugins(
    tmp_path: Path, orders: list[str], wins: str, renders: str
) -> None:
    made = builder(tmp_path)()
    for name, order in zip(["a-one", "b-two", "c-three"], orders, strict=True):
        made.write(
            {
                f"plugins/{name}/plugin.json": {"hooks": "h.py"},
                f"plugins/{name}/h.py": _ORDERED.format(name=name, order=order),
                f"{name}/same/words/command.json": command(),
                f"{name}/same/words/main.sh": f"echo {name}\n",
            }
        )
    assert made.run("same", "words").stdout == f"{wins}\n"
    assert made.run("--format", "x").stdout == f"{renders}\n"


@pytest.mark.parametrize("how", ["wrapper=True", "hookwrapper=True"])
def test_a_wrapper_is_refused_by_name(tmp_path: Path, how: str) -> None:
    text = f"from host import hookimpl\n@hookimpl({how})\ndef render_listing(): yield\n"
    found = _asked(tmp_path, {"a-good": _GOOD, "b-wraps": text, "c-good": _GOOD})
    assert found["b-wraps"].reason == "render_listing: hook wrappers are not supported"
    assert found["c-good"].reason == ""


CLOSERS = {
    "closed": "sys.stdout.close()",
    "closed below Python": "print('held'); os.close(1)",
    "none": "sys.stdout = None",
    "no file": "sys.stdout = object()",
    "both": "sys.stdout.close(); sys.stderr.close(); os.close(2)",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "how"),
    [
        *(
            pytest.param("import", how, id=f"import-{name}")
            for name, how in CLOSERS.items()
        ),
        pytest.param("hook", CLOSERS["both"], id="hook-both"),
    ],
)
def test_a_plugin_that_closes_stdout_answers_all_the_same(
    tmp_path: Path, how: str, place: str
) -> None:
    closes = f"import os, sys\n{how}\n" if place == "import" else ""
    text = f"""{closes}from host import Watch, hookimpl
@hookimpl
def discover_commands():
    import os, sys
    {how if place == "hook" else ""}
    return [Watch("/etc")]
"""
    made = builder(tmp_path)()
    made.write(
        {"commands/a/b/command.json": command(), "commands/a/b/main.sh": "echo ran"}
    )
    made.write({"plugins/odd/plugin.json": {"hooks": "h.py"}, "plugins/odd/h.py": text})
    ran = made.run("a", "b")
    assert (ran.status, ran.stdout, "broken" in ran.stderr) == (0, "ran\n", False)


HARMFUL = {
    "the modules are gone": "import sys; sys.modules.clear()",
    "the path is gone": "import sys; sys.path.clear()",
    "an import finder raises": "import sys\nclass F:\n  def find_spec(*a): raise OSError('mine')\n"
    "sys.meta_path.insert(0, F())",
    "the host is patched": "import host.lock.loading as it\n"
    "it.short_reason = it.package_of = None\n"
    "import host.records as it; it.CommandDeclaration = it.EnvSource = None",
    "exit is replaced": "import os; os._exit = lambda status: 1 / 0",
}


@pytest.mark.parametrize("text", HARMFUL.values(), ids=HARMFUL)
def test_one_plugin_cannot_harm_another(tmp_path: Path, text: str) -> None:
    good = f"import json, email.message\n{_GOOD}"
    found = _asked(tmp_path, {"a-harmful": text, "b-good": good, "c-good": good})
    assert [found[name].reason for name in ("b-good", "c-good")] == ["", ""]
    assert len(found["c-good"].hooks) == 4


@pytest.mark.slow
def test_nothing_of_a_child_survives_or_holds_the_callers_pipes(tmp_path: Path) -> None:
    made = builder(tmp_path)()
    made.write(
        {"commands/a/b/command.json": command(), "commands/a/b/main.sh": "echo ran"}
    )
    text = (
        "import os, signal, time\n"
        "if os.fork() == 0:\n  time.sleep(999)\n  os._exit(0)\n"
        "os.killpg(0, signal.SIGCONT)\n"
    )
    made.write({"plugins/odd/plugin.json": {"hooks": "h.py"}, "plugins/odd/h.py": text})
    assert made.run("a", "b").stdout == "ran\n"  # and not when the other one ends
    made.write(
        {"plugins/odd/h.py": "import os, signal\nos.killpg(0, signal.SIGKILL)\n"}
    )
    assert made.run("a", "b").stdout == "ran\n"


@pytest.mark.slow
def test_many_that_hang_cost_a_deadline_each(tmp_path: Path) -> None:
    started = time.monotonic()
    hanging = dict.fromkeys(["p0", "p1", "p2"], "import time; time.sleep(99)")
    answers = _asked(tmp_path, hanging, dict.fromkeys(hanging, 0.5))
    assert all("more than 0.5" in answer.reason for answer in answers.values())
    assert time.monotonic() - started < 60


@pytest.mark.slow
def test_listing_hooks_keep_stdout_clean(tmp_path: Path) -> None:
    made = builder(tmp_path)()
    made.write(
        {"plugins/a/plugin.json": {"hooks": "h.py"}, "plugins/a/h.py": _SPEAKING}
    )
    listing = made.run("--format", "x")
    assert (listing.status, listing.stdout) == (0, "x\n")
    assert "noise" in listing.stderr
    made.write({"commands/setup/t/command.json": command()})
    assert made.run("setup").status == 0
    plugin = Plugin("a", "a", file=str(made.root / "plugins/a/h.py"))
    loaded = LoadedPlugin(plugin, plugin_manager())
    assert loaded.call("is_installed", command=None) is None
    assert "SystemExit: 3" in loaded.plugin.broken


_RAISES = """
import json
from host import hookimpl

@hookimpl
def env_sources():
    return json.loads("[")

@hookimpl
def render_listing(listing, format):
    raise ValueError("odd")
"""
PLACES = {
    "in a hook": (_RAISES, "env_sources raised JSONDecodeError: ", 7),
    "at its import": ("\nimport no_such_module", "ModuleNotFoundError: ", 2),
    "no Python": ("\n\ndef (:", "SyntaxError: ", 3),
}


@pytest.mark.parametrize(("text", "reason", "line"), PLACES.values(), ids=PLACES)
def test_debug_shows_where_one_fails(
    tmp_path: Path,
    text: str,
    reason: str,
    line: int,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    found = _asked(tmp_path, {"odd": text})["odd"]
    assert found.reason.startswith(reason)
    assert "Traceback" not in capfd.readouterr().err
    monkeypatch.setenv("DEBUG", "1")
    _asked(tmp_path / "again", {"odd": text})
    said = capfd.readouterr().err
    assert f'/plugins/odd/h.py", line {line}' in said

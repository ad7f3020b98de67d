"""Every command that README and docs show is run, and its output is what they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from installation import PROJECT

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_DOCS = ["README.md", *sorted(str(p.relative_to(PROJECT)) for p in PROJECT.glob("docs/*.md"))]
_SERVED = "docs/plugins.md"  # test_plugin_docs runs it, with its servers
_MARK = "=-=-= end of command"


@dataclass
class Step:
    """A command of a console block and the output that stands below it."""

    command: str
    expected: list[str]


def steps_of(text: str) -> list[Step]:
    steps: list[Step] = []
    for block in _BLOCK.findall(text):
        for line in block.splitlines():
            if line.startswith("$ "):
                steps.append(Step(line[2:], []))
            elif line.startswith("> ") and not steps[-1].expected:
                steps[-1].command += "\n" + line[2:]
            else:
                steps[-1].expected.append(line)
    return steps


def matches(expected: list[str], shown: str) -> bool:
    """Compare output to what a page shows, where `…` stands for anything."""
    pattern = ""
    for line in expected:
        if line == "…":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(part) for part in line.split("…")) + r"\n"
    return re.fullmatch(pattern, shown) is not None


def run_all(steps: list[Step], cwd: Path, env: dict[str, str]) -> list[str]:
    """Run the commands in one bash, as a reader would type them; return what each printed."""
    script = "".join(f"{step.command}\nprintf '%s\\n' '{_MARK}'\n" for step in steps)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=600,
        check=False,
        text=True,
    )
    return done.stdout.split(f"{_MARK}\n")[:-1]


def clone(target: Path) -> None:
    """Copy what is under version control, with uncommitted changes, as a clone would have it."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=PROJECT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, os.fsdecode(listed.stdout).split("\0")):
        source = PROJECT / name
        if source.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(source.read_bytes())
            (target / name).chmod(source.stat().st_mode & 0o777)


_SELF_CONTAINED = [doc for doc in _DOCS if doc != _SERVED and steps_of((PROJECT / doc).read_text())]


@pytest.mark.parametrize("name", _SELF_CONTAINED)
def test_commands_of_a_page(name: str, tmp_path: Path) -> None:
    checkout = tmp_path / "cli-host"
    clone(checkout)
    home = tmp_path / "home"
    home.mkdir()
    env = {
        **{key: value for key, value in os.environ.items() if key.startswith(("PIP_", "SSL_"))},
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "USER": "reader",
        "BIN_DIR": str(home / "bin"),
        "PYTHON": sys.executable,
        "LANG": "C.UTF-8",
    }
    steps = steps_of((checkout / name).read_text())
    if name != "README.md":
        installed = run_all(steps_of((checkout / "README.md").read_text())[:1], checkout, env)
        assert "Hello" in installed[0], installed[0]
    shown = run_all(steps, checkout, env)
    assert len(shown) == len(steps), shown
    for step, output in zip(steps, shown, strict=True):
        assert matches(step.expected, output), f"$ {step.command}\n{output}"


def test_every_command_block_is_tested_or_plain() -> None:
    allowed = {"sh", "console", "json", "python", "toml", "text", "bash", "ini"}
    for name in _DOCS:
        for language, body in _FENCE.findall((PROJECT / name).read_text()):
            if language == "sh" and name != "docs/writing-plugins.md":  # test_plugin_docs runs it
                assert (name, body) == ("README.md", "bash tests/run\n")
            else:
                assert language in allowed, (name, language)


def test_the_test_command_of_the_readme_is_what_ci_calls() -> None:
    assert "```sh\nbash tests/run\n```" in (PROJECT / "README.md").read_text()
    assert (PROJECT / ".ci" / "run").read_text().rstrip().endswith("\nbash tests/run")


def test_the_matcher_can_fail() -> None:
    assert matches(["a … c", "…"], "a b c\nmore\n")
    assert not matches(["a … c"], "a b d\n")
    assert not matches(["a"], "a\nb\n")

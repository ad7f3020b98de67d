"""The console blocks of a page: their commands run, their output compared."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from testing.installation import PROJECT

# Pages that a reader follows with an installed program, and those that need other programs too.
GUIDES = [
    "docs/for-a-team.md",
    *sorted(
        str(page.relative_to(PROJECT))
        for folder in ("how-to", "coming-from", "explanation")
        for page in (PROJECT / "docs" / folder).glob("*.md")
        if "```console" in page.read_text()
    ),
]
PEERS = ["docs/comparison.md"]

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
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


def run_all(
    steps: list[Step], cwd: Path, env: dict[str, str], *, strict: bool = False
) -> list[str]:
    """Run the commands in one bash, as a reader would type them; return what each printed.

    With `strict` the first one that fails ends it.
    """
    script = "set -e\n" if strict else ""
    script += "".join(f"{step.command}\nprintf '%s\\n' '{_MARK}'\n" for step in steps)
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

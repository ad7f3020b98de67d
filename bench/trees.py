"""Trees of commands for the program and the same commands for its peers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

PER_CATEGORY = 100
_SCRIPT = "#!/bin/bash\n:\n"
_ENVS = {f"BENCH_{index}": f"${{HOME}}/value{index}" for index in range(5)}


def words_of(index: int) -> tuple[str, str]:
    return f"cat{index // PER_CATEGORY:03d}", f"cmd{index:05d}"


def about(index: int) -> str:
    return f"The command number {index}"


def make_commands(root: Path, count: int) -> None:
    """Write `count` commands, 100 a category, each with five `envs`."""
    for index in range(count):
        category, command = words_of(index)
        directory = root / "commands" / category / command
        directory.mkdir(parents=True)
        definition = {
            "name": command,
            "description": about(index),
            "entrypoint": "main.sh",
            "envs": _ENVS,
        }
        (directory / "command.json").write_text(json.dumps(definition))

        script = directory / "main.sh"
        script.write_text(_SCRIPT)
        script.chmod(0o755)


@dataclass
class Peer:
    """What another program is called with, in its own folder: to run, list and complete."""

    run: list[str]
    list: list[str]
    complete: list[str]
    completing: Mapping[str, str] = field(default_factory=dict)  # variables of its stub


def make_justfile(root: Path, count: int) -> Peer:
    lines = []
    for index in range(count):
        _, name = words_of(index)
        lines += [f"# {about(index)}", f"{name}:", "    #!/bin/bash", "    :", ""]
    (root / "justfile").write_text("\n".join(lines))
    return Peer(
        ["just", words_of(count - 1)[1]],
        ["just", "--list"],
        ["just", "--", "just", "cmd"],
        {"JUST_COMPLETE": "bash", "_CLAP_COMPLETE_INDEX": "1", "_CLAP_IFS": "\n"},
    )


def make_taskfile(root: Path, count: int) -> Peer:
    lines = ["version: '3'", "tasks:"]
    for index in range(count):
        _, name = words_of(index)
        lines += [f"  {name}:", f"    desc: {about(index)}", "    silent: true"]
        lines.append("    cmds: ['/bin/true']")
    (root / "Taskfile.yml").write_text("\n".join([*lines, ""]))
    run = ["task", words_of(count - 1)[1]]
    return Peer(run, ["task", "--list-all"], ["task", "__complete", "cmd"])


def make_invoke(root: Path, count: int) -> Peer:
    lines = ["from invoke import task", ""]
    for index in range(count):
        _, name = words_of(index)
        lines += ["@task", f"def {name}(c):", f'    "{about(index)}"']
        lines += ['    c.run("/bin/true")', ""]
    (root / "tasks.py").write_text("\n".join([*lines, ""]))
    run = ["invoke", words_of(count - 1)[1]]
    return Peer(run, ["invoke", "--list"], ["invoke", "--complete", "--", "invoke"])


def make_mise(root: Path, count: int) -> Peer:
    lines = []
    for index in range(count):
        _, name = words_of(index)
        lines += [f"[tasks.{name}]", f"description = '{about(index)}'"]
        lines += ["run = '/bin/true'", "quiet = true", ""]
    (root / "mise.toml").write_text("\n".join(lines))
    run = ["mise", "run", words_of(count - 1)[1]]
    return Peer(run, ["mise", "tasks", "ls"], ["mise", "tasks", "--complete"])

"""Trees of commands for the program and the same commands for its peers."""

from __future__ import annotations

import json
from pathlib import Path

PER_CATEGORY = 100
_SCRIPT = "#!/bin/bash\n:\n"
_ENVS = {f"BENCH_{index}": f"${{HOME}}/value{index}" for index in range(5)}


def words_of(index: int) -> tuple[str, str]:
    return f"cat{index // PER_CATEGORY:03d}", f"cmd{index:05d}"


def make_commands(root: Path, count: int) -> None:
    """Write `count` commands, 100 a category, each with five `envs`."""
    for index in range(count):
        category, command = words_of(index)
        directory = root / "commands" / category / command
        directory.mkdir(parents=True)
        (directory / "command.json").write_text(
            json.dumps(
                {
                    "name": command,
                    "description": f"The command number {index}",
                    "entrypoint": "main.sh",
                    "envs": _ENVS,
                }
            )
        )
        script = directory / "main.sh"
        script.write_text(_SCRIPT)
        script.chmod(0o755)


def make_justfile(root: Path, count: int) -> list[str]:
    """Return the argv, to run in `root`, of the last of `count` recipes for just."""
    recipes = [f"{words_of(i)[1]}:\n    #!/bin/bash\n    :\n" for i in range(count)]
    (root / "justfile").write_text("\n".join(recipes))
    return ["just", words_of(count - 1)[1]]


def make_taskfile(root: Path, count: int) -> list[str]:
    """Return the argv, to run in `root`, of the last of `count` tasks for task."""
    tasks = [
        f"  {words_of(i)[1]}:\n    silent: true\n    cmds: ['/bin/true']\n" for i in range(count)
    ]
    (root / "Taskfile.yml").write_text("version: '3'\ntasks:\n" + "".join(tasks))
    return ["task", words_of(count - 1)[1]]


def make_invoke(root: Path, count: int) -> list[str]:
    """Return the argv, to run in `root`, of the last of `count` tasks for invoke."""
    tasks = [f"@task\ndef {words_of(i)[1]}(c):\n    c.run('/bin/true')\n\n" for i in range(count)]
    (root / "tasks.py").write_text("from invoke import task\n\n" + "".join(tasks))
    return ["invoke", words_of(count - 1)[1]]


def make_mise(root: Path, count: int) -> list[str]:
    """Return the argv, to run in `root`, of the last of `count` tasks for mise."""
    tasks = [f"[tasks.{words_of(i)[1]}]\nrun = '/bin/true'\nquiet = true\n" for i in range(count)]
    (root / "mise.toml").write_text("\n".join(tasks))
    return ["mise", "run", words_of(count - 1)[1]]

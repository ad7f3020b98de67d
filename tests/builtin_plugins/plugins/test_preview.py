"""What the preview of a plugin shows of a change."""

from __future__ import annotations

from pathlib import Path

import pytest

from builtin_plugins.plugins.directory_contents import read_commands
from builtin_plugins.plugins.preview import change_lines
from host import CommandTree
from testing.installation import command
from testing.plugin_sources import write_tree


@pytest.mark.parametrize(
    ("entrypoint", "file", "shown"),
    [
        ("main.sh", "main.sh", True),
        ("bin/main.sh", "bin/main.sh", True),
        ("bin/main.sh", "bin/lib/part.sh", True),
        ("main.sh", "inner/main.sh", False),  # perhaps of a command below it
    ],
)
def test_a_change_of_a_commands_files(
    tmp_path: Path, entrypoint: str, file: str, shown: bool
) -> None:
    versions = []
    for text in ("one", "two"):
        files = {
            "demo/hi/command.json": command(entrypoint=entrypoint, description="Hi"),
            f"demo/hi/{entrypoint}": "#!/bin/sh\n",
        }
        files[f"demo/hi/{file}"] = f"#!/bin/sh\necho {text}\n"
        tree = CommandTree(str(write_tree(tmp_path / text, files)))
        commands, problems = read_commands(tree)
        assert (len(commands), problems) == (1, ())
        versions.append(commands)
    changed = ["  ~ demo hi  Hi"] if shown else []
    assert change_lines("title", *versions) == ["title", *changed]

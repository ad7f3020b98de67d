"""The files of a new plugin, of either sort."""

from __future__ import annotations

from builtin_plugins.files.schema import schema_address

_SCRIPT = """\
#!/usr/bin/env bash
# The library of the program is loaded already: log_info, log_error and others.
set -euo pipefail

# ARG_NAME is what "args" in command.json declares: checked, with its default.
log_info "saying hello"
printf '%s, %s!\\n' "${@GREETING@:-Hello}" "$ARG_NAME"
"""

_PYPROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "@NAME@"
version = "0.1.0"
description = "What @NAME@ is for"
requires-python = ">=3.11"
readme = "README.md"

# How the program finds the plugin.
[project.entry-points.cli_host]
@NAME@ = "@PACKAGE@.plugin"

[dependency-groups]
test = ["pytest>=8", "cli-host"]

[tool.hatch.build.targets.wheel]
packages = ["@PACKAGE@"]

[tool.pytest.ini_options]
pythonpath = ["."]
"""

_PLUGIN = '''\
"""What @NAME@ adds: a directory of commands, and one command in Python.

Hooks plan, the host executes: return records, do no work here.
"""

from pathlib import Path

from host import CommandDeclaration, CommandTree, hookimpl


@hookimpl
def discover_commands(installation):
    yield CommandTree(str(Path(__file__).parent / "commands"), plugin="@NAME@")
    yield CommandDeclaration(
        ("@NAME@", "count"),
        {
            "name": "Count",
            "description": "Count the words that it is given",
            "entrypoint": "@PACKAGE@.count:main",
            "args": [{"name": "words...", "description": "what to count"}],
        },
    )
'''

_COUNT = '''\
"""The command `@NAME@ count`: gets its arguments, returns its exit status."""


def main(args):
    print(len(args))
    return 0
'''

_TEST = '''\
"""What the plugin declares, and what its command does."""

from pathlib import Path

from host import CommandDeclaration, CommandTree

from @PACKAGE@ import count, plugin


def test_the_plugin_declares_its_commands():
    tree, command = plugin.discover_commands(None)
    assert isinstance(tree, CommandTree)
    assert (Path(tree.path) / "@NAME@" / "hello" / "command.json").is_file()
    assert isinstance(command, CommandDeclaration)
    assert command.words == ("@NAME@", "count")


def test_count(capsys):
    assert count.main(["a", "b"]) == 0
    assert capsys.readouterr().out == "2\\n"
'''

_README = """\
# @NAME@

A plugin. Its commands are in `@WHERE@`: a directory for each category, in it one for each
command with a `command.json` and a script.
"""


def directory_files(name: str) -> dict[str, object]:
    """Return the files of a directory plugin, by path; a value that is no text is JSON."""
    return {
        "README.md": _filled(_README.replace("@WHERE@", f"{name}/"), name),
        "plugin.json": {
            "$schema": schema_address("plugin"),
            "name": name,
            "version": "0.1.0",
            "description": f"What {name} is for",
        },
        **_category(name, ""),
    }


def package_files(name: str) -> dict[str, object]:
    """Return the files of a pip package with hooks, commands and tests."""
    package = name.replace("-", "_")
    return {
        "README.md": _filled(_README.replace("@WHERE@", f"{package}/commands/"), name),
        "pyproject.toml": _filled(_PYPROJECT, name),
        f"{package}/__init__.py": "",
        f"{package}/plugin.py": _filled(_PLUGIN, name),
        f"{package}/count.py": _filled(_COUNT, name),
        "tests/test_plugin.py": _filled(_TEST, name),
        **_category(name, f"{package}/commands/"),
    }


def _category(name: str, where: str) -> dict[str, object]:
    greeting = f"{name.replace('-', '_').upper()}_GREETING"
    return {
        f"{where}{name}/category.json": {
            "$schema": schema_address("category"),
            "name": name,
            "description": f"What {name} is for",
        },
        f"{where}{name}/hello/command.json": {
            "$schema": schema_address("command"),
            "name": "Hello",
            "description": "Say hello",
            "entrypoint": "main.sh",
            "args": [{"name": "name", "default": "world", "description": "whom to greet"}],
            "envs": {greeting: "Hello"},
            "examples": [{"command": "hello Ada", "description": "Greet Ada"}],
        },
        f"{where}{name}/hello/main.sh": _SCRIPT.replace("@GREETING@", greeting),
    }


def _filled(text: str, name: str) -> str:
    return text.replace("@NAME@", name).replace("@PACKAGE@", name.replace("-", "_"))

"""The command that the package adds to a program, written in Python with click."""

from __future__ import annotations

from collections.abc import Iterator

from host import CommandDeclaration, Installation, hookimpl


@hookimpl
def discover_commands(installation: Installation) -> Iterator[CommandDeclaration]:
    """Declare `test`. It starts with only the caller's environment, of which tests see little."""
    definition = {
        "name": "Test",
        "description": "Run the tests of commands",
        "entrypoint": "cli_host_test.command:command",
        "effects": "change",
        "sources": False,
        "starts_commands": True,
        "examples": [
            {"command": "test", "description": "run all tests"},
            {
                "command": "test db backup",
                "description": "run the tests below these words",
            },
            {
                "command": "test --output report.xml",
                "description": "also write a JUnit report",
            },
        ],
    }
    yield CommandDeclaration(("test",), definition)

"""A help page says how runs are recorded and limited."""

import pytest

from testing.installation import command


@pytest.mark.parametrize(
    ("fields", "notes"),
    [
        (
            {"record": True, "timeout": "90s"},
            ["Each run is recorded.", "ended after 90s."],
        ),
        ({"exclusive": True}, ["Only one run at a time; others fail."]),
        ({"exclusive": "wait"}, ["Only one run at a time; others wait."]),
        ({"exclusive": "db"}, ["of all commands with the lock db."]),
    ],
    ids=lambda value: (
        " ".join(map(str, value.values())) if isinstance(value, dict) else ""
    ),
)
def test_the_notes(install, fields, notes):
    made = install(
        {
            "core/cli.json": {"name": "x", "version": "1", "timeout": "10m"},
            "commands/a/command.json": command(**fields),
            "commands/a/main.sh": "#!/bin/sh\n",
        }
    )
    page = made.run("help", "a").stdout
    assert [note for note in notes if note not in page] == []
    assert "10m" in page or "timeout" in fields

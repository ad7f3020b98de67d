"""The commands that the package adds to a program, written in Python with click."""

from __future__ import annotations

from collections.abc import Iterator

from host import CategoryDeclaration, CommandDeclaration, Installation, hookimpl

_CHANGE = "change"
_READ = "read"
# the word, the function below this package, the description and the effects
_COMMANDS = (
    ("run", "run:run_on_hosts", "Run a command on many hosts", _CHANGE),
    (
        "exec",
        "exec_words:exec_on_hosts",
        "Run any program or line of shell on many hosts",
        _CHANGE,
    ),
    ("hosts", "hosts:list_hosts", "Show the hosts of a set", _READ),
    ("check", "check:check_hosts", "Check that hosts can run a command", _READ),
)


@hookimpl
def discover_commands(
    installation: Installation,
) -> Iterator[CategoryDeclaration | CommandDeclaration]:
    """Declare the commands of `fleet`, which start with only the caller's environment.

    The installation's sources of variables apply only to the commands that run on the hosts.
    """
    yield CategoryDeclaration(("fleet",), "Fleet", "Run commands on many hosts")

    for word, function, description, effects in _COMMANDS:
        definition = {
            "name": f"Fleet {word}",
            "description": description,
            "entrypoint": f"cli_host_fleet.{function}",
            "effects": effects,
            "sources": False,
            # Even of `hosts`: --inventory and --ssh-config can start programs, too.
            "starts_commands": True,
        }
        if word in ("run", "exec"):
            definition["record"] = False  # `running` records what runs on the hosts
        yield CommandDeclaration(("fleet", word), definition)

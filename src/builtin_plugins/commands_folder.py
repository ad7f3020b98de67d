"""The installation's own commands: the directory `commands/`."""

from collections.abc import Iterator

from host import CommandTree, Installation, hookimpl


@hookimpl
def discover_commands(installation: Installation) -> Iterator[CommandTree]:
    yield CommandTree(installation.commands_dir, scripts={}, root=installation.root)

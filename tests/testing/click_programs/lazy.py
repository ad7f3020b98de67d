"""A group that imports its subcommands when they are needed (click, Complex Applications)."""

import importlib

import click


class LazyGroup(click.Group):
    def __init__(self, *args, lazy_subcommands=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.lazy_subcommands = lazy_subcommands or {}

    def list_commands(self, ctx):
        return sorted([*super().list_commands(ctx), *self.lazy_subcommands])

    def get_command(self, ctx, cmd_name):
        if cmd_name in self.lazy_subcommands:
            module = f"{__package__}.{self.lazy_subcommands[cmd_name]}"
            return importlib.import_module(module).cli
        return super().get_command(ctx, cmd_name)


@click.group(
    cls=LazyGroup, lazy_subcommands={"env": "group_argument", "paint": "typed"}
)
def cli():
    """Load subcommands when they are needed."""

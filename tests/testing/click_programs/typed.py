"""Types, defaults and a type of its own."""

import datetime as dt
import enum
import pathlib

import click


class Color(enum.Enum):
    RED = "r"
    GREEN = "g"


class Hex(click.ParamType):
    name = "hex"

    def convert(self, value, param, ctx):
        try:
            return int(value, 16)
        except ValueError:
            self.fail(f"{value!r} is no hex number", param, ctx)

    def shell_complete(self, ctx, param, incomplete):
        from click.shell_completion import CompletionItem

        return [
            CompletionItem(n, help="a number")
            for n in ("0x1f", "0x2a")
            if n.startswith(incomplete)
        ]


@click.command(
    context_settings={
        "default_map": {"level": 7},
        "help_option_names": ["-h", "--help"],
        "show_default": True,
    }
)
@click.option(
    "--color",
    type=click.Choice(Color),
    default=Color.RED,
    help="One of\n\nthe colours.",
)
@click.option("--size", type=click.IntRange(1, 10), default=3)
@click.option("--level", type=int, default=1)
@click.option("--when", type=click.DateTime(), default=dt.datetime(2026, 1, 2))
@click.option("--tag", multiple=True, default=["a b"])
@click.option("--point", nargs=2, type=float)
@click.option("-out", "--output", type=click.Path(path_type=pathlib.Path))
@click.option("--case", type=click.Choice(["North", "South"], case_sensitive=False))
@click.argument("number", type=Hex())
@click.argument("files", nargs=-1, type=click.File())
def cli(**values):
    """Paint NUMBER."""
    for name, value in sorted(values.items()):
        click.echo(f"{name}={value!r}")

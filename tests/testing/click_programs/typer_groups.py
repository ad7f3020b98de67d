"""A Typer application with a group of commands."""

import enum
from typing import Annotated

import typer


class Shade(str, enum.Enum):
    light = "light"
    dark = "dark"


app = typer.Typer(help="A Typer application.")
users = typer.Typer(help="Manage users.")
app.add_typer(users, name="users")


@app.callback()
def main(verbose: bool = False):
    """A Typer application."""
    if verbose:
        typer.echo("verbose")


@app.command()
def hello(
    name: str,
    count: int = typer.Option(1, min=1, max=5, help="How often."),
    shade: Shade = Shade.dark,
):
    """Say hello."""
    for _ in range(count):
        typer.echo(f"hello {name} {shade.value}")


def names(incomplete: str):
    return [n for n in ("ann", "bob") if n.startswith(incomplete)]


@users.command()
def create(
    name: Annotated[str, typer.Argument(autocompletion=names)],
    password: Annotated[str, typer.Option(prompt=True, hide_input=True)],
    tag: list[str] | None = None,
):
    """Create a user."""
    typer.echo(f"{name} {len(password)} {tag}")


@users.command()
def leave(code: int):
    raise typer.Exit(code)

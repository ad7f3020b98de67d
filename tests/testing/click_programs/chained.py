"""A chain with a result callback (click, Commands and Groups)."""

import click


@click.group(chain=True, invoke_without_command=True)
@click.option("-i", "--input", "source", default="-")
def cli(source):
    """Process lines."""


@cli.result_callback()
def process(processors, source):
    click.echo(f"{source}: {processors}")


@cli.command("uppercase")
def upper():
    """Make upper case."""
    return "upper"


@cli.command("strip")
@click.option("--chars", default=" ")
def strip(chars):
    """Strip."""
    return f"strip{chars!r}"


@cli.command("login")
@click.option("--password")
def login(password):
    return f"login {len(password or '')}"

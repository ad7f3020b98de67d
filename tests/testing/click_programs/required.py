"""A group that runs alone and requires an option."""

import click


@click.group(invoke_without_command=True)
@click.option("--token", required=True)
@click.pass_context
def cli(ctx, token):
    """Needs a token."""
    if ctx.invoked_subcommand is None:
        click.echo("alone")


@cli.command()
@click.argument("names", nargs=-1, required=True)
def go(names):
    """Go."""
    click.echo(names)

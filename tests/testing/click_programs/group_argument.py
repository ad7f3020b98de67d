"""A group with an argument before its subcommands."""

import click


@click.group()
@click.argument("env")
@click.option("-v", "--verbose", count=True, help="Say more.")
@click.pass_context
def cli(ctx, env, verbose):
    """Deploy to an environment."""
    ctx.obj = f"{env} {verbose}"


@cli.command()
@click.option("--wait/--no-wait", default=True)
@click.pass_obj
def deploy(env, wait):
    """Deploy it."""
    click.echo(f"deploy to {env} wait={wait}")


@cli.command(epilog="That is all.")
@click.pass_obj
def status(env):
    """Show it."""
    click.echo(f"status of {env}")

"""Secret options, prompts and values of two words."""

import click


@click.group()
@click.option("-v", is_flag=True)
@click.option("--token", required=True, envvar="APP_TOKEN")
def cli(v, token):
    """Log in to a service."""


@cli.command()
@click.option("--password", prompt=True, hide_input=True)
@click.option("--pair-key", nargs=2)
@click.argument("user", required=False)
def login(password, pair_key, user):
    """Log in."""
    click.echo(f"{user} {len(password)}")

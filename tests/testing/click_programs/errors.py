"""Exit statuses, errors and unusual options."""

import sys

import click


@click.group()
def cli():
    pass


@cli.command(deprecated=True)
@click.argument("n", type=int)
def leave(n):
    """Exit with N."""
    sys.exit(n)


@cli.command()
def fail():
    """Fail."""
    raise click.ClickException("it failed")


@cli.command()
def abort():
    raise click.Abort


@cli.command(add_help_option=False)
@click.option("--help", "helped", is_flag=True)
def nohelp(helped):
    click.echo(f"helped={helped}")


@cli.command(
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True}
)
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def rest(args):
    """Pass on."""
    click.echo(args)

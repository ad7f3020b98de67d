"""A group that completes shortened names, with a prefix for variables (click, Extending Click)."""

import click


def known_names(ctx, param, incomplete):
    return [name for name in ("origin", "up") if name.startswith(incomplete)]


class AliasedGroup(click.Group):
    def get_command(self, ctx, cmd_name):
        rv = super().get_command(ctx, cmd_name)
        if rv is not None:
            return rv
        matches = [x for x in self.list_commands(ctx) if x.startswith(cmd_name)]
        if len(matches) > 1:
            ctx.fail(f"Too many matches: {', '.join(sorted(matches))}")
        return super().get_command(ctx, matches[0]) if matches else None

    def resolve_command(self, ctx, args):
        _, cmd, args = super().resolve_command(ctx, args)
        return cmd.name if cmd else None, cmd, args


@click.command(cls=AliasedGroup, context_settings={"auto_envvar_prefix": "ALI"})
@click.option("--debug/--no-debug", default=False)
@click.version_option("1.2")
def cli(debug):
    """Aliases."""
    if debug:
        click.echo("debugging")


@cli.command()
@click.option("--message", "-m", multiple=True)
def commit(message):
    click.echo(message)


@cli.group()
def remote():
    """Remotes."""


@remote.command()
@click.argument(
    "name",
    shell_complete=known_names,
)
@click.option("--url", required=True)
def add(name, url):
    """Add one."""
    click.echo(f"{name} {url}")

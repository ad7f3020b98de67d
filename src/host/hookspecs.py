"""The hooks: the whole interface between the host and its plugins.

A plugin is a module (or any object) with functions marked `hookimpl`. It is found
through an entry point of the group `cli_host` in an installed distribution::

    [project.entry-points.cli_host]
    acme = "acme_cli.plugin"

or as the `hooks` file that a directory plugin names in its plugin.json.

Hooks plan, the host executes. `discover_commands`, `env_sources` and
`secret_schemes`, and before them `prepare` and `find_plugins`, are called when the lock is
built: after a plugin was added, removed or changed, never while a command runs.
`render_listing` and `is_installed` are called when a listing is shown. A hook returns records,
all from `host`: facts, paths and
"module:attr" references. One that raises, or returns something else, loses only its own records;
`cli self plugin list` then shows the plugin as broken, with the reason.

Plugins are asked in the order of their names, this distribution's own first;
`tryfirst=True` and `trylast=True` move a hookimpl before or behind those of all others.
Of a hook whose first result counts the latest is asked first, as pluggy does it.
Wrappers are refused: nobody gets a word in another plugin's answer.
"""

from __future__ import annotations

from collections.abc import Iterable

import pluggy

from host.listing_records import Command, Listing, Terminal
from host.records import (
    BrokenPlugin,
    CategoryDeclaration,
    CommandDeclaration,
    CommandTree,
    Disabled,
    EnvSource,
    Installation,
    PluginFile,
    SecretScheme,
    Watch,
)

PROJECT = "cli_host"
OWN_DISTRIBUTION = "cli-host"

hookspec = pluggy.HookspecMarker(PROJECT)


@hookspec
def prepare(installation: Installation) -> None:
    """Bring what is on disk into order, before anything is looked at.

    Called when the lock is about to be built, unless in safe mode. Only the plugins of
    this distribution are asked::

        @hookimpl
        def prepare(installation):
            undo_what_a_killed_change_left(installation.plugins_dir)
    """
    raise NotImplementedError


@hookspec
def find_plugins(
    installation: Installation,
) -> Iterable[PluginFile | Disabled | Watch | BrokenPlugin]:
    """Return the plugins that have no entry point, and those that are switched off.

    Called when the lock is built, before the other plugins are loaded. Only the plugins
    of this distribution are asked. A `Watch` comes before what it stands for is read::

        @hookimpl
        def find_plugins(installation):
            yield Watch(installation.plugins_dir)
            yield PluginFile("acme", "plugins/acme", f"{installation.plugins_dir}/acme/hooks.py")
            yield Disabled("acme-cli")
    """
    raise NotImplementedError


@hookspec
def discover_commands(
    installation: Installation,
) -> Iterable[CommandTree | CommandDeclaration | CategoryDeclaration | Watch]:
    """Return the commands: directories to look in, or commands in Python.

    Called when the lock is built. Directories are looked at again in every run, so
    name the directory, not what is in it today. `self` is reserved. If two places define the
    same words, `commands/` wins, then plugins in registry order, then this order::

        @hookimpl
        def discover_commands(installation):
            yield CommandTree(str(Path(__file__).parent / "commands"), plugin="acme")
            yield CategoryDeclaration(("cloud",), "Cloud", "What runs elsewhere")
            yield CommandDeclaration(
                ("cloud", "login"),
                {
                    "name": "Login",
                    "description": "Get a token",
                    "entrypoint": "acme_cli.login:main",
                },
            )

    A hook that reads a file also yields `Watch(path)`, so that a change of that file is
    noticed.
    """
    raise NotImplementedError


@hookspec
def env_sources(installation: Installation) -> Iterable[EnvSource]:
    """Return the sources that contribute variables, each with its rank.

    Called when the lock is built. Rank 1 is the caller's environment, 2 `envs` of a
    command.json, 3 settings.conf, 4 `.env` files. A plugin's rank is from 2 to 4, such as 2.5
    for a source between `envs` and settings.conf. A run reads the sources of its command
    only::

        @hookimpl
        def env_sources(installation):
            yield EnvSource("team", rank=4, files=(f"{installation.config_dir}/team.env",))
            yield EnvSource("vault", rank=2, provider="acme_cli.vault:read", words=("deploy",))

        def read(words, environment):  # acme_cli/vault.py
            return {"DB_PASSWORD": fetch(environment["VAULT_ADDR"])}
    """
    raise NotImplementedError


@hookspec
def secret_schemes(installation: Installation) -> Iterable[SecretScheme]:
    """Return the schemes of references to secrets that the plugin resolves.

    Called when the lock is built. The provider is called in a run of a command whose `secrets`
    have such references, once for all of them. Of two plugins with one scheme the first counts::

        @hookimpl
        def secret_schemes(installation):
            yield SecretScheme("op", provider="acme_cli.op:read")

        def read(references, environment):  # acme_cli/op.py
            return {one: fetch(one, environment["OP_ACCOUNT"]) for one in references}
    """
    raise NotImplementedError


@hookspec(firstresult=True)
def render_listing(listing: Listing, format: str, terminal: Terminal) -> str | None:
    r"""Return a listing as text in `format`, or None for a format that is another's.

    Called when a listing is shown with `--format FORMAT`. The text goes to stdout as
    it is; text from data must be made printable (`host.printable`). For `text`, `json`
    and `tree` only the plugins of this distribution are asked::

        @hookimpl
        def render_listing(listing, format, terminal):
            if format != "csv":
                return None
            return "".join(f"{' '.join(c.words)},{c.definition.name}\n" for c in listing.commands)
    """
    raise NotImplementedError


@hookspec(firstresult=True)
def is_installed(command: Command) -> bool | None:
    """Return whether what a `setup` command installs is there, None if the plugin cannot know.

    Called for the commands of `setup` when a listing is shown. Look at files only:
    nothing is run to find out, and a listing waits for the answer::

        @hookimpl
        def is_installed(command):
            if command.words != ("setup", "acme-agent"):
                return None
            return Path("/opt/acme/agent").exists()
    """
    raise NotImplementedError


HOOKS = tuple(name for name, one in tuple(globals().items()) if hasattr(one, f"{PROJECT}_spec"))

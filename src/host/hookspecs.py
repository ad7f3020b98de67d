"""The hooks, which are the interface between the host and its plugins.

A plugin is a module (or any object) with functions marked `hookimpl`. The host finds it
through an entry point of the group `cli_host` in an installed distribution::

    [project.entry-points.cli_host]
    acme = "acme_cli.plugin"

or through the `hooks` file that a directory plugin names in its plugin.json.

Hooks declare commands and sources of variables; the host runs the commands and reads the sources.
The host calls `find_plugins`, `discover_commands`, `env_sources`, `secret_schemes` and
`after_run` when it builds the lock, which is a cache of all declarations. This happens at the first
start after a plugin was added, removed or changed, before the command of that start runs. The host
calls `render_listing` and `is_installed` when it shows a listing. The hooks that build the lock
return records, whose classes are in `host`. The records contain facts, paths and "module:attr"
references. If a hook raises an exception or returns anything else, only the records of its plugin
are lost. `cli self plugin list` then shows the plugin as broken, with the reason.

Plugins are called in the order of their names, after the built-in ones. A hookimpl with
`tryfirst=True` is called before those of all other plugins, and one with `trylast=True` after
them. For `render_listing` and `is_installed`, the order is reversed, and the first result is
used, as in pluggy. Hook wrappers are refused, so that no plugin can change another plugin's
results.
"""

# mypy: disable-error-code="empty-body"
# pluggy reads only the signatures of these functions and never calls them.

from __future__ import annotations

from collections.abc import Iterable

import pluggy

from host.hook_marker import GROUP
from host.listing import Command, Listing, Terminal
from host.plugin_functions import AfterRun, BeforeRun, SecretScheme
from host.record_base import CommandTree, EnvSource
from host.records import (
    BrokenPlugin,
    CategoryDeclaration,
    CommandDeclaration,
    Disabled,
    Installation,
    PluginFile,
    PluginOrder,
    PluginPackage,
    Watch,
)

hookspec = pluggy.HookspecMarker(GROUP)


@hookspec
def find_plugins(
    installation: Installation,
) -> Iterable[
    PluginFile
    | PluginPackage
    | PluginOrder
    | CommandTree
    | Disabled
    | Watch
    | BrokenPlugin
]:
    """Return the plugins outside the program's environment, and the disabled plugins.

    Called when the lock is built, before the other plugins are loaded. Only built-in plugins
    can implement it. Yield the `Watch` of a file before you read the file::

        @hookimpl
        def find_plugins(installation):
            yield Watch(installation.plugins_dir)
            yield PluginFile("acme", "plugins/acme", f"{installation.plugins_dir}/acme/hooks.py")
            yield Disabled("acme-cli")
    """


@hookspec
def discover_commands(
    installation: Installation,
) -> Iterable[CommandTree | CommandDeclaration | CategoryDeclaration | Watch]:
    """Return directories of commands, or commands in Python.

    Called when the lock is built. Directories are read again in every run, so return the
    directory and not its current contents. The word `self` is reserved. Built-in plugins may also
    yield `BrokenPlugin` and `Disabled`. Several places can define the same
    command. The installation's `commands/` wins, then the plugins in the order of registry.json,
    and then those of the program's environment in the order in which this hook is called::

        @hookimpl
        def discover_commands(installation):
            yield CommandTree(str(Path(__file__).parent / "commands"), plugin="acme")
            yield CategoryDeclaration(("cloud",), "Cloud", "Commands for the cloud")
            yield CommandDeclaration(
                ("cloud", "login"),
                {
                    "name": "Login",
                    "description": "Get a token",
                    "entrypoint": "acme_cli.login:main",
                },
            )

    A hook that reads a file must also yield `Watch(path)`, so that the lock is rebuilt when
    the file changes.
    """


@hookspec
def env_sources(installation: Installation) -> Iterable[EnvSource]:
    """Return sources of variables, each with its rank.

    Called when the lock is built. Rank 1 is the caller's environment, 2 is `envs` of a
    command.json, 3 is settings.conf, and 4 is `.env` files; 1 is the highest, and the highest wins.
    A plugin's rank is from 2 to 4, such as 2.5 for a source between `envs` and settings.conf. A run
    reads only the sources that serve its command::

        @hookimpl
        def env_sources(installation):
            yield EnvSource("team", rank=4, files=(f"{installation.config_dir}/team.env",))
            yield EnvSource("vault", rank=2, provider="acme_cli.vault:read", words=("deploy",))

        def read(words, environment):  # acme_cli/vault.py
            return {"DB_PASSWORD": fetch(environment["VAULT_ADDR"])}
    """


@hookspec
def secret_schemes(installation: Installation) -> Iterable[SecretScheme]:
    """Return the schemes of secret references that the plugin resolves.

    Called when the lock is built. A run of a command with such references in its `secrets` calls
    the provider once for all of them. If two plugins have the same scheme, the first wins::

        @hookimpl
        def secret_schemes(installation):
            yield SecretScheme("op", provider="acme_cli.op:read")

        def read(references, environment):  # acme_cli/op.py
            return {name: fetch(name, environment["OP_ACCOUNT"]) for name in references}
    """


@hookspec
def before_run(installation: Installation) -> Iterable[BeforeRun]:
    """Return functions that may refuse a run of some commands, or of all, or ask about it.

    Called when the lock is built. Each function gets a `PlannedRun` in a child process, when the
    arguments are complete and checked, before required programs, the confirmation and secrets. It
    returns None, `Refuse(reason)` or `Ask(question)`. Only a person on a terminal can answer:
    `--yes`, an assistant and a run on other machines cannot. If a function fails or takes longer
    than 10 seconds, the run is refused. Runs inside other runs are checked, too. This is a rule for
    people and agents who keep to it, not a boundary::

        @hookimpl
        def before_run(installation):
            yield BeforeRun("deploys", "acme_cli.rules:check", words=("deploy",))

        def check(run):  # acme_cli/rules.py
            if run.origin == "agent" and run.effects == "destroy":
                return Refuse("agents may not destroy anything")
            if is_friday():
                return Ask("Deploy on a Friday?")
    """


@hookspec
def after_run(installation: Installation) -> Iterable[AfterRun]:
    """Return functions to call after each finished run of some commands, or of all.

    Called when the lock is built. Each function gets a `FinishedRun` in a child process, when the
    exit status of the run is known. The program waits for all of them together at most 5 seconds.
    Their output goes to stderr, and they cannot change the exit status. A run with such a function
    has a parent, which costs it about a fifth of its time::

        @hookimpl
        def after_run(installation):
            yield AfterRun("chat", "acme_cli.chat:report", words=("deploy",))

        def report(run):  # acme_cli/chat.py
            if run.status:
                post(f"{' '.join(run.words)} failed with status {run.status}")
    """


@hookspec(firstresult=True)
def render_listing(listing: Listing, format: str, terminal: Terminal) -> str | None:
    r"""Return a listing as text in `format`, or None for an unknown format.

    Called when a listing is shown with `--format FORMAT`. The text is written to stdout
    unchanged, so pass names and descriptions through `host.printable`. For `text`, `json` and
    `tree`, only built-in plugins are called::

        @hookimpl
        def render_listing(listing, format, terminal):
            if format != "csv":
                return None
            return "".join(f"{' '.join(c.words)},{c.definition.name}\n" for c in listing.commands)
    """


@hookspec(firstresult=True)
def is_installed(command: Command) -> bool | None:
    """Return whether the program of a `setup` command is installed, or None if this is unknown.

    Called for the commands of `setup` when a listing is shown. Check files only and start no
    program, because the listing waits for the result::

        @hookimpl
        def is_installed(command):
            if command.words != ("setup", "acme-agent"):
                return None
            return Path("/opt/acme/agent").exists()
    """


# pluggy's marker has set this attribute on each function above.
HOOKS = tuple(
    name for name, value in list(globals().items()) if hasattr(value, f"{GROUP}_spec")
)

"""`self plugin show`."""

import os

from builtin_plugins.plugins.inventory import (
    KnownPlugin,
    inventory,
    named_plugin,
)
from builtin_plugins.plugins.preview import command_lines, version_text
from builtin_plugins.plugins.sources.base import make_source
from builtin_plugins.registry.directory import kept_versions
from builtin_plugins.registry.version import PluginVersion
from builtin_plugins.self_commands.decorator import FORMAT, PLUGIN, self_command
from host import masked_text
from host.session.session import Session


@self_command(
    "plugin show",
    "Show everything about a plugin",
    PLUGIN,
    FORMAT,
    synonyms=("plugin info",),
)
def plugin_show(session: Session, name: str, format: str) -> None:
    """Show the details of the plugin NAME; no code of a directory plugin is run."""
    plugins_dir = session.installation.plugins_dir
    plugin = named_plugin(session, name, inventory(session))
    if format == "json":
        kept = kept_versions(plugins_dir, plugin.entry.name)
        versions = [version.version_dir for version in kept]
        session.show_json(plugin.described() | {"versions": versions})
        return

    version = make_source(plugin.entry).current_version(plugins_dir)

    # Commands in code come from the lock, and those in files from the files.
    commands = {}
    for command in plugin.own.commands:
        if command.runs:
            commands[command.words] = command.definition
    commands |= version.commands

    facts = _facts(plugin, version, plugins_dir)
    facts["commands"] = "none"
    if commands:
        facts["commands"] = str(len(commands))
    session.show_facts(facts.items())

    problems = []
    for problem in version.problems:
        if str(problem) != plugin.reason:
            problems.append(f"problem: {problem}")
    session.show_lines(*command_lines({" ": commands.items()}), *problems)


def _facts(
    plugin: KnownPlugin, version: PluginVersion, plugins_dir: str
) -> dict[str, str]:
    entry = plugin.entry
    state = plugin.state_text
    if plugin.reason:
        state += f": {plugin.reason}"
    files = ""
    if plugin.root:
        files = os.path.realpath(plugin.root)

    kept_texts = []
    for kept_version in kept_versions(plugins_dir, entry.name):
        if kept_version.version_dir != entry.version_dir:
            kept_texts.append(version_text(kept_version))

    # The lock has no hooks of a disabled plugin.
    hooks = ", ".join(plugin.hooks or version.hooks)
    if hooks and entry.hooks:
        hooks += f" ({entry.hooks})"

    return {
        "name": entry.name,
        "version": entry.version,
        "description": entry.description,
        "kind": plugin.kind_text,
        "source": masked_text(entry.source),
        "ref": entry.ref,
        "commit": entry.commit,
        "sha256": entry.sha256,
        "state": state,
        "installed": entry.installedAt,
        "files": files,
        "kept": ", ".join(kept_texts),
        "hooks": hooks,
    }

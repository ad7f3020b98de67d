"""The public names of `host`, and what the built-in plugins import from it beside them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import host
from testing.installation import PROJECT

# Everything below `host` that a built-in plugin imports, and why it is neither public nor the
# plugin's own. Shrink it: what others need too becomes public, what one needs moves to it.
_BESIDE = {
    # Failures: raised where the fact is known, caught by the host alone.
    "host.errors": "the kinds of failure, each with its exit status",
    "host.run.text.printable": "text from data is escaped as the host escapes it",
    "host.run.text.Messages": "lines on stderr look like the host's",
    # The definitions of commands, which hold the words, files and variables.
    "host.run.definition.Definition": "what a listing row of a plugin's command shows",
    "host.run.definition.is_word": "names of new commands and plugins are words",
    "host.run.definition.parse_declared": "a wheel's declared commands are read as they would be",
    "host.run.definition": "the finder reads with this, or with an index that does the same",
    "host.run.definition.read_category": "lint reads a category as a run does",
    "host.run.definition.read_command": "a plugin's commands are read before it is added",
    "host.run.expand.expand": "installed_when and <TOOL>_… expand as a run does",
    "host.run.json_files.Number": "unknown keys of registry.json survive, 1.0 stays 1.0",
    "host.run.json_files.parse_json": "JSON inside a wheel has the errors of a file's",
    "host.run.json_files.read_regular": "the finder never waits for a FIFO",
    "host.run.json_files.read_json": "plugin.json has the errors of command.json",
    "host.run.arguments.Argument": "lint: the keys of a declared argument",
    "host.run.definition.read_config": "lint: cli.json is judged as a run judges it",
    "host.run.env_file.read_env_file": "lint: which names a file of env_files defines",
    "host.planning.discovery.ask": "doctor: what plugins say now, told as findings",
    "host.run.settings.capture_settings": "doctor: settings.conf is read as a run reads it",
    "host.run.installation.OpenInstallation": "doctor: an installation that counts",
    "host.run.lock.RESERVED": "info: what is not counted",
    "host.run.installation.data_home": "uninstall: where other installations usually are",
    # What a run would do: `self env`, `self which` tell it.
    "host.run.installation.Layout": "an update asks for paths of another installation's kind",
    "host.run.installation.home": "HOME of a caller that has none",
    "host.run.process.find_program": "a program is found on PATH as a run finds it",
    "host.run.process.start_of": "which: the interpreter that would start",
    "host.run.layers.Assignment": "env: a variable and where it is from",
    "host.run.layers.FRAMEWORK": "env: the framework's own variables come last",
    "host.run.layers.SETTINGS": "the ranks of the built-in sources",
    "host.run.locate.Found": "which: what the words lead to",
    "host.run.locate.locate": "collisions: whom the words would find",
    "host.run.locate.roots": "collisions: where the words are looked for",
    "host.run.lock.NOT_CATEGORIES": "self new: first words that no command can have",
    "host.run.lock.Plugin": "the inventory: what the lock knows of a plugin",
    "host.run.lock.Lock": "collisions: the plan with and without a plugin",
    "host.run.lock.Tree": "collisions: the tree that a plugin would bring",
    "host.run.lock.read_lock": "collisions: the plan that a copy of the environment wrote",
    "host.planning.cache_files.write_lock": "collisions: that plan, written",
    "host.run.plan.check_required": "env: what a run would lack",
    "host.run.plan.check_runnable": "which: whether it could start here",
    "host.run.plan.framework_variables": "env: the framework's own variables",
    "host.run.plan.read_layers": "env: the variables of a run",
    "host.run.importing.complete_import_path": "pip and updates need packages of the environment",
    # Listings and answers of the program.
    "host.cli.answer.is_missing": "self version: an installation or none",
    "host.cli.answer.own_version": "self version: the host's own",
    "host.cli.plain_command.ALL": "self list, search: the option of all listings",
    "host.cli.plain_command.FORMAT": "self list, search: likewise",
    "host.cli.plain_command.Texts": "self list, search, plugin list: what was given",
    "host.cli.plain_command.chosen_format": "self list, search, plugin list: text or JSON",
    "host.cli.plain_command.takes": "self list, search, plugin list: commands without click",
    "host.cli.topics.DOCS": "the text renderer: where to read more",
    "host.cli.topics.TOPICS": "the text renderer: the topics of help",
    "host.cli.answer.version_of": "self version says what --version says",
    "host.cli.catalog.contents": "all commands below some words",
    "host.cli.completion.complete": "words of `self env` and others are those of commands",
    "host.cli.columns.width": "columns count wide characters as listings do",
    "host.cli.columns.wrap": "descriptions wrap as on help pages",
    "host.cli.columns.cut": "self env: long values are cut as on help pages",
    "host.cli.output.Output": "setup: its help page goes where pages go",
    "host.cli.page.Page": "setup: its help page looks like those of commands",
    "host.cli.page.table_lines": "the text renderer: options look as on help pages",
    "host.cli.secret_texts.Mask": "self env masks values as help pages do",
    "host.cli.secret_texts.SECRET_NAME": "addresses: which values of a query are secret",
    "host.cli.secret_texts.masked": "addresses are shown without their credentials",
    "host.cli.styles.NAME": "self env: the colour of names",
    "host.cli.styles.styled": "self env: names have their colour",
    "host.cli.variables.assignment_lines": "self env: which line of settings.conf it is",
    "host.cli.argument_tables.argument_tables": "the text renderer: what a category itself takes",
    "host.cli.lazy_group.LazyGroup": "`self plugin` loads the one word that is asked for",
    "host.cli.unknown.EMPTY": "a name without letters is shown as words are",
    "host.cli.suggestions.nearest": "a misspelt plugin gets the nearest name, as words do",
    "host.cli.pages.listing_text": "self list: a listing by whichever renderer answers",
    "host.cli.pages.rendered": "self search: a listing of what was found",
    "host.cli.listing.select": "self search: hidden commands are not found without --all",
    "host.cli.styles": "the text renderer: colours as on help pages",
    "host.cli.session.Session": "the installation, its plan and its messages, for `self` words",
    "host.cli.unknown.find_command": "a command by its words, with the nearest where there is none",
    "host.cli.unknown.unknown": "self list: the nearest categories",
    # Packages that have plugins.
    "host.hookspecs.PROJECT": "the group of entry points",
    "host.planning.loading.HOOKS": "the hooks that a plugin may implement",
    "host.planning.loading.OWN_DISTRIBUTION": "this program as a distribution",
}


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "host":
            for alias in node.names:
                yield f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name.split(".")[0] == "host")


def test_what_built_in_plugins_import_beside_the_public_names() -> None:
    used = {
        name for path in (PROJECT / "src/builtin_plugins").rglob("*.py") for name in _imports(path)
    }
    used -= {"host", *(f"host.{name}" for name in host.__all__)}
    modules = {"host.errors"}
    used = {next((one for one in modules if name.startswith(f"{one}.")), name) for name in used}
    assert used - set(_BESIDE) == set(), "use a public name, or add it here with its reason"
    assert set(_BESIDE) - used == set(), "nobody imports these any more: take them out here"


def test_the_public_names_are_those_of_the_package() -> None:
    for name in host.__all__:
        assert getattr(host, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        host.nothing  # noqa: B018 - asking is the test

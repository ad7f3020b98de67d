"""What a directory holds that can be wrong: an installation, a plugin, a tree of commands."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import suppress

from builtin_plugins.administration.left_out import left_out
from builtin_plugins.administration.pages import Finding
from builtin_plugins.administration.plugins.contents import misspelt_keys
from builtin_plugins.administration.words.lint.definitions import (
    RULES,
    Subject,
    taken_aliases,
    usual_names,
)
from builtin_plugins.administration.words.lint.hooks import hook_findings, package_findings
from builtin_plugins.administration.words.lint.places import placed
from builtin_plugins.administration.words.lint.scripts import script_findings
from builtin_plugins.plugins_folder.directory import FILE_NAME as MANIFEST
from builtin_plugins.plugins_folder.directory import (
    Manifest,
    find_directory_plugins,
    read_manifest,
)
from builtin_plugins.plugins_folder.registry import effective_registry, registry_path
from host import HostError, Problem
from host.run.command import read_config, read_definition
from host.run.folders import FolderNode
from host.run.lock import Tree
from host.run.script_help import script_gets_help

_DEFINITIONS = ("category.json", "command.json")
_SCRIPTS: Mapping[str, str] = {}


class Lint:
    """One pass over a directory: `count` definitions were read.

    `shell_scripts` are the files that commands run with a shell. `help` has, for the words of each
    command, who answers `--help`: its "script", or the "page".
    """

    def __init__(self, directory: str, environ: Mapping[str, str], config_file: str = "") -> None:
        self.environ = environ
        self.count = 0
        self.shell_scripts: list[str] = []
        self.help: list[tuple[tuple[str, ...], str]] = []
        self._usual = usual_names(environ, os.path.join(directory, "config", "settings.conf"))
        config_file = config_file or os.path.join(directory, "core", "cli.json")
        self._findings = [*self._all(directory, config_file)]

    def findings(self, more: Iterable[Finding] = ()) -> list[Finding]:
        """Return what is wrong, and `more`, in the order of files and lines."""
        return placed([*self._findings, *more])

    def _all(self, directory: str, config_file: str) -> Iterator[Finding]:
        if os.path.lexists(config_file):
            yield from self._installation(directory, config_file)
        elif os.path.lexists(os.path.join(directory, MANIFEST)):
            try:
                yield from self._plugin(directory, read_manifest(directory))
            except HostError as error:
                yield Finding("plugin", error.problem)
        else:
            yield from package_findings(directory)
            is_package = os.path.exists(os.path.join(directory, "pyproject.toml"))
            yield from self._tree(directory, None if is_package else {})

    def _installation(self, root: str, config_file: str) -> Iterator[Finding]:
        self.count += 1
        try:
            config = read_config(config_file)
        except HostError as error:
            yield Finding("installation", error.problem)
            return
        yield from (Finding("definition", one) for one in config.warnings)
        yield from self._tree(os.path.join(root, config.commands_dir))
        plugins_dir = os.path.join(root, config.plugins_dir)
        registry = effective_registry(plugins_dir)
        for problem in registry.problems_of(registry_path(plugins_dir)):
            yield Finding("plugin", problem)
        for one in find_directory_plugins(plugins_dir, registry):
            if one.problem:
                yield Finding("plugin", one.problem)
            elif one.enabled:
                yield from self._plugin(one.root, one.manifest)

    def _plugin(self, root: str, manifest: Manifest) -> Iterator[Finding]:
        """Yield what is wrong with a plugin whose manifest is right in itself."""
        file = os.path.join(root, MANIFEST)
        self.count += os.path.exists(file)
        yield from (Finding("definition", one) for one in misspelt_keys(root))
        for key, place in (("directory", manifest.tree), ("hooks", manifest.hooks_file)):
            if getattr(manifest, key) and not os.path.exists(place):
                yield Finding("plugin", Problem(file, f"there is no {place}", key=key))
        if manifest.hooks and os.path.exists(manifest.hooks_file):
            yield from hook_findings(manifest.hooks_file)
        scripts = manifest.scripts
        yield from self._tree(manifest.tree, scripts, is_category=scripts is not None)

    def _tree(
        self, root: str, scripts: Mapping[str, str] | None = _SCRIPTS, *, is_category: bool = True
    ) -> Iterator[Finding]:
        """Yield what is wrong below a folder of commands; a plugin's own folder is no category."""
        commands: dict[FolderNode, list[Subject]] = {}  # by the directory that they are in
        problems: list[Problem] = []
        pending = [(FolderNode(Tree(root, scripts=scripts)), is_category)]
        while pending:
            node, is_category = pending.pop()
            yield from self._definitions(node)
            command = yield from self._command(node)
            if command is not None and node.parent:
                commands.setdefault(node.parent, []).append(command)
            owns = command is not None and not command.definition.is_script
            if is_category and not owns and node.is_folder:
                yield from left_out(node)
            inside = node.inside()
            problems += node.problems
            if owns:
                yield from _unreachable(node.at, [*inside])
            pending += [
                (one, is_category or one.holds_commands()) for one in reversed(inside.values())
            ]
        for node, siblings in commands.items():
            yield from taken_aliases([*node.inside()], siblings)
        for one in problems:
            if any(os.path.lexists(os.path.join(one.path, name)) for name in _DEFINITIONS):
                yield Finding("word", one)

    def _definitions(self, node: FolderNode) -> Iterator[Finding]:
        """Yield what is wrong in the files of JSON in one directory."""
        for name in _DEFINITIONS:
            file = os.path.join(node.at, name)
            if not os.path.exists(file):
                continue
            self.count += 1
            try:
                one = Subject(file, read_definition(file), self._usual, self.environ)
            except HostError as error:
                yield Finding("definition", error.problem)
                continue
            yield from self._of(one, node)
            if one.definition.entrypoint and name == "category.json":
                yield from script_findings(one, self.shell_scripts)

    def _of(self, one: Subject, node: FolderNode) -> Iterator[Finding]:
        """Yield what the rules find in a definition."""
        with suppress(HostError):  # a finding of its own
            one.definition.inherit(node.above())
        for rule in RULES:
            yield from rule(one)

    def _command(self, node: FolderNode) -> Generator[Finding, None, Subject | None]:
        """Return the command at a place; yield what is wrong with a script."""
        try:
            definition = node.command()
        except HostError as error:
            if not error.problem.path.endswith(_DEFINITIONS):
                self.count += 1
                yield Finding("definition", error.problem)
            return None
        if definition is None or not definition.entrypoint:
            return None
        one = Subject(definition.file, definition, self._usual, self.environ)
        if definition.is_script:
            self.count += 1
            yield from self._of(one, node)
        yield from script_findings(one, self.shell_scripts)
        script = os.path.join(definition.directory, definition.entrypoint)
        gets_help = script_gets_help(definition, "" if definition.in_python else script)
        words = node.at.removeprefix(node.tree.path).strip("/") or os.path.basename(node.at)
        self.help.append((tuple(words.split("/")), "script" if gets_help else "page"))
        return one


def _unreachable(place: str, words: list[str]) -> Iterator[Finding]:
    """Yield the definitions in a command's folder that are in folders without one."""
    for folder, inner, names in os.walk(place):
        if folder == place:
            inner[:] = [one for one in inner if one not in words and not one.startswith(".")]
        elif "command.json" in names:
            text = f"cannot be reached: {place} is a command, so folders without a definition"
            remedy = f"write {os.path.dirname(folder)}/category.json, or move it"
            file = os.path.join(folder, "command.json")
            yield Finding("unreachable", Problem(file, f"{text} are its own files", remedy))

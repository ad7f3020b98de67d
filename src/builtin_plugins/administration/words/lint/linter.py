"""What a directory holds that can be wrong: an installation, a plugin, a tree of commands."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping
from contextlib import suppress

from builtin_plugins.administration.words.lint.definitions import (
    alias_findings,
    definition_findings,
    usual_names,
)
from builtin_plugins.administration.words.lint.finding import Finding, JsonFile, ScriptFile
from builtin_plugins.administration.words.lint.hooks import hook_findings, package_findings
from builtin_plugins.administration.words.lint.scripts import left_out, script_findings
from builtin_plugins.plugins_folder.directory import FILE_NAME as MANIFEST
from builtin_plugins.plugins_folder.directory import (
    Manifest,
    find_directory_plugins,
    read_manifest,
)
from builtin_plugins.plugins_folder.registry import effective_registry, registry_path
from host import Definition, HostError, Problem
from host.run.command import read_config, read_definition
from host.run.folders import FolderTree
from host.run.script_help import script_gets_help

Linted = tuple[JsonFile, Definition]

_DEFINITIONS = ("category.json", "command.json")
_SCRIPTS: Mapping[str, str] = {}


class Lint:
    """One look at a directory: `findings` in order of files, `count` definitions seen.

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
        self.findings = sorted(set(self._all(directory, config_file)))

    def _all(self, directory: str, config_file: str) -> Iterator[Finding]:
        if os.path.lexists(config_file):
            yield from self._installation(directory, JsonFile(config_file))
        elif os.path.lexists(os.path.join(directory, MANIFEST)):
            try:
                said = read_manifest(directory)
            except HostError as error:
                yield self._of_plugin(directory, error.problem)
            else:
                yield from self._plugin(directory, said)
        else:
            yield from package_findings(directory)
            is_package = os.path.exists(os.path.join(directory, "pyproject.toml"))
            yield from self._tree(directory, None if is_package else {})

    def _installation(self, root: str, file: JsonFile) -> Iterator[Finding]:
        self.count += 1
        try:
            config = read_config(file.path)
        except HostError as error:
            yield file.finding(error.problem, "installation")
            return
        yield from map(file.finding, config.warnings)
        yield from self._tree(os.path.join(root, config.commands_dir))
        plugins_dir = os.path.join(root, config.plugins_dir)
        registry = effective_registry(plugins_dir)
        file = JsonFile(registry_path(plugins_dir))
        for problem in registry.problems_of(file.path):
            yield file.finding(problem, "plugin")
        for one in find_directory_plugins(plugins_dir, registry):
            if one.problem:
                yield self._of_plugin(one.root, one.problem)
            elif one.enabled:
                yield from self._plugin(one.root, one.manifest)

    def _of_plugin(self, root: str, problem: Problem) -> Finding:
        manifest = os.path.join(root, MANIFEST)
        return JsonFile(manifest if problem.path == manifest else root).finding(problem, "plugin")

    def _plugin(self, root: str, said: Manifest) -> Iterator[Finding]:
        """Yield what is wrong with a plugin whose manifest is right in itself."""
        file = JsonFile(os.path.join(root, MANIFEST))
        self.count += os.path.exists(file.path)
        yield from map(file.finding, said.warnings)
        for key, place in (("directory", said.tree), ("hooks", said.hooks_file)):
            if getattr(said, key) and not os.path.exists(place):
                problem = Problem(file.path, f"there is no {place}", key=key)
                yield file.finding(problem, "plugin")
        if said.hooks and os.path.exists(said.hooks_file):
            yield from hook_findings(said.hooks_file)
        yield from self._tree(said.tree, said.scripts, is_category=said.scripts is not None)

    def _tree(
        self, root: str, scripts: Mapping[str, str] | None = _SCRIPTS, *, is_category: bool = True
    ) -> Iterator[Finding]:
        """Yield what is wrong below a folder of commands; a plugin's own folder is no category."""
        tree = FolderTree(root, scripts=scripts)
        commands: dict[str, list[Linted]] = {}  # by the directory that they are in
        problems: list[Problem] = []
        pending = [(root, is_category)]
        while pending:
            place, is_category = pending.pop()
            yield from self._definitions(tree, place)
            command = yield from self._command(tree, place)
            if command is not None:
                commands.setdefault(os.path.dirname(place), []).append(command)
            owns = command is not None and not command[1].is_script
            if is_category and not owns and os.path.isdir(place):
                yield from left_out(tree, place)
            words = tree.words(place, problems)
            if owns:
                yield from _unreachable(place, words)
            for word in reversed(words):
                path = tree.path_of(place, word)
                pending.append((path, is_category or tree.holds_commands(path)))
        for place, siblings in commands.items():
            yield from alias_findings(tree.words(place), siblings)
        for one in problems:
            if any(os.path.lexists(os.path.join(one.path, name)) for name in _DEFINITIONS):
                yield Finding(one.path, 1, 1, "word", one.message)

    def _definitions(self, tree: FolderTree, place: str) -> Iterator[Finding]:
        """Yield what is wrong in the files of JSON in one directory."""
        for name in _DEFINITIONS:
            file = JsonFile(os.path.join(place, name))
            if not os.path.exists(file.path):
                continue
            self.count += 1
            try:
                definition = read_definition(file.path)
            except HostError as error:
                yield file.finding(error.problem)
                continue
            with suppress(HostError):  # a finding of its own
                definition.inherit(tree.above(place))
            yield from definition_findings(file, definition, self._usual, self.environ)
            if definition.entrypoint and name == "category.json":
                yield from script_findings(file, definition, self.environ, self.shell_scripts)

    def _command(self, tree: FolderTree, place: str) -> Generator[Finding, None, Linted | None]:
        """Return the command at a place; yield what is wrong with a script."""
        try:
            definition = tree.command(place)
        except HostError as error:
            if not error.problem.path.endswith(_DEFINITIONS):
                self.count += 1
                yield ScriptFile(error.problem.path).finding(error.problem)
            return None
        if definition is None or not definition.entrypoint:
            return None
        file = ScriptFile(definition.file) if definition.is_script else JsonFile(definition.file)
        if definition.is_script:
            self.count += 1
            with suppress(HostError):
                definition.inherit(tree.above(place))
            yield from definition_findings(file, definition, self._usual, self.environ)
        yield from script_findings(file, definition, self.environ, self.shell_scripts)
        script = os.path.join(definition.directory, definition.entrypoint)
        gets_help = script_gets_help(definition, "" if definition.in_python else script)
        words = place.removeprefix(tree.root).strip("/") or os.path.basename(place)
        self.help.append((tuple(words.split("/")), "script" if gets_help else "page"))
        return file, definition


def _unreachable(place: str, words: list[str]) -> Iterator[Finding]:
    """Yield the definitions in a command's folder that are in folders without one."""
    for folder, inner, names in os.walk(place):
        if folder == place:
            inner[:] = [one for one in inner if one not in words and not one.startswith(".")]
        elif "command.json" in names:
            text = f"cannot be reached: {place} is a command, so folders without a definition"
            remedy = f"write {os.path.dirname(folder)}/category.json, or move it"
            file = os.path.join(folder, "command.json")
            yield Finding(file, 1, 1, "unreachable", f"{text} are its own files", remedy)

"""What a directory holds that can be wrong: an installation, a plugin, a tree of commands."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping

from builtin_plugins.administration.plugins.contents import misspelt_keys
from builtin_plugins.administration.words.lint.definitions import (
    alias_findings,
    definition_findings,
    usual_names,
)
from builtin_plugins.administration.words.lint.finding import Finding, JsonFile
from builtin_plugins.administration.words.lint.hooks import hook_findings, package_findings
from builtin_plugins.administration.words.lint.scripts import script_findings, undefined_scripts
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

Linted = tuple[JsonFile, Definition]

_DEFINITIONS = ("category.json", "command.json")


class Lint:
    """One look at a directory: `findings` in order of files, `count` definitions seen.

    `shell_scripts` are the files that commands run with a shell.
    """

    def __init__(self, directory: str, environ: Mapping[str, str], config_file: str = "") -> None:
        self.environ = environ
        self.count = 0
        self.shell_scripts: list[str] = []
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
            yield from self._tree(directory)

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
        yield from map(file.finding, misspelt_keys(root))
        for key, place in (("directory", said.tree), ("hooks", said.hooks_file)):
            if getattr(said, key) and not os.path.exists(place):
                problem = Problem(file.path, f"there is no {place}", key=key)
                yield file.finding(problem, "plugin")
        if said.hooks and os.path.exists(said.hooks_file):
            yield from hook_findings(said.hooks_file)
        yield from self._tree(said.tree, is_category=False)

    def _tree(self, root: str, *, is_category: bool = True) -> Iterator[Finding]:
        """Yield what is wrong below a folder of commands; a plugin's own folder is no category."""
        tree = FolderTree(root)
        commands: dict[str, list[Linted]] = {}  # by the directory that they are in
        problems: list[Problem] = []
        pending = [(root, "", is_category)]
        while pending:
            place, above, is_category = pending.pop()
            command = yield from self._place(place, above)
            if command is not None:
                above = command[0].path
                commands.setdefault(os.path.dirname(place), []).append(command)
            if is_category and not above:
                yield from undefined_scripts(place)
            for word in reversed(tree.words(place, problems)):
                path = tree.path_of(place, word)
                pending.append((path, above, is_category or tree.holds_commands(path)))
        for place, siblings in commands.items():
            yield from alias_findings(tree.words(place), siblings)
        for one in problems:
            if any(os.path.lexists(os.path.join(one.path, name)) for name in _DEFINITIONS):
                yield Finding(one.path, 1, 1, "word", one.message)

    def _place(self, place: str, above: str) -> Generator[Finding, None, Linted | None]:
        """Yield what is wrong in one directory; return its command.json when that runs."""
        runnable = None
        for name in _DEFINITIONS:
            file = JsonFile(os.path.join(place, name))
            if not os.path.exists(file.path):
                continue
            self.count += 1
            if above:
                text = f"cannot be reached: {above} is a command, so its folders are not looked at"
                yield Finding(file.path, 1, 1, "unreachable", f"{text}; move one of them")
            try:
                definition = read_definition(file.path)
            except HostError as error:
                yield file.finding(error.problem)
                continue
            yield from definition_findings(file, definition, self._usual, self.environ)
            if not definition.entrypoint:
                continue
            if name == "command.json":
                runnable = file, definition
            yield from script_findings(file, definition, self.environ, self.shell_scripts)
        return runnable

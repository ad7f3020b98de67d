"""What a directory holds that can be wrong: an installation, a plugin, a tree of commands."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping

from builtin_plugins.administration.pages import Finding
from builtin_plugins.administration.words.lint.definitions import RULES, Subject, placed
from builtin_plugins.administration.words.lint.hooks import hook_findings, package_findings
from builtin_plugins.administration.words.lint.scripts import script_findings, undefined_scripts
from builtin_plugins.plugins_folder.directory import FILE_NAME as MANIFEST
from builtin_plugins.plugins_folder.directory import (
    Manifest,
    find_directory_plugins,
    read_manifest,
)
from builtin_plugins.plugins_folder.registry import effective_registry, registry_path
from host import HostError, Problem
from host.run.command import read_config, read_definition
from host.run.folders import FolderTree

_DEFINITIONS = ("category.json", "command.json")


class Lint:
    """One pass over a directory: the `findings` in the order of files; `count` definitions."""

    def __init__(self, directory: str, environ: Mapping[str, str], config_file: str = "") -> None:
        self.environ = environ
        self.count = 0
        config_file = config_file or os.path.join(directory, "core", "cli.json")
        self.findings = placed(self._all(directory, config_file))

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
            yield from self._tree(directory)

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
        yield from (Finding("definition", one) for one in manifest.warnings)
        for key, place in (("directory", manifest.tree), ("hooks", manifest.hooks_file)):
            if getattr(manifest, key) and not os.path.exists(place):
                yield Finding("plugin", Problem(file, f"there is no {place}", key=key))
        if manifest.hooks and os.path.exists(manifest.hooks_file):
            yield from hook_findings(manifest.hooks_file)
        yield from self._tree(manifest.tree, is_category=False)

    def _tree(self, root: str, *, is_category: bool = True) -> Iterator[Finding]:
        """Yield what is wrong below a folder of commands; a plugin's own folder is no category."""
        tree = FolderTree(root)
        problems: list[Problem] = []
        pending = [(root, is_category)]
        while pending:
            place, is_category = pending.pop()
            runs = yield from self._place(place)
            if is_category and not runs:
                yield from undefined_scripts(place)
            for word in reversed(tree.words(place, problems)):
                path = tree.path_of(place, word)
                pending.append((path, not runs and (is_category or tree.holds_commands(path))))
        for one in problems:
            if any(os.path.lexists(os.path.join(one.path, name)) for name in _DEFINITIONS):
                yield Finding("word", one)

    def _place(self, place: str) -> Generator[Finding, None, bool]:
        """Yield what is wrong in one directory; return whether it is a command's."""
        runs = False
        for name in _DEFINITIONS:
            file = os.path.join(place, name)
            if not os.path.exists(file):
                continue
            self.count += 1
            try:
                one = Subject(file, read_definition(file), self.environ)
            except HostError as error:
                yield Finding("definition", error.problem)
                continue
            for rule in (*RULES, script_findings):
                yield from rule(one)
            runs = name == "command.json" and one.definition.entrypoint != ""
        return runs

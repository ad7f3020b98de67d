"""What a directory holds that can be wrong: an installation, a plugin, a tree of commands."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Mapping

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
    """One pass over a directory: `count` definitions were read.

    `shell_scripts` are the files that commands run with a shell.
    """

    def __init__(self, directory: str, environ: Mapping[str, str], config_file: str = "") -> None:
        self.environ = environ
        self.count = 0
        self.shell_scripts: list[str] = []
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
        yield from (Finding("definition", one) for one in misspelt_keys(root))
        for key, place in (("directory", manifest.tree), ("hooks", manifest.hooks_file)):
            if getattr(manifest, key) and not os.path.exists(place):
                yield Finding("plugin", Problem(file, f"there is no {place}", key=key))
        if manifest.hooks and os.path.exists(manifest.hooks_file):
            yield from hook_findings(manifest.hooks_file)
        yield from self._tree(manifest.tree, is_category=False)

    def _tree(self, root: str, *, is_category: bool = True) -> Iterator[Finding]:
        """Yield what is wrong below a folder of commands; a plugin's own folder is no category."""
        tree = FolderTree(root)
        commands: dict[str, list[Subject]] = {}  # by the directory that they are in
        problems: list[Problem] = []
        pending = [(root, "", is_category)]
        while pending:
            place, above, is_category = pending.pop()
            command = yield from self._place(place, above)
            if command is not None:
                above = command.file
                commands.setdefault(os.path.dirname(place), []).append(command)
            if is_category and not above:
                yield from undefined_scripts(place)
            for word in reversed(tree.words(place, problems)):
                path = tree.path_of(place, word)
                pending.append((path, above, is_category or tree.holds_commands(path)))
        for place, siblings in commands.items():
            yield from taken_aliases(tree.words(place), siblings)
        for one in problems:
            if any(os.path.lexists(os.path.join(one.path, name)) for name in _DEFINITIONS):
                yield Finding("word", one)

    def _place(self, place: str, above: str) -> Generator[Finding, None, Subject | None]:
        """Yield what is wrong in one directory; return its command.json when that runs."""
        runnable = None
        for name in _DEFINITIONS:
            file = os.path.join(place, name)
            if not os.path.exists(file):
                continue
            self.count += 1
            if above:
                text = f"cannot be reached: {above} is a command, so its folders are not looked at"
                yield Finding("unreachable", Problem(file, text, "move one of them"))
            try:
                one = Subject(file, read_definition(file), self._usual, self.environ)
            except HostError as error:
                yield Finding("definition", error.problem)
                continue
            for rule in RULES:
                yield from rule(one)
            if one.definition.entrypoint:
                yield from script_findings(one, self.shell_scripts)
                runnable = one if name == "command.json" else runnable
        return runnable

"""What a directory holds that can be wrong: an installation, a plugin, a tree of commands."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping

from builtin_plugins.directories.finder import Directories
from builtin_plugins.plugin_directories.directory import FILE_NAME as MANIFEST
from builtin_plugins.plugin_directories.directory import (
    Manifest,
    find_directory_plugins,
    inside,
    read_manifest,
)
from builtin_plugins.plugin_directories.registry import registry_path
from builtin_plugins.self_commands.lint.definitions import Linted, alias_findings, positions_in
from builtin_plugins.self_commands.lint.finding import Finding, of_error
from builtin_plugins.self_commands.lint.references import usual_names
from builtin_plugins.self_commands.lint.scripts import (
    Script,
    script_findings,
    shellcheck_findings,
)
from host import HostError
from host.run.definition import read_config
from host.run.paths import find_program

_DEFINITIONS = ("category.json", "command.json")


class Lint:
    """One look at a directory: `findings` in order of files, `count` definitions seen.

    With `scripts` what commands run is looked at with shellcheck, too; it is `unchecked`
    where there is none.
    """

    def __init__(
        self,
        directory: str,
        environ: Mapping[str, str],
        config_file: str = "",
        scripts: bool = True,
    ) -> None:
        self.environ = environ
        self.count = 0
        self._shells: list[Script] = []
        self._usual = usual_names(environ, os.path.join(directory, "config", "settings.conf"))
        config_file = config_file or os.path.join(directory, "core", "cli.json")
        found = list(self._all(directory, config_file))
        shellcheck = find_program("shellcheck", environ)
        self.unchecked = bool(self._shells) and shellcheck is None
        if scripts and shellcheck is not None:
            found += shellcheck_findings(shellcheck, self._shells, environ)
        self.findings = sorted(set(found))

    def _all(self, directory: str, config_file: str) -> Iterator[Finding]:
        if os.path.lexists(config_file):
            yield from self._installation(directory, config_file)
        elif os.path.lexists(os.path.join(directory, MANIFEST)):
            yield from self._plugin(directory)
        else:
            yield from self._tree(directory)

    def _installation(self, root: str, file: str) -> Iterator[Finding]:
        self.count += 1
        try:
            config = read_config(file)
        except HostError as error:
            yield of_error(file, positions_in(file), error.what, "installation", error.remedy)
            return
        for line in config.warnings:
            yield of_error(file, positions_in(file), line)
        yield from self._tree(os.path.join(root, config.commands_dir))
        plugins_dir = os.path.join(root, config.plugins_dir)
        plugins, problems = find_directory_plugins(plugins_dir)
        registry = registry_path(plugins_dir)
        for problem in problems:
            yield of_error(registry, positions_in(registry), problem, "plugin")
        for plugin in plugins:
            if plugin.problem:
                yield _of_plugin(plugin.root, plugin.problem)
            elif plugin.enabled:
                yield from _misspelt(plugin.root, plugin.manifest)
                yield from self._tree(plugin.tree)

    def _plugin(self, root: str) -> Iterator[Finding]:
        self.count += 1
        try:
            manifest = read_manifest(root)
            parts = {"directory": manifest.directory, "hooks": manifest.hooks} if manifest else {}
            places = {key: inside(root, one, key) for key, one in parts.items() if one}
        except HostError as error:
            yield _of_plugin(root, str(error))
            return
        yield from _misspelt(root, manifest)
        for key, place in places.items():
            if not os.path.exists(place):
                file = os.path.join(root, MANIFEST)
                yield of_error(file, positions_in(file), f'{file}: "{key}": there is no {place}')
        yield from self._tree(places.get("directory", root))

    def _tree(self, root: str) -> Iterator[Finding]:
        finder = Directories(root)
        commands: dict[str, list[Linted]] = {}  # by the directory that they are in
        told: list[str] = []
        pending = [(root, "")]
        while pending:
            place, above = pending.pop()
            linted = yield from self._place(place, above)
            inner = [path for _, path in finder.inner(place, told.append)]
            if linted is not None:
                commands.setdefault(os.path.dirname(place), []).append(linted)
            below = linted.file if linted else above
            pending += [(path, below) for path in reversed(inner)]
        for place, siblings in commands.items():
            yield from alias_findings([word for word, _ in finder.inner(place)], siblings)
        for text in told:
            path, _, said = text.rpartition(": ")
            if any(os.path.lexists(os.path.join(path, name)) for name in _DEFINITIONS):
                yield Finding(path, 1, 1, "word", said)

    def _place(self, place: str, above: str) -> Generator[Finding, None, Linted | None]:
        """Yield what is wrong in one directory; return its command.json when that runs."""
        runnable = None
        for name in _DEFINITIONS:
            file = os.path.join(place, name)
            if not os.path.lexists(file):
                continue
            self.count += 1
            linted = Linted(file)
            if above:
                text = f"cannot be reached: {above} is a command, so its folders are not looked at"
                yield Finding(file, 1, 1, "unreachable", f"{text}; move one of them")
            yield from linted.findings(self._usual, self.environ)
            definition = linted.definition
            if definition is None or not definition.entrypoint:
                continue
            if name == "command.json":
                runnable = linted
            yield from script_findings(linted, definition, self.environ, self._shells)
        return runnable


def _misspelt(root: str, manifest: Manifest | None) -> Iterator[Finding]:
    file = os.path.join(root, MANIFEST)
    for line in manifest.warnings if manifest else ():
        yield of_error(file, positions_in(file), line)


def _of_plugin(root: str, text: str) -> Finding:
    file = os.path.join(root, MANIFEST)
    if text.startswith(file):
        return of_error(file, positions_in(file), text, "plugin")
    return Finding(root, 1, 1, "plugin", text.removeprefix(f"{root}: "))

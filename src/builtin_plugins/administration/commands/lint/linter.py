"""The checks of an installation, a plugin, a project or a folder of commands."""

import os
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from functools import cache
from operator import attrgetter

from builtin_plugins.administration.commands.lint import rules
from builtin_plugins.administration.findings import Finding
from builtin_plugins.administration.left_out import left_out
from builtin_plugins.administration.plugins.directory_contents import misspelt_keys
from builtin_plugins.administration.project import nearest_project
from builtin_plugins.plugins_folder.directory import (
    MANIFEST,
    find_directory_plugins,
    missing_path,
    read_plugin,
)
from builtin_plugins.plugins_folder.entry import Entry
from builtin_plugins.plugins_folder.registry import effective_registry
from builtin_plugins.plugins_folder.version import PluginVersion
from host import Category, Command, Definition, HostError, Problem
from host.cli.contents import contents
from host.cli.session import Session
from host.cli.variables import settings_names
from host.run.caller import FRAMEWORK_NAMES
from host.run.catalog import Catalog, reserved_problem
from host.run.command_files import FolderNode
from host.run.declarations import CommandTree
from host.run.files import read_regular
from host.run.installation import read_config
from host.run.json_errors import offsets_of_keys, position_of_key
from host.run.lock import Lock
from host.run.projects import Project
from host.run.script_definition import ScriptComments, block_text
from host.run.script_help import script_gets_help
from host.run.words import RESERVED_WORDS, is_word


class Lint:
    """One pass over definitions and scripts; each method yields findings.

    `count` is the number of definitions read. `shell_scripts` lists the entrypoints that a shell
    runs. `help` maps "script" to the commands whose script handles `--help`, and "page" to those
    for which `--help` shows the help page. `descriptions` maps "no" and "doubtful" to commands
    with such a description. `ignored_tags` counts the scripts that have a tag without a meaning
    here. Variables that settings.conf assigns are treated as defined.
    """

    def __init__(self, session: Session) -> None:
        names = [
            *FRAMEWORK_NAMES,
            "PROJECT_DIR",
            *settings_names(session.layout.settings_file),
        ]
        self._known = {**dict.fromkeys(names, ""), **session.environ}
        self._session = session
        self.count = 0
        self.shell_scripts: list[str] = []
        self.help: dict[str, list[str]] = {}
        self.descriptions: dict[str, list[str]] = {"no": [], "doubtful": []}
        self.ignored_tags: Counter[str] = Counter()

    def here(self) -> Iterator[Finding]:
        """Check this installation, and the projects that contain the current directory."""
        session = self._session
        projects, wrong = session.installation.around()
        yield from self._installation(session.layout.root, session.layout.config_file)
        yield from (Finding("definition", problem) for problem in wrong)
        for project in projects:
            yield from self.tree(FolderNode(project.tree, project=project))
        catalog = Catalog(
            self._session.lock_for_inspection, around=lambda: (projects, [])
        )
        yield from self._shadowed(catalog, projects)
        yield from _moved(catalog)

    def _shadowed(self, catalog: Catalog, projects: list[Project]) -> Iterator[Finding]:
        """Yield a finding for each hidden command; a hidden one in a project is only a hint."""
        roots: list[str] = []
        for project in projects:
            folders = (project.root, os.path.realpath(project.commands_dir))
            roots += [f"{folder}/" for folder in folders]
        listed = contents(catalog, (), deep=True)
        rows: list[Command | Category] = [*listed.commands, *listed.categories]
        for row in rows:
            winner = "the category of that name"
            if isinstance(row, Command):
                winner = row.definition.file or f"plugin {row.plugin}"
            for place in row.shadows:
                text = f"{' '.join(row.words)} is hidden by {winner}"
                problem = Problem(
                    place, text, "rename one of the two, or disable the plugin"
                )
                yield Finding("shadowed", problem, hint=place.startswith(tuple(roots)))

    def directory(self, directory: str) -> Iterator[Finding]:
        """Check a project, an installation, a plugin or a folder of commands."""
        project = nearest_project(self._session, directory)
        root = project.root
        config_file = os.path.join(root, "core", "cli.json")
        if os.path.isdir(project.commands_dir):
            yield from self.tree(FolderNode(project.tree, project=project))
            yield from _moved(Catalog(Lock([], []), around=lambda: ([project], [])))
        elif os.path.lexists(config_file):
            yield from self._installation(root, config_file)
        elif os.path.lexists(os.path.join(root, MANIFEST)):
            plugin = read_plugin(root, Entry("", "local"))
            yield from self._plugin(plugin)
            yield from self._moved_in(plugin.tree)
        else:
            has_pyproject = os.path.exists(os.path.join(root, "pyproject.toml"))
            tree = CommandTree(root, scripts=None if has_pyproject else {})
            yield from self.tree(FolderNode(tree))
            yield from self._moved_in(tree)

    def _moved_in(self, tree: CommandTree) -> Iterator[Finding]:
        """Check the targets of `moved_to` in a tree that is a part of an installation.

        A target outside the tree is looked up here; the installation of the tree may be another.
        """
        alone = Catalog(Lock([tree], []), around=lambda: ([], []))
        for command in contents(alone, (), deep=True).commands:
            target = tuple(command.definition.moved_to.split())
            is_inside = bool(target) and alone.find(target[:1]).words == target[:1]
            if target and (is_inside or not self._has_command(target)):
                for finding in _moved_command(alone, command):
                    yield Finding("definition", finding.problem, hint=not is_inside)

    def _has_command(self, words: tuple[str, ...]) -> bool:
        """Return whether there is an installation here, and it has the command `words`."""
        try:
            match = self._session.catalog.find(words)
        except HostError:
            return False
        return match.kind == "command" and match.words == words

    def _installation(self, root: str, config_file: str) -> Iterator[Finding]:
        config = read_config(config_file)
        self.count += 1
        yield from (Finding("definition", warning) for warning in config.warnings)
        commands = CommandTree(os.path.join(root, config.commands_dir), scripts={})
        yield from self.tree(FolderNode(commands))
        plugins_dir = os.path.join(root, config.plugins_dir)
        registry = effective_registry(plugins_dir)
        for problem in registry.problems:
            yield Finding("plugin", problem)
        for plugin in find_directory_plugins(plugins_dir, registry):
            if plugin.problem:
                yield Finding("plugin", plugin.problem)
            elif plugin.entry.enabled:
                yield from self._plugin(plugin)

    def _plugin(self, plugin: PluginVersion) -> Iterator[Finding]:
        """Check a plugin whose plugin.json is valid."""
        self.count += os.path.exists(os.path.join(plugin.root, MANIFEST))
        yield from (
            Finding("definition", problem) for problem in misspelt_keys(plugin.root)
        )
        if missing := missing_path(plugin):
            yield Finding("plugin", missing)
            return
        if plugin.hooks_file:
            yield from rules.hooks(plugin.hooks_file)
        yield from self.tree(FolderNode(plugin.tree))

    def tree(self, start: FolderNode) -> Iterator[Finding]:
        """Check a node in a tree of commands, and everything below it."""
        pending = [start]
        while pending:
            node = pending.pop()
            command = yield from self._node(node)
            inside = {**node.inside()}
            # Below the words of the key "under", no word is reserved.
            is_top = node.parent is None and not node.tree.under
            for word in RESERVED_WORDS if is_top else ():
                if left := inside.pop(word, None):
                    yield Finding("undefined", reserved_problem(word, left), hint=True)
            if command is None or command.is_script:
                yield from _folder_findings(node)
                # The root of a plugin with command folders is not a category itself.
                if node.tree.scripts is not None or (
                    node.parent and node.holds_commands()
                ):
                    yield from left_out(node)
            pending += reversed(inside.values())

    def _node(self, node: FolderNode) -> Generator[Finding, None, Definition | None]:
        """Check the category and the command that a node defines; return the command, if valid."""
        command = None
        for read in (node.category, node.read_command):
            try:
                definition = read()
                if definition is None:
                    continue
                definition.inherit(node.above())
            except HostError as error:
                yield Finding("definition", error.problem)
                continue
            self.count += 1
            yield from rules.keys_and_systems(definition)
            yield from rules.default_command(definition, node)
            yield from rules.written_secrets(definition)
            yield from rules.path_folders(definition)
            yield from rules.output(definition)
            yield from rules.calling_shell(definition)
            yield from rules.variables(definition, self._known)
            if definition.entrypoint:
                environ = self._session.environ
                yield from rules.script_findings(
                    definition, environ, self.shell_scripts
                )
                command = definition if read == node.read_command else None
        if command is not None:
            script = os.path.join(command.directory, command.entrypoint)
            gets_help = script_gets_help(command, "" if command.in_python else script)
            words = node.written.removeprefix(node.tree.path).strip("/")
            words = words or os.path.basename(node.at)
            name = " ".join([*node.tree.under, *words.split("/")])
            self.help.setdefault("script" if gets_help else "page", []).append(name)
            self._describe(command, name)
        return command

    def _describe(self, command: Definition, name: str) -> None:
        """Take note of a command's description and ignored tags."""
        if not command.description:
            self.descriptions["no"].append(name)
        elif command.is_script and rules.is_doubtful(command.description):
            self.descriptions["doubtful"].append(name)
        if command.is_script:
            with suppress(FileNotFoundError):
                self.ignored_tags.update({*ScriptComments(command.file).ignored})


def _folder_findings(node: FolderNode) -> Iterator[Finding]:
    """Yield the problems with the folders in a node.

    A folder whose name is no word is only a hint, unless it has a definition: it may be meant for
    something else than commands.
    """
    for problem in node.problems:
        is_folder = problem.path != node.at
        has_wrong_name = is_folder and not is_word(os.path.basename(problem.path))
        definitions = [
            f"{problem.path}/{name}" for name in ("command.json", "category.json")
        ]
        if has_wrong_name and not any(map(os.path.exists, definitions)):
            yield Finding("undefined", problem, hint=True)
        else:
            yield Finding("definition", problem)


def _moved(catalog: Catalog) -> Iterator[Finding]:
    """Yield a finding for each command whose `moved_to` names no command that can run."""
    for command in contents(catalog, (), deep=True).commands:
        if command.definition.moved_to:
            yield from _moved_command(catalog, command)


def _moved_command(catalog: Catalog, command: Command) -> Iterator[Finding]:
    try:
        catalog.follow(catalog.find(command.words))
    except HostError as error:
        yield Finding("definition", error.problem)


def keys_of(path: str) -> tuple[str, dict[str, int]]:
    """Return the JSON in a .json file or a script's comment, and the offset of each of its keys.

    The keys are paths such as `envs.NAME` and `args[1].type`. Returns an empty text and no offsets
    if the file cannot be read.
    """
    try:
        text = read_regular(path, HostError).decode("utf-8-sig")
        if not path.endswith(".json"):
            text = block_text(text.splitlines())
    except (HostError, FileNotFoundError, UnicodeDecodeError):
        return "", {}
    return text, dict(offsets_of_keys(text))


def with_positions(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings sorted by position, each with a line and a column.

    Paths below the current directory are relative to it.
    """
    found, here, keys = set(), f"{os.getcwd()}/", cache(keys_of)
    for finding in findings:
        at = finding.problem
        line, column = at.line or 1, at.column or 1
        if at.key and not at.line:
            line, column = position_of_key(*keys(at.path), at.key)
        path = at.path.removeprefix(here)
        problem = Problem(path, at.text, at.remedy, at.key, line, column)
        found.add(finding._replace(problem=problem))
    order = attrgetter(
        "problem.path", "problem.line", "problem.column", "rule", "problem.message"
    )
    return sorted(found, key=order)

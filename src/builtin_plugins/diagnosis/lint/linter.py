"""The checks of an installation, a plugin, a project or a folder of commands."""

import os
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from contextlib import suppress

from builtin_plugins.diagnosis.lint import rules
from builtin_plugins.diagnosis.lint.catalog_rules import (
    moved,
    moved_in_part,
    shadowed,
)
from builtin_plugins.plugins.directory_contents import misspelt_keys
from builtin_plugins.registry.directory import (
    MANIFEST,
    find_directory_plugins,
    missing_path,
    read_plugin,
)
from builtin_plugins.registry.entry import Entry
from builtin_plugins.registry.registry import read_registry
from builtin_plugins.registry.version import PluginVersion
from builtin_plugins.self_commands.findings import Finding
from builtin_plugins.self_commands.left_out import left_out
from builtin_plugins.self_commands.project import nearest_project
from host import Definition, HostError, Problem
from host.caller import FRAMEWORK_NAMES
from host.catalog.catalog import Catalog, reserved_problem
from host.catalog.command_files import FolderNode
from host.headers.script_comments import ScriptComments
from host.installation import Layout, OpenInstallation, open_installation
from host.launch.script_help import script_gets_help
from host.lock.lock import Lock, read_lock
from host.pages.variable_table import settings_names
from host.projects.projects import Project
from host.record_base import CommandTree
from host.session.session import Session
from host.words import RESERVED_WORDS, is_word

_DEFINITIONS = ("command.json", "category.json")


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
        projects, problems = session.installation.around()
        yield from self._installation(session.installation)
        for problem in problems:
            yield Finding("definition", problem)
        for project in projects:
            yield from self.tree(FolderNode(project.tree, project=project))

        lock = session.lock_for_inspection
        catalog = Catalog(lock, around=lambda: (projects, []))
        yield from shadowed(catalog, projects)
        yield from moved(catalog)

    def directory(self, directory: str) -> Iterator[Finding]:
        """Check a project, an installation, a plugin or a folder of commands."""
        project = nearest_project(self._session, directory)
        root = project.root
        config_file = os.path.join(root, "core", "cli.json")

        if os.path.isdir(project.commands_dir):
            yield from self._project(project)
        elif os.path.lexists(config_file):
            layout = Layout(self._session.program, root, config_file)
            yield from self._other_installation(layout)
        elif os.path.lexists(os.path.join(root, MANIFEST)):
            plugin = read_plugin(root, Entry("", "local"))
            yield from self._plugin(plugin)
            yield from self._moved_in(plugin.tree)
        else:
            yield from self._folder(root)

    def _project(self, project: Project) -> Iterator[Finding]:
        yield from self.tree(FolderNode(project.tree, project=project))
        # A project can move its own commands only, so no others are needed.
        catalog = Catalog(Lock([], []), around=lambda: ([project], []))
        yield from moved(catalog)

    def _other_installation(self, layout: Layout) -> Iterator[Finding]:
        installation = open_installation(layout, self._session.environ)
        yield from self._installation(installation)
        catalog = Catalog(self._lock_of(installation), around=_no_projects)
        yield from shadowed(catalog)
        yield from moved_in_part(catalog, None)

    def _folder(self, root: str) -> Iterator[Finding]:
        tree = CommandTree(root, scripts={})
        # In a Python project, only folders with a command.json are commands.
        if os.path.exists(os.path.join(root, "pyproject.toml")):
            tree = CommandTree(root)
        yield from self.tree(FolderNode(tree))
        yield from self._moved_in(tree)

    def _lock_of(self, installation: OpenInstallation) -> Lock:
        """Return the lock of another installation; nothing of its plugins is run to make one.

        Without a lock that this program can use, the commands that only Python code declares are
        unknown.
        """
        lock = read_lock(installation.locks, installation.key)
        if lock is not None:
            return lock
        self._session.make_packages_importable()
        from host.lock.discovery import query_plugins

        return query_plugins(installation, "none")

    def _moved_in(self, tree: CommandTree) -> Iterator[Finding]:
        """Check the targets of `moved_to` in a tree that is a part of an installation."""
        whole: Catalog | None = None
        with suppress(HostError):  # there need not be an installation here
            whole = self._session.catalog
        part = Catalog(Lock([tree], []), around=_no_projects)
        yield from moved_in_part(part, whole)

    def _installation(self, installation: OpenInstallation) -> Iterator[Finding]:
        """Check cli.json, the commands and the plugins in the folders of an installation."""
        self.count += 1
        for warning in installation.config.warnings:
            yield Finding("definition", warning)

        # Another installation has a settings.conf of its own.
        names = settings_names(installation.layout.settings_file)
        self._known = {**dict.fromkeys(names, ""), **self._known}

        commands = CommandTree(installation.commands_dir, scripts={})
        yield from self.tree(FolderNode(commands))

        try:
            registry = read_registry(installation.plugins_dir)
        except HostError as error:
            yield Finding("plugin", error.problem)
            return
        for problem in registry.problems:
            yield Finding("plugin", problem)
        for plugin in find_directory_plugins(installation.plugins_dir, registry):
            if plugin.problem:
                yield Finding("plugin", plugin.problem)
            elif plugin.entry.enabled:
                yield from self._plugin(plugin)

    def _plugin(self, plugin: PluginVersion) -> Iterator[Finding]:
        """Check a plugin whose plugin.json is valid."""
        if os.path.exists(os.path.join(plugin.root, MANIFEST)):
            self.count += 1
        for problem in misspelt_keys(plugin):
            yield Finding("definition", problem)
        missing = missing_path(plugin)
        if missing is not None:
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
            if node.parent is None and not node.tree.under:
                yield from _reserved(inside)
                for word in RESERVED_WORDS:
                    inside.pop(word, None)

            pending += reversed(inside.values())
            # The other files in the folder of a command are its own.
            if command is not None and not command.is_script:
                continue
            yield from _folder_findings(node)
            if _may_hold_scripts(node):
                yield from left_out(node)

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
            yield from rules.warnings(definition)
            yield from rules.unknown_keys(definition)
            yield from rules.default_command(definition, node)
            yield from rules.written_secrets(definition)
            yield from rules.path_folders(definition)
            yield from rules.output(definition)
            yield from rules.patterns(definition)
            yield from rules.calling_shell(definition)
            yield from rules.unread_variables(definition)
            yield from rules.variables(definition, self._known)

            if definition.entrypoint:
                yield from rules.entrypoint(
                    definition, self._session.environ, self.shell_scripts
                )
                if not definition.gets_library(node.tree.plugin):
                    yield from rules.library_calls(definition.file)
                if read == node.read_command:
                    command = definition

        if command is not None:
            self._take_note(node, command)
        return command

    def _take_note(self, node: FolderNode, command: Definition) -> None:
        """Count what the last lines list: who handles `--help`, descriptions, ignored tags."""
        name = _shown_words(node)

        script = ""
        if not command.in_python:
            script = os.path.join(command.directory, command.entrypoint)
        who = "page"
        if script_gets_help(command, script):
            who = "script"
        self.help.setdefault(who, []).append(name)

        if not command.description:
            self.descriptions["no"].append(name)
        elif command.is_script and rules.is_doubtful(command.description):
            self.descriptions["doubtful"].append(name)

        if command.is_script:
            with suppress(FileNotFoundError):
                tags = {*ScriptComments(command.file).ignored}  # each once in a script
                self.ignored_tags.update(tags)


def _shown_words(node: FolderNode) -> str:
    """Return the words of a node's command, as the user types them."""
    words = node.written.removeprefix(node.tree.path).strip("/")
    if not words:
        words = os.path.basename(node.at)
    return " ".join([*node.tree.under, *words.split("/")])


def _no_projects() -> tuple[list[Project], list[Problem]]:
    return [], []


def _reserved(nodes: Mapping[str, FolderNode]) -> Iterator[Finding]:
    """Yield a hint for each node whose word is reserved, so that no run reaches it."""
    for word in RESERVED_WORDS:
        node = nodes.get(word)
        if node is not None:
            yield Finding("undefined", reserved_problem(word, node), hint=True)


def _may_hold_scripts(node: FolderNode) -> bool:
    """Return whether a script in a folder looks like a command that somebody forgot to define."""
    if node.tree.scripts is not None:
        return True
    # The root of a plugin with command folders is not a category itself.
    if node.parent is None:
        return False
    return node.holds_commands()


def _folder_findings(node: FolderNode) -> Iterator[Finding]:
    """Yield the problems with the folders in a node."""
    for problem in node.problems:
        is_folder = problem.path != node.at
        if is_folder and not _is_meant_for_commands(problem.path):
            yield Finding("undefined", problem, hint=True)
        else:
            yield Finding("definition", problem)


def _is_meant_for_commands(folder: str) -> bool:
    """Return whether a folder has a name or a definition as a category or command has."""
    if is_word(os.path.basename(folder)):
        return True
    for name in _DEFINITIONS:
        if os.path.exists(f"{folder}/{name}"):
            return True
    return False

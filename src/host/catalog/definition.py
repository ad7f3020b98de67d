"""Read category.json and command.json into checked objects (SPEC 2.3, 2.7)."""

import sys

from host.errors import DefinitionError
from host.files.json_file import EFFECTS, Fields, read_json
from host.files.paths import dirname, join
from host.words import WORD_RULE, is_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from host.arguments.click_tree import ClickTree
    from host.arguments.spec import Argument
    from host.catalog.run_keys import Supervision
    from host.errors import Problem
    from host.processes.required_programs import Requirement
    from host.projects.projects import Project
    from host.variables.required import RequiredVariable
    from host.variables.secret_declarations import SecretReference

SYSTEMS = ("linux", "mac")
SUPERVISION_KEYS = frozenset(["record", "timeout", "exclusive"])
SYSTEM_OS = "mac" if sys.platform == "darwin" else "linux"


def is_reference(text: str) -> bool:
    """Return whether `text` is a Python object reference, `package.module:attr`."""
    module, colon, attribute = text.partition(":")
    if not colon:
        return False
    names = [*module.split("."), *attribute.split(".")]
    return all(name.isidentifier() for name in names)


def folder_fault(folder: str) -> str:
    """Return why `folder`, an item of the key `path`, is invalid, or "" if it is valid.

    It must be a path relative to its file, without a colon::

        folder_fault("../bin") == ""
    """
    if not folder:
        return 'must not contain ""; for the folder of this file, use "."'
    if folder.startswith("/"):
        return f"{folder} must be relative to the folder of this file"
    if ":" in folder:
        return f"{folder} contains a colon, which separates the folders in PATH"
    return ""


class Definition:
    """The checked content of a command.json or category.json, with defaults for absent keys.

    name, description      texts for users; "" if a category.json has none
    entrypoint             a file in `directory` or "package.module:attr"; "" for most categories
    file, directory        the definition and its folder; "" if a plugin declares it in code
    os, compatible         the systems that it runs on, or () for all; whether it runs on this one
    sudo, sudo_systems     whether it needs sudo on this system; the systems where it does
    group, aliases, hidden its heading in listings; its other names; whether listings omit it
    envs, env_files        variables and paths of `.env` files, not yet expanded
    path                   folders to append to PATH, relative to `directory`
    path_folders           all folders that a run appends to PATH: see `path_folders`
    roots                  directories of its plugin, project or installation, before links, of
                           which one must contain each folder in `path`
    plugin_path            folders of the plugin to append to PATH, in the directory `plugin_root`
    required_envs          `RequiredVariable`s, including those of the categories above
    requires               `Requirement`s for programs, including those of the categories above
    secrets                a reference for each variable whose value is a secret: see `SecretScheme`
    above                  definitions of the categories above, the outermost first: see `inherit`
    project                the `Project` that provides it, or None
    written                in a project: the path of `file` as it is written, with links to folders
    default                in a category.json: the word of the category's default command
    is_script              whether the definition is in the script that runs
    is_declared            false for a script that only its tags and its prose describe
    allows_assistants      in a project.json: whether assistants may use the commands
    usage                  the lines of the usage in a script's comment
    words                  a text in a script's comment that describes its arguments, or ""
    args                   the declared arguments, `Argument`s
    shown_args             `args`, or the arguments that help and Tab show but no run checks
    click                  the `ClickTree` of a click command that a plugin declares, or None
    text                   paragraphs for the help page
    examples               dicts with "command" and "description", which may be ""
    confirm                the question before a run, or ""
    effects                "read", "change" or "destroy"
    own_effects            the same if the file sets them, else ""
    deprecated             what to use instead of a command that should not be used, or ""
    moved_to               the words of the command that runs in place of this one, or ""
    is_command             whether it runs something: it has an entrypoint or has moved
    help                   "script" or "page" handles `--help`; if "", host.launch.script_help
    decides starts_commands        whether it starts other commands or programs that its caller
    chooses shell                  whether the calling shell evaluates what the command writes for
    it output, schema         "json" if stdout is one JSON value, and a file in `directory` with the
                           JSON Schema of that value; otherwise ""
    reads_sources          false if a Python command gets only its caller's environment
    installed_when         what a `setup` command installs: {"command": NAME}, {"path": PATH} or {}
    extra                  the values of all other keys
    warnings               `Problem`s, such as an unknown key that resembles a known one
    """

    above: "tuple[Definition, ...]" = ()
    roots: tuple[str, ...] = ()
    plugin_root = ""
    plugin_path: "Sequence[str]" = ()
    project: "Project | None" = None
    written = ""
    is_declared = True
    usage = ""
    click: "ClickTree | None" = None
    text = ""

    def __init__(
        self, file: str, fields: Fields, required: bool = True, ours: bool = False
    ) -> None:
        """Read the keys of one file. Raises DefinitionError.

        `required` says whether a name and a description are required. `ours` says whether a
        built-in plugin declares the command: see `host.arguments.declarations`.
        """
        self.file = file
        self._read_names(fields, required)
        self._read_environment(fields)
        self._read_requirements(fields)
        self._read_texts_of_help(fields)
        self._read_effects(fields)
        self._read_output(fields)
        arguments = self._read_arguments(fields, ours)

        # All known keys have been read, so the others are those of the user or misspelt ones.
        self.extra: dict[str, Any] = fields.extra()
        warnings = [*fields.misspelt(_kind_of(file))]
        for argument in arguments:
            warnings += argument.misspelt("command", "argument")
        self.warnings: tuple[Problem, ...] = tuple(warnings)
        if warnings and not self.is_command and _kind_of(file) == "command":
            self._refuse_misspelt_entrypoint()

    def _refuse_misspelt_entrypoint(self) -> None:
        """Raise DefinitionError if nothing would run only because the key is misspelt."""
        from host.suggestions import SURELY, closest

        for problem in self.warnings:
            if closest(problem.key, ("entrypoint", "script"), SURELY):
                raise DefinitionError(problem)

    def _read_names(self, fields: Fields, required: bool) -> None:
        """Read what the command is, and how listings show it."""
        self.name: str = fields.text("name", required=required)
        self.description: str = fields.text("description", required=required)

        self.entrypoint: str = fields.filled("entrypoint") or fields.filled("script")
        fields.known.add("script")  # `or` may have skipped it

        self.os: tuple[str, ...] = fields.texts("os")
        self.sudo_systems: tuple[str, ...] = _sudo_systems(fields)
        self.sudo: bool = SYSTEM_OS in self.sudo_systems

        self.group: str = fields.text("group")
        self.hidden: bool = fields.flag("hidden")
        self.aliases: tuple[str, ...] = fields.texts("aliases")
        for alias in self.aliases:
            if not is_word(alias):
                raise fields.refused("aliases", f'invalid word "{alias}"; {WORD_RULE}')

        self.installed_when: dict[str, str] = _condition(fields)
        self.default: str = ""
        if _kind_of(self.file) == "category":
            self.default = fields.filled("default")

    def _read_environment(self, fields: Fields) -> None:
        """Read what the command gets from its definition: variables, folders, secrets."""
        self.envs: dict[str, str] = fields.variables("envs")
        self.env_files: tuple[str, ...] = fields.texts("env_files")
        self.path: tuple[str, ...] = _folders(fields)
        self.secrets: dict[str, SecretReference] = {}
        if fields.value("secrets") is not None:
            from host.variables.secret_declarations import read_secrets

            self.secrets = read_secrets(fields)

        # Only a command in Python can do without the sources: it reads them with `Program`.
        sources = fields.typed("sources", bool, "true or false")
        self.reads_sources: bool = sources is not False or not self.in_python

    def _read_requirements(self, fields: Fields) -> None:
        """Read what a run needs, and how it is recorded and limited."""
        self.own_required_envs: tuple[RequiredVariable, ...] = ()
        variables = fields.array("required_envs", "an array of names and objects")
        if variables:
            from host.variables.required import read_required

            self.own_required_envs = read_required(fields, variables)

        self.own_requires: tuple[Requirement, ...] = ()
        programs = fields.array("requires", "an array of names and objects")
        if programs:
            from host.processes.required_programs import read_requirements

            self.own_requires = read_requirements(fields, programs)

        self.own_supervisions: tuple[Supervision, ...] = ()
        if not SUPERVISION_KEYS.isdisjoint(fields.values):
            from host.catalog.run_keys import read_supervision

            self.own_supervisions = (read_supervision(fields),)

    def _read_texts_of_help(self, fields: Fields) -> None:
        examples = [_example(example) for example in fields.objects("examples")]
        self.examples: tuple[dict[str, str], ...] = tuple(examples)
        self.help: str = fields.one_of("help", ("script", "page"))
        self.deprecated: str = fields.filled("deprecated")
        self.moved_to: str = _moved_to(fields)

    def _read_effects(self, fields: Fields) -> None:
        """Read what the command may change, and who must agree to that."""
        self.confirm: str = fields.filled("confirm")
        effects = fields.one_of("effects", EFFECTS)
        self.own_effects: str = effects
        if not effects:
            # What root does can destroy anything, so the author must say that it does not.
            effects = "destroy" if self.sudo else "change"
        self.effects: str = effects

        self.starts_commands: bool = fields.flag("starts_commands")
        self.allows_assistants = False
        if _kind_of(self.file) == "project":
            self.allows_assistants = fields.flag("assistants")

    def _read_output(self, fields: Fields) -> None:
        self.shell: bool = fields.flag("shell")
        self.output: str = fields.one_of("output", ("json",))
        self.schema: str = _schema(fields, self.output)

    def _read_arguments(self, fields: Fields, ours: bool) -> "list[Fields]":
        """Read the declared arguments, and return their fields."""
        declared = fields.objects("args")
        self.args: tuple[Argument, ...] = ()
        # The arguments of a header that no run checks: `read_definition` sets them.
        self.unchecked_args: tuple[Argument, ...] = ()
        self.words = ""
        if declared:
            from host.arguments.declarations import read_declarations

            self.args = read_declarations(declared, self.directory, ours=ours)
        return declared

    def inherit(self, above: "tuple[Definition, ...]") -> None:
        """Set `above`, and inherit `group` if it is absent; other defaults are read via `chain`."""
        self.above = above
        for level in reversed(self.chain):
            if level.group:
                self.group = level.group
                return

    @property
    def chain(self) -> "tuple[Definition, ...]":
        """The definitions of the categories above this one, the outermost first, then this one."""
        return (*self.above, self)

    @property
    def path_folders(self) -> tuple[str, ...]:
        """The folders that a run appends to PATH, the nearest first.

        They are not checked, and links in them are not resolved: see host.variables.path_folders.
        """
        folders: list[str] = []
        for level in reversed(self.chain):
            folders += [join(level.directory, folder) for folder in level.path]
        return (*folders, *self.plugin_path)

    @property
    def required_envs(self) -> "tuple[RequiredVariable, ...]":
        """The variables that must be set; those of the categories above come first."""
        if not self.above:
            return self.own_required_envs
        names: list[RequiredVariable] = []
        for level in self.chain:
            names += level.own_required_envs
        return tuple(dict.fromkeys(names))

    @property
    def requires(self) -> "tuple[Requirement, ...]":
        """The required programs; if several definitions require the same one, the nearest wins."""
        if not self.above:
            return self.own_requires
        by_program: dict[str, Requirement] = {}
        for level in self.chain:
            for requirement in level.own_requires:
                by_program[requirement.program] = requirement
        return tuple(by_program.values())

    @property
    def shown_args(self) -> "tuple[Argument, ...]":
        """The arguments for help pages and Tab; a run checks them only if they are in `args`."""
        return self.args or self.unchecked_args

    @property
    def supervisions(self) -> "list[Supervision]":
        """How this definition, and those above it, record and limit runs; the nearest is last."""
        supervisions: list[Supervision] = []
        for level in self.chain:
            supervisions += level.own_supervisions
        return supervisions

    @property
    def supervision(self) -> "Supervision":
        """How the definitions record and limit runs: for each key, what the nearest file says."""
        from host.catalog.run_keys import nearest

        return nearest(self.supervisions)

    @property
    def is_command(self) -> bool:
        """Whether it runs something: it has an entrypoint, or another command in its place."""
        return self.entrypoint != "" or self.moved_to != ""

    @property
    def is_script(self) -> bool:
        """Whether the definition is in the script that runs."""
        return self.file != "" and self.file == join(self.directory, self.entrypoint)

    def gets_library(self, plugin: str) -> bool:
        """Return whether bash loads the shell library into the script.

        `plugin` is the plugin that provides the command, or "". A stranger's script runs as its
        author runs it, because a function of the library would hide a program of the same name.
        """
        is_own = not plugin and self.project is None
        return is_own or self.is_declared

    @property
    def directory(self) -> str:
        """The folder of `file`, or "" if there is none."""
        return dirname(self.file)

    @property
    def in_python(self) -> bool:
        """Whether `entrypoint` is a Python reference and not a file."""
        return is_reference(self.entrypoint)

    @property
    def compatible(self) -> bool:
        """Whether the command runs on this system."""
        return not self.os or SYSTEM_OS in self.os

    @property
    def is_listed(self) -> bool:
        """Whether listings show the command without --all."""
        return self.compatible and not self.hidden


def _kind_of(file: str) -> str:
    """Return which kind of file a definition is in, by the name of its schema."""
    if file.endswith("/category.json"):
        return "category"
    if file.endswith("/project.json"):
        return "project"
    return "command"


def _sudo_systems(fields: Fields) -> tuple[str, ...]:
    """Return the systems where the command needs sudo: the key has them, or is true for all."""
    if type(fields.value("sudo")) is list:
        return fields.texts("sudo")
    is_for_all = fields.flag("sudo", "true, false or an array of system names")
    return SYSTEMS if is_for_all else ()


def _moved_to(fields: Fields) -> str:
    """Return the words in `moved_to`, or "" for none and for a category or project."""
    words = fields.filled("moved_to").split()
    is_set = fields.value("moved_to") is not None
    are_valid = bool(words) and all(map(is_word, words))
    if is_set and not are_valid:
        reason = f"expected the words of a command; {WORD_RULE}"
        raise fields.refused("moved_to", reason)

    if _kind_of(fields.path) != "command":
        return ""
    return " ".join(words)


def _folders(fields: Fields) -> tuple[str, ...]:
    """Return the folders of the key `path`."""
    folders = fields.texts("path")
    for folder in folders:
        if fault := folder_fault(folder):
            raise fields.refused("path", fault)
    return folders


def _schema(fields: Fields, output: str) -> str:
    """Return the file with the JSON Schema of the output, or ""."""
    schema = fields.filled("schema")
    if schema and not output:
        raise fields.refused("schema", 'needs "output": "json"')
    return schema


def _condition(fields: Fields) -> dict[str, str]:
    """Return what must exist for listings to show a `setup` command as installed, or {}."""
    if fields.value("installed_when") is None:
        return {}

    inner = fields.inner("installed_when")
    condition = {}
    for key in ("command", "path"):
        if inner.value(key) is not None:
            condition[key] = inner.text(key)
    if len(condition) != 1:
        reason = 'expected {"command": NAME} or {"path": PATH}'
        raise fields.refused("installed_when", reason)
    return condition


def _example(fields: Fields) -> dict[str, str]:
    return {
        "command": fields.text("command", True),
        "description": fields.text("description"),
    }


def read_definition(path: str) -> Definition:
    """Return the checked definition in a command.json, a category.json or a script's comment.

    Only a command.json must have a name and a description. Raises DefinitionError if the definition
    is invalid, and FileNotFoundError if the file is missing.
    """
    is_command = path.endswith("/command.json")
    if is_command or path.endswith("/category.json"):
        return Definition(path, Fields(path, read_json(path)), required=is_command)
    return _read_script(path)


def _read_script(path: str) -> Definition:
    """Return the definition in the comments of a script: tags, and a block of JSON."""
    from host.headers.script_comments import ScriptComments

    script = ScriptComments(path)
    try:
        values = script.values()
    except DefinitionError as error:
        raise DefinitionError(script.with_position(error.problem)) from None

    unchecked: list[dict[str, Any]] = []
    if not script.is_checked:
        unchecked = values.pop("args", [])
    try:
        definition = Definition(path, Fields(path, values), required=False)
    except DefinitionError as error:
        if unchecked or not script.has_arguments:
            raise DefinitionError(script.with_position(error.problem)) from None
        # The dialect allows arguments that ours does not, such as an optional one before a
        # required one.
        unchecked = values.pop("args")
        definition = Definition(path, Fields(path, values), required=False)

    if unchecked:
        from host.arguments.declarations import unchecked_arguments

        definition.unchecked_args = unchecked_arguments(unchecked)
    definition.is_declared = script.has_block
    definition.usage = script.usage
    definition.words = script.words
    definition.warnings = tuple(map(script.with_position, definition.warnings))
    return definition

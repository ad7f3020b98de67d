"""Read category.json and command.json into checked objects (SPEC 2.3, 2.7)."""

import sys

from host.errors import CannotStartError, DefinitionError, Problem
from host.run.files import dirname, join, why_outside
from host.run.json_file import EFFECTS, Fields, read_json
from host.run.words import WORD_RULE, is_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Self

    from host.run.argument_spec import Argument
    from host.run.projects import Project
    from host.run.required_variables import RequiredVariable
    from host.run.requirements import Requirement
    from host.run.supervision import Supervision

SYSTEMS = ("linux", "mac")
SUPERVISION_KEYS = frozenset(["record", "timeout", "exclusive"])
SYSTEM_OS = "mac" if sys.platform == "darwin" else "linux"


def is_reference(text: str) -> bool:
    """Return whether `text` is a Python object reference, `package.module:attr`."""
    module, colon, attribute = text.partition(":")
    parts = f"{module}.{attribute}".split(".")
    return bool(colon) and all(part.isidentifier() for part in parts)


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
    path_roots             directories, of which one must contain each folder in `path`
    plugin_path            folders of the plugin to append to PATH, in the directory `plugin_root`
    required_envs          `RequiredVariable`s, including those of the categories above
    requires               `Requirement`s for programs, including those of the categories above
    secrets                a reference for each variable whose value is a secret: see `SecretScheme`
    above                  definitions of the categories above, the outermost first: see `inherit`
    project                the `Project` that provides it, or None
    written                in a project: the path of `file` as it is written, with links to folders
    default                in a category.json: the word of the category's default command
    is_script              whether the definition is in the script that runs
    allows_assistants      in a project.json: whether assistants may use the commands
    usage                  the lines of the usage in a script's comment
    words                  a text in a script's comment that describes its arguments, or ""
    args                   the declared arguments, `Argument`s
    shown_args             `args`, or the arguments that help and Tab show but no run checks
    known_args             `args`, or the parameters of a click command, which click checks
    parser, subcommand     "click" if a plugin declares a click command; the words of a subcommand
    options_first          whether the first argument of a click command ends its options
    text                   paragraphs for the help page
    examples               dicts with "command" and "description", which may be ""
    confirm                the question before a run, or ""
    effects, destroys      "read", "change" or "destroy"; whether the file sets "destroy"
    deprecated             what to use instead of a command that should not be used, or ""
    moved_to               the words of the command that runs in place of this one, or ""
    is_command             whether it runs something: it has an entrypoint or has moved
    help                   "script" or "page" handles `--help`; if "", host.run.script_help decides
    starts_commands        whether it starts other commands or programs that its caller chooses
    shell                  whether the calling shell evaluates what the command writes for it
    output, schema         "json" if stdout is one JSON value, and a file in `directory` with the
                           JSON Schema of that value; otherwise ""
    reads_sources          false if a Python command gets only its caller's environment
    installed_when         what a `setup` command installs: {"command": NAME}, {"path": PATH} or {}
    extra                  the values of all other keys
    warnings               `Problem`s, such as an unknown key that resembles a known one
    """

    above: "tuple[Definition, ...]" = ()
    path_roots: tuple[str, ...] = ()
    plugin_root = ""
    plugin_path: "Sequence[str]" = ()
    project: "Project | None" = None
    written = ""
    usage = ""
    parser = ""
    options_first = False
    subcommand: tuple[str, ...] = ()
    text = ""

    def __init__(  # noqa: PLR0915 - one statement for each key
        self, file: str, fields: Fields, required: bool = True, ours: bool = False
    ) -> None:
        self.file = file
        self.name: str = fields.text("name", required=required)
        self.description: str = fields.text("description", required=required)
        self.entrypoint: str = fields.filled("entrypoint") or fields.filled("script")
        fields.known.add("script")
        self.os: tuple[str, ...] = fields.texts("os")
        self.sudo_systems: tuple[str, ...] = _sudo_systems(fields)
        self.sudo: bool = SYSTEM_OS in self.sudo_systems
        self.group: str = fields.text("group")
        self.envs: dict[str, str] = fields.variables("envs")
        self.env_files: tuple[str, ...] = fields.texts("env_files")
        self.path: tuple[str, ...] = _folders(fields)
        self.aliases: tuple[str, ...] = fields.texts("aliases")
        for alias in self.aliases:
            if not is_word(alias):
                raise fields.refused("aliases", f'invalid word "{alias}"; {WORD_RULE}')
        self.hidden: bool = fields.flag("hidden")
        self.own_required_envs: tuple[RequiredVariable, ...] = ()
        if items := fields.array("required_envs", "an array of names and objects"):
            from host.run.required_variables import read_required

            self.own_required_envs = read_required(fields, items)
        self.own_requires: tuple[Requirement, ...] = ()
        if items := fields.array("requires", "an array of names and objects"):
            from host.run.requirements import read_requirements

            self.own_requires = read_requirements(fields, items)
        self.secrets: dict[str, SecretReference] = _secrets(fields)
        self.examples: tuple[dict[str, str], ...] = tuple(
            map(_example, fields.objects("examples"))
        )
        self.confirm: str = fields.filled("confirm")
        effects = fields.one_of("effects", EFFECTS)
        self.destroys: bool = effects == "destroy"
        self.effects: str = effects or ("destroy" if self.sudo else "change")
        self.help: str = fields.one_of("help", ("script", "page"))
        self.deprecated: str = fields.filled("deprecated")
        self.moved_to: str = _moved_to(fields)
        self.starts_commands: bool = fields.flag("starts_commands")
        self.shell: bool = fields.flag("shell")
        self.output: str = fields.one_of("output", ("json",))
        self.schema: str = _schema(fields, self.output)
        sources = fields.typed("sources", bool, "true or false")
        self.reads_sources: bool = sources is not False or not self.in_python
        self.installed_when: dict[str, str] = _condition(fields)
        self.allows_assistants = file.endswith("/project.json") and fields.flag(
            "assistants"
        )
        self.own_supervisions: tuple[Supervision, ...] = ()
        if not SUPERVISION_KEYS.isdisjoint(fields.values):
            from host.run.supervision import read_supervision

            self.own_supervisions = (read_supervision(fields),)
        self.default: str = (
            fields.filled("default") if file.endswith("/category.json") else ""
        )
        declared = fields.objects("args")
        self.args: tuple[Argument, ...] = ()
        self.unchecked_args: tuple[Argument, ...] = ()
        self.words = ""
        if declared:
            from host.run.argument_declarations import read_declarations

            self.args = read_declarations(declared, self.directory, ours=ours)
        self.extra: dict[str, Any] = fields.extra()
        warnings = [*fields.misspelt(_kind_of(file))]
        for argument in declared:
            warnings += argument.misspelt("argument")
        self.warnings: tuple[Problem, ...] = tuple(warnings)

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

        They are not checked, and links in them are not resolved: see host.run.path_folders.
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
        return tuple([argument for argument in self.all_args if not argument.hidden])

    @property
    def all_args(self) -> "tuple[Argument, ...]":
        """All arguments, checked or not, hidden or not."""
        return self.args or self.unchecked_args

    @property
    def known_args(self) -> "tuple[Argument, ...]":
        """The arguments that a caller can rely on: `args`, or those that click parses."""
        return self.all_args if self.parser else self.args

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
        from host.run.supervision import nearest

        return nearest(self.supervisions)

    @property
    def is_command(self) -> bool:
        """Whether it runs something: it has an entrypoint, or another command in its place."""
        return self.entrypoint != "" or self.moved_to != ""

    @property
    def is_script(self) -> bool:
        """Whether the definition is in the script that runs."""
        return self.file != "" and self.file == join(self.directory, self.entrypoint)

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
    """Return which kind of file a definition is in, as `host.keys` names it."""
    if file.endswith("/category.json"):
        return "category"
    return "project" if file.endswith("/project.json") else "command"


def _sudo_systems(fields: Fields) -> tuple[str, ...]:
    if type(fields.value("sudo")) is list:
        return fields.texts("sudo")
    return (
        SYSTEMS
        if fields.flag("sudo", "true, false or an array of system names")
        else ()
    )


def _moved_to(fields: Fields) -> str:
    """Return the words in `moved_to`, or "" for none and for a category or project."""
    words = fields.filled("moved_to").split()
    if fields.value("moved_to") is not None and not (
        words and all(map(is_word, words))
    ):
        raise fields.refused(
            "moved_to", f"expected the words of a command; {WORD_RULE}"
        )
    return " ".join(words) if _kind_of(fields.path) == "command" else ""


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
    if fields.value("installed_when") is None:
        return {}
    inner = fields.inner("installed_when")
    condition = {}
    for key in ("command", "path"):
        if inner.value(key) is not None:
            condition[key] = inner.text(key)
    if len(condition) != 1:
        raise fields.refused(
            "installed_when", 'expected {"command": NAME} or {"path": PATH}'
        )
    return condition


def _example(fields: Fields) -> dict[str, str]:
    return {
        "command": fields.text("command", True),
        "description": fields.text("description"),
    }


class SecretReference(str):
    """A reference in `secrets`; with `optional`, a run goes on if it cannot be resolved."""

    __slots__ = ("optional",)

    optional: bool

    def __new__(cls, text: str, optional: bool = False) -> "Self":
        made = super().__new__(cls, text)
        made.optional = optional
        return made


def _secrets(fields: Fields) -> dict[str, SecretReference]:
    """Return the references in `secrets` by variable; each must have a scheme."""
    references: dict[str, SecretReference] = {}
    items = fields.typed("secrets", dict, "an object of references") or {}
    for name, item in items.items():
        key = f"secrets.{name}"
        fields.check_variable("secrets", name)
        if item is None:
            continue
        optional = False
        if isinstance(item, dict):
            inner = Fields(fields.path, item, key)
            text = inner.filled("reference", required=True)
            optional = inner.flag("optional")
        elif isinstance(item, str):
            text = fields.clean(key, item)
        else:
            raise fields.wrong(key, "a reference or an object", item)
        scheme, colon, rest = text.partition(":")
        if not (colon and rest and is_word(scheme)):
            expected = 'expected a reference, such as "run:pass show deploy"'
            raise fields.refused(key, expected)
        references[name] = SecretReference(text, optional)
    return references


def read_definition(path: str) -> Definition:
    """Return the checked definition in a command.json, a category.json or a script's comment.

    Only a command.json must have a name and a description. Raises DefinitionError if the definition
    is invalid, and FileNotFoundError if the file is missing.
    """
    if not path.endswith(("/command.json", "/category.json")):
        return _read_script(path)
    return Definition(
        path, Fields(path, read_json(path)), path.endswith("/command.json")
    )


def _read_script(path: str) -> Definition:
    from host.run.script_definition import ScriptComments

    script = ScriptComments(path)
    unchecked: list[dict[str, Any]] = []
    try:
        values = script.values()
        if not script.is_checked:
            unchecked = values.pop("args", [])
        definition = Definition(path, Fields(path, values), required=False)
    except DefinitionError as error:
        if unchecked or not script.has_arguments:
            raise DefinitionError(script.with_position(error.problem)) from None
        # The dialect allows arguments that ours does not, such as an optional one before a
        # required one.
        unchecked = values.pop("args")
        definition = Definition(path, Fields(path, values), required=False)
    if unchecked:
        from host.run.argument_declarations import unchecked_arguments

        definition.unchecked_args = unchecked_arguments(unchecked)
    definition.usage = script.usage
    definition.words = script.words
    definition.warnings = tuple(map(script.with_position, definition.warnings))
    return definition


def check_runnable(words: "Sequence[str]", definition: Definition) -> str:
    """Return the path of a command's entrypoint, or "" for a Python reference.

    Raises CannotStartError if the command does not run on this system, and DefinitionError if the
    entrypoint is outside the command's folder.
    """
    if not definition.compatible:
        from host.run.suggestions import unknown_names

        what = f"runs on {' and '.join(definition.os)} only; this is {SYSTEM_OS}"
        unknown = unknown_names(definition.file, "os", definition.os, SYSTEMS)
        raise CannotStartError(
            Problem(" ".join(words), what, "; ".join(map(str, unknown)))
        )
    if definition.in_python:
        return ""
    if definition.is_script:
        return definition.file
    if outside := why_outside(definition.directory, definition.entrypoint):
        raise DefinitionError(Problem(definition.file, outside, key="entrypoint"))
    return join(definition.directory, definition.entrypoint)

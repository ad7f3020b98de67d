"""Read cli.json, category.json and command.json into checked objects (SPEC 2.1, 2.3, 2.7)."""

import sys

from host.errors import CannotStartError, DefinitionError, InstallationError, Problem
from host.run import EFFECTS, dirname, is_file, join, why_outside
from host.run.expand import is_name
from host.run.json_file import NO_VARIABLE, Fields, read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Self

    from host.run.argument_spec import Argument
    from host.run.projects import Project
    from host.run.requirements import Requirement

USUAL_COMMANDS_DIR = "commands"
SYSTEMS = ("linux", "mac")
HELP = ("script", "page")
VARIABLE_TYPES = ("url", "port", "integer", "path", "email")
SYSTEM_OS = "mac" if sys.platform == "darwin" else "linux"

_WORD_START = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_WORD = _WORD_START | frozenset("._-")
_WORD_LENGTH = 64
_LONGEST_NAME = 70  # characters of a name in an error


def is_word(text: str) -> bool:
    """Return whether `text` can be a word: `[A-Za-z0-9][A-Za-z0-9._-]*`, at most 64 characters."""
    return text[:1] in _WORD_START and _WORD.issuperset(text) and len(text) <= _WORD_LENGTH


def is_reference(text: str) -> bool:
    """Return whether `text` is a Python object reference, `package.module:attr`."""
    module, colon, attribute = text.partition(":")
    return bool(colon) and all(
        part.isidentifier() for part in (*module.split("."), *attribute.split("."))
    )


class Config:
    """The content of cli.json: name, description, version, min_version and directories.

    `follow` and `catalogues` come from "team". `warnings` are `Problem`s of unknown keys that
    resemble a known one.
    """

    def __init__(self, fields: Fields) -> None:
        self.name: str = fields.filled("name", required=True)
        self.version: str = fields.filled("version", required=True)
        self.description: str = fields.text("description")
        self.min_version: str = fields.filled("min_version")  # checked when a lock is made
        self.commands_dir: str = fields.text("commands_dir") or USUAL_COMMANDS_DIR
        self.plugins_dir: str = fields.text("plugins_dir") or "plugins"
        self.projects: bool = fields.flag("projects") or fields.value("projects") is None
        self.follow = ""
        self.catalogues: tuple[str, ...] = ()
        warnings: tuple[Problem, ...] = ()
        if fields.value("team") is not None:
            team = fields.inner("team")
            self.follow = team.one_of("follow", ("notice", "never"))
            self.catalogues = team.texts("catalogue")
            warnings = team.misspelt()
        self.warnings = (*fields.misspelt(), *warnings)


class RequiredVariable(str):
    """The name of a required variable, with the properties from the definition.

    hint      what to do if it is not set, or ""
    type      "url", "port", "integer", "path", "email", or "" for any text
    secret    whether its value is never shown
    """

    __slots__ = ("hint", "secret", "type")

    hint: str
    type: str
    secret: bool

    def __new__(cls, name: str, hint: str = "", kind: str = "", secret: bool = False) -> "Self":
        made = super().__new__(cls, name)
        made.hint, made.type, made.secret = hint, kind, secret
        return made

    def row(self) -> "list[Any]":
        """Return the arguments of the constructor."""
        return [str(self), self.hint, self.type, self.secret]

    def fault(self, value: str | None) -> str:
        """Return what is wrong with a value, such as "must be set", "" if it is valid."""
        if value and not self.type:
            return ""
        from host.run.required_variables import fault

        return fault(self, value)


class Definition:
    """The checked content of a command.json or category.json, with defaults for absent keys.

    name, description      texts for people; in a category.json they may be ""
    entrypoint             a file in `directory` or "package.module:attr"; "" for a category
    file, directory        the definition and its folder; "" if a plugin declares it in code
    os, compatible         the systems that it runs on, () for all; whether this is one
    sudo, sudo_systems     whether it needs sudo on this system; the systems where it does
    group, aliases, hidden its heading in listings, its other words, whether it is not listed
    envs, env_files        variables and paths of `.env` files, not yet expanded
    required_envs          `RequiredVariable`s, including those of the categories above
    requires               `Requirement`s for programs, likewise
    secrets                references to the values of variables, by name: see `SecretScheme`
    above                  definitions of the categories above, the outermost first: see `inherit`
    project                the `Project` that provides it, None for none
    default                in a category.json: the word of the category's default command
    is_script              whether the definition is in the script that runs
    allows_assistants      in a project.json: whether assistants may use the commands
    usage                  the usage line in a script's comment
    args                   the declared arguments, `Argument`s
    examples               dicts with "command" and, optionally, "description"
    confirm                the question before a run, "" for none
    effects, destroys      "read", "change" or "destroy"; whether the file itself has "destroy"
    help                   "script" or "page" for `--help`; "" lets host.run.script_help decide
    starts_commands        whether it starts other commands or programs that its caller chooses
    sources                false if a Python command starts with its caller's environment
    installed_when         {"command": NAME}, {"path": PATH} or {}
    extra                  the values of all other keys
    warnings               `Problem`s, such as an unknown key that resembles a known one
    """

    above: "tuple[Definition, ...]" = ()
    project: "Project | None" = None
    usage = ""
    allows_assistants = False

    def __init__(
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
        self.aliases: tuple[str, ...] = fields.texts("aliases")
        for alias in self.aliases:
            if not is_word(alias):
                fault = "is not a word; use letters, digits and ._- (64 at most)"
                raise fields.refused("aliases", f'"{alias[:_LONGEST_NAME]}" {fault}')
        self.hidden: bool = fields.flag("hidden")
        self.own_required_envs: tuple[RequiredVariable, ...] = _required_envs(fields)
        needs = fields.array("requires", "an array of names and objects")
        self.own_requires: tuple[Requirement, ...] = _requirements(fields, needs) if needs else ()
        self.secrets: dict[str, str] = _secrets(fields)
        self.examples: tuple[dict[str, Any], ...] = tuple(
            [_example(one) for one in fields.objects("examples")]
        )
        self.confirm: str = fields.filled("confirm")
        effects = fields.one_of("effects", EFFECTS)
        self.destroys: bool = effects == "destroy"
        self.effects: str = effects or ("destroy" if self.sudo else "change")
        self.help: str = fields.one_of("help", HELP)
        self.starts_commands: bool = fields.flag("starts_commands")
        self.sources: bool = self._takes_sources(fields)
        self.installed_when: dict[str, str] = _condition(fields)
        self.default: str = fields.filled("default") if file.endswith("/category.json") else ""
        declared = fields.objects("args")
        self.args: tuple[Argument, ...] = self._arguments(declared, ours) if declared else ()
        self.extra: dict[str, Any] = fields.extra()
        warnings = [problem for one in (fields, *declared) for problem in one.misspelt()]
        if type(fields.value("sudo")) is list:
            warnings += _foreign(fields.path, "sudo", fields.texts("sudo"))
        is_for_others = file.endswith(("/category.json", "/project.json"))
        if self.secrets and is_for_others and not self.entrypoint:
            text = "has no effect here, unlike env_files; only the definition of a command counts"
            warnings.append(Problem(fields.path, text, key="secrets"))
        self.warnings: tuple[Problem, ...] = tuple(warnings)

    def _takes_sources(self, fields: Fields) -> bool:
        """Return the key `sources`, which only Python commands have; true by default."""
        if not self.in_python or fields.value("sources") is None:
            return True
        takes = fields.flag("sources")
        if not takes and (self.envs or self.env_files or self.secrets):
            raise fields.refused("sources", "must be true beside envs, env_files or secrets")
        return takes

    def _arguments(self, declared: list[Fields], ours: bool) -> "tuple[Argument, ...]":
        from host.run.argument_declarations import read_declarations

        return read_declarations(declared, self.directory, ours=ours)

    def inherit(self, above: "tuple[Definition, ...]") -> None:
        """Apply the defaults of the categories `above`; the nearest wins for each name.

        `envs` and `env_files` are not merged, because a run reads them definition by definition.
        """
        self.above = above
        for one in reversed(above):
            self.group = self.group or one.group

    @property
    def required_envs(self) -> "tuple[RequiredVariable, ...]":
        """The variables that must be set, those of categories above first."""
        chain = (*self.above, self)
        return tuple(dict.fromkeys([name for one in chain for name in one.own_required_envs]))

    @property
    def requires(self) -> "tuple[Requirement, ...]":
        """The required programs; the nearest definition of each wins."""
        needs = {need.program: need for one in (*self.above, self) for need in one.own_requires}
        return tuple(needs.values())

    @property
    def is_script(self) -> bool:
        """Whether the definition is in the script that runs."""
        return self.file != "" and self.file == join(self.directory, self.entrypoint)

    @property
    def directory(self) -> str:
        """The folder of `file`, "" if there is none."""
        return dirname(self.file)

    @property
    def in_python(self) -> bool:
        """Whether `entrypoint` is a Python reference and not a file."""
        return is_reference(self.entrypoint)

    @property
    def has_entrypoint(self) -> bool:
        """Whether the entrypoint's file exists in `directory`; true for a Python reference."""
        if self.in_python:
            return True
        directory, entrypoint = self.directory, self.entrypoint
        is_inside = is_file(join(directory, entrypoint)) and not why_outside(directory, entrypoint)
        return self.is_script or is_inside

    @property
    def compatible(self) -> bool:
        """Whether the command runs on this system."""
        return not self.os or SYSTEM_OS in self.os

    @property
    def is_listed(self) -> bool:
        """Whether listings show it without --all."""
        return self.compatible and not self.hidden

    def foreign_systems(self) -> list[Problem]:
        """Return the problem of unknown systems in `os`, [] if there are none."""
        return _foreign(self.file or "its definition", "os", self.os)


def _sudo_systems(fields: Fields) -> tuple[str, ...]:
    if type(fields.value("sudo")) is list:
        return fields.texts("sudo")
    return SYSTEMS if fields.flag("sudo", "true, false or an array of system names") else ()


def _condition(fields: Fields) -> dict[str, str]:
    if fields.value("installed_when") is None:
        return {}
    inner = fields.inner("installed_when")
    keys = [key for key in ("command", "path") if inner.value(key) is not None]
    found = {key: inner.text(key) for key in keys}
    if len(found) != 1:
        raise fields.refused("installed_when", 'expected {"command": NAME} or {"path": PATH}')
    return found


def _example(fields: Fields) -> dict[str, str]:
    found = {"command": fields.text("command", required=True)}
    if fields.value("description") is not None:
        found["description"] = fields.text("description")
    return found


def _required_envs(fields: Fields) -> tuple[RequiredVariable, ...]:
    """Return the variables in `required_envs`; an entry is a name or an object."""
    entries = fields.array("required_envs", "an array of names and objects")
    found = []
    for index, entry in enumerate(entries):
        key = f"required_envs[{index}]"
        if type(entry) is str:
            name = RequiredVariable(entry)
        else:
            inner = Fields(fields.path, entry, key)
            name = RequiredVariable(
                inner.filled("name", required=True),
                inner.text("hint"),
                inner.one_of("type", VARIABLE_TYPES),
                inner.flag("secret"),
            )
        if not is_name(name):
            raise fields.refused("required_envs", f'"{name[:_LONGEST_NAME]}" {NO_VARIABLE}')
        found.append(name)
    return tuple(found)


def _requirements(fields: Fields, needs: "list[Any]") -> "tuple[Requirement, ...]":
    from host.run.requirements import read_requirements

    return read_requirements(fields, needs)


def _secrets(fields: Fields) -> dict[str, str]:
    """Return the references in `secrets` by variable; each must have a scheme."""
    if fields.value("secrets") is None:
        return {}
    found = fields.variables("secrets")
    for name, text in found.items():
        scheme, colon, rest = text.partition(":")
        if not (colon and rest and is_word(scheme)):
            expected = 'expected a reference, such as "run:pass show deploy"'
            raise fields.refused(f"secrets.{name}", expected)
    return found


def _foreign(path: str, key: str, names: "Sequence[str]") -> list[Problem]:
    foreign = [name for name in names if name not in SYSTEMS]
    if not foreign:
        return []
    from host.run.suggestions import closest_system

    near = {ours for ours in map(closest_system, foreign) if ours}
    hint = f"did you mean {' and '.join(sorted(near))}?" if near else ""
    return [Problem(path, f"only {' and '.join(SYSTEMS)} count", hint, key)]


def read_config(path: str, remedy: str = "") -> Config:
    """Return the checked cli.json; raises InstallationError, with `remedy` if it is missing."""
    try:
        return Config(Fields(path, read_json(path)))
    except FileNotFoundError:
        raise InstallationError(f"configuration file not found: {path}", remedy) from None
    except DefinitionError as error:
        raise InstallationError(error.problem) from None


def read_definition(path: str) -> Definition:
    """Return the checked definition in a command.json, a category.json or a script's comment.

    In the latter two, name and description are optional. Raises DefinitionError if the definition
    is invalid, FileNotFoundError if there is no file.
    """
    if not path.endswith(("/command.json", "/category.json")):
        return _read_script(path)
    required = not path.endswith("/category.json")
    return Definition(path, Fields(path, read_json(path)), required)


def _read_script(path: str) -> Definition:
    from host.run.script_definition import ScriptComments

    script = ScriptComments(path)
    try:
        definition = Definition(path, Fields(path, script.values), required=False)
    except DefinitionError as error:
        raise DefinitionError(script.placed(error.problem)) from None
    definition.usage = script.usage
    definition.warnings = tuple([script.placed(one) for one in definition.warnings])
    return definition


def parse_declared(owner: str, fields: "Mapping[str, Any]", *, ours: bool = False) -> Definition:
    """Return the definition that the plugin `owner` declares in code; raises DefinitionError.

    A command's `entrypoint` is a Python reference; a category has none. Arguments of built-in
    plugins (`ours`) may have a reference as `complete`: see host.cli.completion.
    """
    definition = Definition("", Fields(owner, fields), ours=ours)
    if "entrypoint" in fields and not definition.in_python:
        expected = 'expected a reference "package.module:attr"'
        raise DefinitionError(Problem(owner, expected, key="entrypoint"))
    return definition


def check_runnable(words: "Sequence[str]", definition: Definition) -> str:
    """Return the path of a command's entrypoint, "" for a Python reference.

    Raises CannotStartError if the command does not run on this system, and DefinitionError if the
    entrypoint is outside the command's folder.
    """
    if not definition.compatible:
        what = f"runs on {' and '.join(definition.os)} only; this is {SYSTEM_OS}"
        foreign = definition.foreign_systems()
        raise CannotStartError("; ".join(map(str, (Problem(" ".join(words), what), *foreign))))
    if definition.in_python:
        return ""
    if definition.is_script:
        return definition.file
    file = join(definition.directory, definition.entrypoint)
    outside = why_outside(definition.directory, definition.entrypoint)
    if outside:
        raise DefinitionError(Problem(definition.file, outside, key="entrypoint"))
    return file

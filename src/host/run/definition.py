"""The text of cli.json, category.json and command.json → checked objects (SPEC 2.1, 2.3, 2.7)."""

import os
import sys

from host.errors import DefinitionError, InstallationError
from host.run.expand import is_name
from host.run.json_files import Number, read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

USUAL_COMMANDS_DIR = "commands"
SYSTEMS = ("linux", "mac")
SYSTEM_OS = "mac" if sys.platform == "darwin" else "linux"

_MOST_UNKNOWN = 100  # unknown keys that are compared with ours
_WORD_START = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_WORD = _WORD_START | frozenset("._-")
_WORD_LENGTH = 64


def is_word(text: str) -> bool:
    """Tell whether `text` can name a category or a command: `[A-Za-z0-9][A-Za-z0-9._-]*`, ≤ 64."""
    return text[:1] in _WORD_START and _WORD.issuperset(text) and len(text) <= _WORD_LENGTH


def is_reference(text: str) -> bool:
    """Tell whether `text` is a Python object reference, `package.module:attr`."""
    module, colon, attribute = text.partition(":")
    return bool(colon) and all(
        part.isidentifier() for part in (*module.split("."), *attribute.split("."))
    )


class Config:
    """What cli.json says: name, description, version, commands_dir, plugins_dir.

    `warnings` are lines about keys that look like misspelt ones of these.
    """

    __slots__ = ("commands_dir", "description", "name", "plugins_dir", "version", "warnings")

    def __init__(self, fields: "_Fields") -> None:
        self.name: str = fields.filled("name", required=True)
        self.version: str = fields.filled("version", required=True)
        self.description: str = fields.text("description")
        self.commands_dir: str = fields.text("commands_dir") or USUAL_COMMANDS_DIR
        self.plugins_dir: str = fields.text("plugins_dir") or "plugins"
        self.warnings: tuple[str, ...] = fields.misspelt()


class Definition:
    """What a command.json or category.json says; `entrypoint` is "" for a category.

    `file` is the definition's path ("" for one that a plugin declares), `sudo` true
    on this system's terms, `envs` values already text, `os` empty for every system.
    `extra` are the keys that are none of ours, `warnings` lines about those of them that
    look like misspelt ones.
    """

    __slots__ = (
        "aliases",
        "args",
        "description",
        "entrypoint",
        "env_files",
        "envs",
        "examples",
        "extra",
        "file",
        "group",
        "hidden",
        "installed_when",
        "name",
        "os",
        "required_envs",
        "sudo",
        "warnings",
    )

    def __init__(self, file: str, fields: "_Fields", required: bool = True) -> None:
        self.file = file
        self.name: str = fields.text("name", required=required)
        self.description: str = fields.text("description", required=required)
        self.entrypoint: str = fields.filled("entrypoint") or fields.filled("script")
        fields.known.add("script")
        self.os: tuple[str, ...] = fields.texts("os")
        self.sudo: bool = fields.flag_or_systems("sudo")
        self.group: str = fields.text("group")
        self.envs: dict[str, str] = fields.variables("envs")
        self.env_files: tuple[str, ...] = fields.texts("env_files")
        self.aliases: tuple[str, ...] = fields.texts("aliases")
        self.hidden: bool = fields.flag("hidden")
        self.required_envs: tuple[str, ...] = fields.texts("required_envs")
        self.examples: tuple[dict[str, Any], ...] = fields.records(
            "examples", {"command": True, "description": False}
        )
        self.args: tuple[dict[str, Any], ...] = fields.records(
            "args", {"name": True, "description": False}
        )
        self.installed_when: dict[str, str] = fields.condition("installed_when")
        self.extra: dict[str, Any] = fields.extra()
        self.warnings: tuple[str, ...] = fields.misspelt()

    @property
    def directory(self) -> str:
        return os.path.dirname(self.file)

    @property
    def compatible(self) -> bool:
        return not self.os or SYSTEM_OS in self.os

    def foreign_systems(self) -> str:
        """Say which of the names in `os` are none that count, "" when all of them do."""
        foreign = [name for name in self.os if name not in SYSTEMS]
        if not foreign:
            return ""
        from host.run.misspelt import meant_system

        near = {ours for ours in map(meant_system, foreign) if ours}
        hint = f"; did you mean {' and '.join(sorted(near))}?" if near else ""
        return f'; {self.file or "its definition"}: "os": only {" and ".join(SYSTEMS)} count{hint}'


def read_config(path: str) -> Config:
    """Return the checked cli.json at `path`; raises InstallationError."""
    try:
        return Config(_Fields(path, read_json(path)))
    except FileNotFoundError:
        raise InstallationError(f"configuration file not found: {path}") from None
    except DefinitionError as error:
        raise InstallationError(str(error)) from None


def read_command(path: str) -> Definition:
    """Return the checked command.json at `path`.

    Raises DefinitionError for a bad one, FileNotFoundError where there is none.
    """
    return Definition(path, _Fields(path, read_json(path)))


def read_category(path: str) -> Definition:
    """Return the checked category.json at `path`; name and description may be missing.

    Raises DefinitionError for a bad one, FileNotFoundError where there is none.
    """
    return Definition(path, _Fields(path, read_json(path)), required=False)


def parse_declared(owner: str, fields: "Mapping[str, Any]") -> Definition:
    """Return the definition that plugin `owner` declares in code; raises DefinitionError."""
    definition = Definition("", _Fields(owner, fields))
    if not is_reference(definition.entrypoint):
        raise DefinitionError(f'{owner}: "entrypoint": expected a reference "package.module:attr"')
    return definition


class _Fields:
    """Typed access to the keys of one JSON object; each method raises DefinitionError.

    A key that is null counts as absent. `known` are the keys that were asked for.
    """

    __slots__ = ("known", "path", "values")

    def __init__(self, path: str, values: "Any") -> None:
        self.path = path
        if not isinstance(values, dict):
            raise DefinitionError(f"{path}: expected an object, found {_kind(values)}")
        self.values = values
        self.known: set[str] = set()

    def value(self, key: str) -> "Any":
        """Return what stands under `key`, None where it is absent or null."""
        self.known.add(key)
        return self.values.get(key)

    def extra(self) -> "dict[str, Any]":
        """Return what stands under keys that nobody asked for."""
        if self.values.keys() <= self.known:
            return {}
        return {key: value for key, value in self.values.items() if key not in self.known}

    def misspelt(self) -> tuple[str, ...]:
        """Return a line for each key that looks like a misspelt one of those asked for."""
        foreign = [key for key in self.extra() if not key.startswith(("x-", "_", "$"))]
        if not foreign:
            return ()
        from host.run.misspelt import meant

        missing = sorted(self.known - self.values.keys())
        likely = [(key, meant(key, missing)) for key in foreign[:_MOST_UNKNOWN]]
        return tuple(
            f'{self.path}: unknown key "{key}"; did you mean "{ours}"?'
            for key, ours in likely
            if ours
        )

    def wrong(self, key: str, expected: str, value: "Any") -> DefinitionError:
        return DefinitionError(f'{self.path}: "{key}": expected {expected}, found {_kind(value)}')

    def text(self, key: str, required: bool = False) -> str:
        value = self.value(key)
        if value is None and required and key not in self.values:
            raise DefinitionError(f'{self.path}: "{key}" is missing; expected a string')
        if value is None and not required:
            return ""
        if type(value) is not str:
            raise self.wrong(key, "a string", value)
        return self.clean(key, value)

    def filled(self, key: str, required: bool = False) -> str:
        """Return a text that may be absent but not empty."""
        value = self.text(key, required)
        if not value and self.values.get(key) is not None:
            raise DefinitionError(
                f'{self.path}: "{key}": expected some text, found an empty string'
            )
        return value

    def clean(self, key: str, value: str) -> str:
        """Refuse what no file name or variable can hold."""
        try:
            if b"\0" not in value.encode():
                return value
        except UnicodeEncodeError:  # half a character, as an escape
            pass
        raise DefinitionError(f'{self.path}: "{key}": holds a character that is not allowed')

    def flag(self, key: str, expected: str = "true or false") -> bool:
        value = self.value(key)
        if value is not None and value is not True and value is not False:
            raise self.wrong(key, expected, value)
        return value is True

    def flag_or_systems(self, key: str) -> bool:
        if isinstance(self.value(key), list):
            return SYSTEM_OS in self.texts(key)
        return self.flag(key, "true, false or an array of system names")

    def texts(self, key: str) -> tuple[str, ...]:
        items = self.array(key, "an array of strings")
        for item in items:
            if type(item) is not str:
                raise DefinitionError(
                    f'{self.path}: "{key}": expected an array of strings, found {_kind(item)} in it'
                )
        return tuple([self.clean(key, item) for item in items])

    def array(self, key: str, expected: str) -> "list[Any]":
        value = self.value(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.wrong(key, expected, value)
        return value

    def variables(self, key: str) -> dict[str, str]:
        value = self.value(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.wrong(key, "an object of strings", value)
        found: dict[str, str] = {}
        for name, item in value.items():
            if not is_name(name):
                raise DefinitionError(
                    f'{self.path}: "{key}": "{name}" cannot name a variable; '
                    "use letters, digits and _"
                )
            if item is True or item is False:
                found[name] = "true" if item else "false"
            elif isinstance(item, str):
                found[name] = self.clean(f"{key}.{name}", str(item))
            elif item is not None:
                raise self.wrong(f"{key}.{name}", "a string, number or boolean", item)
        return found

    def records(self, key: str, members: dict[str, bool]) -> "tuple[dict[str, Any], ...]":
        """Return an array of objects; `members` are their string keys, true when required."""
        items = self.array(key, "an array of objects")
        for index, item in enumerate(items):
            inner = _Fields(f'{self.path}: "{key}[{index}]"', item)
            for member, required in members.items():
                inner.text(member, required)
        return tuple(items)

    def condition(self, key: str) -> dict[str, str]:
        value = self.value(key)
        if value is None:
            return {}
        members = ("command", "path")
        if not isinstance(value, dict) or sum(value.get(one) is not None for one in members) != 1:
            raise self.wrong(key, '{"command": NAME} or {"path": PATH}', value)
        inner = _Fields(f'{self.path}: "{key}"', value)
        return {one: inner.text(one) for one in members if value.get(one) is not None}


def _kind(value: "Any") -> str:
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, Number):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an array" if isinstance(value, list) else "an object"

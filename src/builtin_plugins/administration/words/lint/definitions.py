"""What is wrong with one command.json or category.json."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from builtin_plugins.administration.words.lint.finding import Finding, JsonFile
from host import Argument, Definition, HostError, Problem, expand, is_secret
from host.cli.variables import settings_names
from host.run.dotenv import read_env_file
from host.run.environment import FRAMEWORK_NAMES

_KEYS_INSIDE: dict[str, Collection[str]] = {
    "args": Argument.fields,
    "examples": ("command", "description"),
    "installed_when": ("command", "path"),
}
_INSIDE = re.compile(rf"({'|'.join(_KEYS_INSIDE)})(?:\[\d+\])?\.([^.\[]+)")
_OWN_MARKS = ("x-", "_", "$")
_FROM_SYSTEM = ("HOME", "USER", "PWD", "HOSTNAME")
_WITH_DEFAULT = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*):?[-=+]")


def usual_names(environ: Collection[str], settings_file: str) -> frozenset[str]:
    """Return the names that any command can refer to: the caller's, ours, settings.conf's."""
    return frozenset([*environ, *_FROM_SYSTEM, *FRAMEWORK_NAMES, *settings_names(settings_file)])


def definition_findings(
    file: JsonFile, definition: Definition, usual: frozenset[str], environ: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield what is wrong with what the reader takes; `usual` names are defined anyway."""
    yield from map(file.finding, definition.warnings)
    yield from _unknown_keys(file, definition)
    yield from map(file.finding, definition.foreign_systems())
    for name, value in definition.envs.items():
        if is_secret(name) and value and "$" not in value:
            yield file.at(
                f"envs.{name}",
                f"{name} looks like a secret, written where everybody reads it; keep it in "
                "the environment or a file of env_files, and name it in required_envs",
                "secret",
            )
    yield from _references(file, definition, usual, environ)


def _unknown_keys(file: JsonFile, definition: Definition) -> Iterator[Finding]:
    """Yield the keys that nothing reads; the reader reports misspelt ones."""
    reported = {one.key for one in definition.warnings}
    keys = {key: key for key in definition.extra}
    for path in file.offsets:
        inside = _INSIDE.fullmatch(path)
        if inside and inside[2] not in _KEYS_INSIDE[inside[1]]:
            keys[path] = inside[2]
    for path, key in keys.items():
        if not key.startswith(_OWN_MARKS) and path not in reported:
            problem = Problem(file.path, "unknown key", "begin it with x- if it is your own", path)
            yield file.finding(problem)


def _references(
    file: JsonFile, definition: Definition, usual: frozenset[str], environ: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield each reference that nothing defines, and what is wrong in files of `env_files`.

    If such a file is not here, or cannot be read, any name may be defined.
    """
    known = {*usual, *definition.required_envs, *(one.variable for one in definition.args)}
    for above in definition.above:
        known |= above.envs.keys()
        for entry in above.env_files:
            names, _ = _file_names(above.directory, entry, environ)
            if names is None:
                return
            known |= names
    for index, entry in enumerate(definition.env_files):
        key = f"env_files[{index}]"
        yield from _undefined(file, key, entry, known)
        names, problems = _file_names(definition.directory, entry, environ)
        for problem in problems:
            yield file.at(key, problem.what, "env-file", problem.remedy)
        if names is None:
            return
        known |= names
    for variable, value in definition.envs.items():
        yield from _undefined(file, f"envs.{variable}", value, known)
        known.add(variable)


def _undefined(file: JsonFile, key: str, text: str, known: Collection[str]) -> Iterator[Finding]:
    """Yield the names that `text` refers to without saying what stands for an unset one."""
    found: dict[str, None] = {}

    def note(name: str) -> str | None:
        found[name] = None
        return None

    expand(text, note)
    optional = set(_WITH_DEFAULT.findall(text))
    for name in found:
        if name not in known and name not in optional:
            yield file.at(
                key,
                f"nothing defines ${name}; name it in required_envs, or write ${{{name}:-}} "
                "where it may be unset",
                "reference",
            )


def _file_names(
    directory: str, entry: str, environ: Mapping[str, str]
) -> tuple[set[str] | None, list[Problem]]:
    """Return the names in a file of `env_files`, None if it cannot be read here; its problems."""
    path = expand(entry, environ.get)
    if not path:
        return set(), []
    problems: list[Problem] = []
    try:
        entries = read_env_file(os.path.join(directory, path), problems.append)
    except HostError as error:
        return None, [error.problem]
    return None if entries is None else {one.name for one in entries}, problems


def alias_findings(
    words: Collection[str], commands: Sequence[tuple[JsonFile, Definition]]
) -> Iterator[Finding]:
    """Yield the aliases in one category that never count, as something else goes before.

    `words` are those of its directories, `commands` its commands in the order of their words.
    """
    taken: dict[str, str] = {}
    for file, definition in commands:
        for index, alias in enumerate(definition.aliases):
            owner = "the word" if alias in words else taken.setdefault(alias, file.path)
            if owner != file.path:
                what = f"{alias} is taken by {owner}, which goes before"
                key = f"aliases[{index}]"
                yield file.finding(Problem(file.path, what, "take another", key), "alias")

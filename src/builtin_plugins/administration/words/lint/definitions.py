"""The rules for one command.json or category.json, each a function."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from builtin_plugins.administration.pages import Finding
from builtin_plugins.administration.words.lint.places import keys_of
from host import Argument, Definition, HostError, Problem, declared_secrets, expand, is_secret
from host.cli.variables import settings_names
from host.run.dotenv import parse_env, read_env_text
from host.run.environment import BUILT_IN_SCHEMES, FRAMEWORK_NAMES

_KEYS_INSIDE: dict[str, Collection[str]] = {
    "args": {*Argument.__annotations__} - {"choices_from"},
    "required_envs": ("name", "hint", "type", "secret"),
    "requires": ("program", "version", "hint"),
    "examples": ("command", "description"),
    "installed_when": ("command", "path"),
}
_INSIDE = re.compile(rf"({'|'.join(_KEYS_INSIDE)})(?:\[\d+\])?\.([^.\[]+)")
_OWN_MARKS = ("x-", "_", "$")
_FROM_SYSTEM = ("HOME", "USER", "PWD", "HOSTNAME")
_WITH_DEFAULT = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*):?[-=+]")


class Subject(NamedTuple):
    """A definition that was read; `usual` are the names that any command can refer to."""

    file: str
    definition: Definition
    usual: frozenset[str]
    environ: Mapping[str, str]

    def finding(self, rule: str, key: str, text: str, remedy: str = "") -> Finding:
        return Finding(rule, Problem(self.file, text, remedy, key))


def usual_names(environ: Collection[str], settings_file: str) -> frozenset[str]:
    """Return the names that any command can refer to: the caller's, ours, settings.conf's."""
    return frozenset([*environ, *_FROM_SYSTEM, *FRAMEWORK_NAMES, *settings_names(settings_file)])


def what_the_reader_warns_of(one: Subject) -> Iterator[Finding]:
    for problem in (*one.definition.warnings, *one.definition.foreign_systems()):
        yield Finding("definition", problem)


def unknown_keys(one: Subject) -> Iterator[Finding]:
    """Yield the keys that nothing reads; the reader reports misspelt ones."""
    reported = {problem.key for problem in one.definition.warnings}
    keys = {key: key for key in one.definition.extra}
    for path in keys_of(one.file)[1]:
        inside = _INSIDE.fullmatch(path)
        if inside and inside[2] not in _KEYS_INSIDE[inside[1]]:
            keys[path] = inside[2]
    for path, key in keys.items():
        if not key.startswith(_OWN_MARKS) and path not in reported:
            remedy = "begin it with x- if it is your own"
            yield one.finding("definition", path, "unknown key", remedy)


def written_secrets(one: Subject) -> Iterator[Finding]:
    secrets = declared_secrets(one.definition, one.definition.envs)
    for name, value in one.definition.envs.items():
        if (name in secrets or is_secret(name)) and value and "$" not in value:
            yield one.finding(
                "secret",
                f"envs.{name}",
                "looks like a secret, and everybody can read it here",
                "write a reference to it under secrets, or keep it in the environment",
            )


def undefined_references(one: Subject) -> Iterator[Finding]:
    """Yield each reference that nothing defines, and what is wrong in files of `env_files`.

    If such a file is not here, or cannot be read, any name may be defined.
    """
    definition = one.definition
    known = {*one.usual, *definition.required_envs, *(arg.variable for arg in definition.args)}
    for above in definition.above:
        known |= above.envs.keys()
        for entry in above.env_files:
            names, _ = _file_names(above.directory, entry, one.environ)
            if names is None:
                return
            known |= names
    for index, entry in enumerate(definition.env_files):
        key = f"env_files[{index}]"
        if entry.partition(":")[0] in BUILT_IN_SCHEMES:
            return  # only a run reads it
        yield from _undefined(one, key, entry, known)
        names, problems = _file_names(definition.directory, entry, one.environ)
        for problem in problems:
            yield one.finding("env-file", key, problem.what, problem.remedy)
        if names is None:
            return
        known |= names
    for variable, value in definition.envs.items():
        yield from _undefined(one, f"envs.{variable}", value, known)
        known.add(variable)


def _file_names(
    directory: str, entry: str, environ: Mapping[str, str]
) -> tuple[set[str] | None, list[Problem]]:
    """Return the names in a file of `env_files`, None if it cannot be read here; its problems."""
    path = expand(entry, environ.get)
    if not path:
        return set(), []
    path = os.path.join(directory, path)
    problems: list[Problem] = []
    try:
        text = read_env_text(path)
        entries = None if text is None else parse_env(path, text, problems.append)
    except HostError as error:
        return None, [error.problem]
    return None if entries is None else {one.name for one in entries}, problems


def _undefined(one: Subject, key: str, text: str, known: Collection[str]) -> Iterator[Finding]:
    """Yield the unknown names that `text` refers to without a default for an unset one."""
    names: dict[str, None] = {}
    expand(text, names.setdefault)
    for name in names.keys() & one.definition.secrets.keys():
        text = f"${name} is a secret, which is resolved last; it is empty here"
        yield one.finding("secret", key, text, "let the command itself combine them")
    known = {*known, *one.definition.secrets}
    for name in names.keys() - {*known, *_WITH_DEFAULT.findall(text)}:
        remedy = f"name it in required_envs, or write ${{{name}:-}} where it may be unset"
        yield one.finding("reference", key, f"nothing defines ${name}", remedy)


def misplaced_references(one: Subject) -> Iterator[Finding]:
    """Yield the values of `envs` that look like a reference to a secret, or encrypted."""
    schemes = {text.partition(":")[0] for text in one.definition.secrets.values()}
    for name, value in one.definition.envs.items():
        scheme, colon, _ = value.partition(":")
        looks = "encrypted" if scheme == "encrypted" else "like a reference to a secret"
        if colon and scheme in {*schemes, *BUILT_IN_SCHEMES, "encrypted"}:
            text = f"{name} looks {looks}, and nothing resolves it here"
            yield one.finding("secret", f"envs.{name}", text, 'references belong in "secrets"')


RULES = (
    misplaced_references,
    what_the_reader_warns_of,
    unknown_keys,
    written_secrets,
    undefined_references,
)


def taken_aliases(words: Collection[str], commands: Iterable[Subject]) -> Iterator[Finding]:
    """Yield the aliases in one category that never count, as something else goes before.

    `words` are those of its directories, `commands` its commands in the order of their words.
    """
    taken: dict[str, str] = {}
    for one in commands:
        for index, alias in enumerate(one.definition.aliases):
            owner = "the word" if alias in words else taken.setdefault(alias, one.file)
            if owner != one.file:
                text = f"{alias} is taken by {owner}, which goes before"
                yield one.finding("alias", f"aliases[{index}]", text, "take another")

"""References to variables in a definition, and what defines the names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping

from builtin_plugins.self_commands.lint.finding import Finding
from host import Definition, HostError
from host.cli.variables import settings_names
from host.run.env_file import read_env_file
from host.run.expand import expand
from host.run.installation import FRAMEWORK_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from builtin_plugins.self_commands.lint.definitions import Linted

_FROM_SYSTEM = ("HOME", "USER", "PWD", "HOSTNAME")
_WITH_DEFAULT = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*):?[-=+]")


def usual_names(environ: Collection[str], settings_file: str) -> frozenset[str]:
    """Return the names that any command can refer to: the caller's, ours, settings.conf's."""
    return frozenset([*environ, *_FROM_SYSTEM, *FRAMEWORK_NAMES, *settings_names(settings_file)])


def reference_findings(
    linted: Linted, definition: Definition, usual: frozenset[str], environ: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield each reference that nothing defines, and what is wrong in files of `env_files`.

    Where such a file is not here, or cannot be told, any name may be defined.
    """
    known = {*usual, *definition.required_envs}
    known.update(one.variable for one in definition.args)
    for index, entry in enumerate(definition.env_files):
        for name in _undefined(entry, known):
            yield _finding(linted, ("env_files", index), name)
        problems: list[str] = []
        names = _file_names(definition.directory, entry, environ, problems.append)
        for text in problems:
            key = ("env_files", index)
            yield linted.at(key, text, "env-file")
        if names is None:
            return
        known |= names
    for variable, value in definition.envs.items():
        for name in _undefined(value, known):
            yield _finding(linted, ("envs", variable), name)
        known.add(variable)


def _finding(linted: Linted, key: tuple[str, str | int], name: str) -> Finding:
    text = (
        f"nothing defines ${name}; name it in required_envs, or write ${{{name}:-}} where it "
        "may be unset"
    )
    return linted.at(key, text, "reference")


def _undefined(text: str, known: Collection[str]) -> list[str]:
    """Return the names that `text` refers to without saying what stands for an unset one."""
    found: dict[str, None] = {}

    def note(name: str) -> str | None:
        found[name] = None
        return None

    expand(text, note)
    optional = set(_WITH_DEFAULT.findall(text))
    return [name for name in found if name not in known and name not in optional]


def _file_names(
    directory: str, entry: str, environ: Mapping[str, str], tell: Callable[[str], None]
) -> set[str] | None:
    """Return the names in a file of `env_files`, None where it cannot be read here.

    `tell` gets a line for each that is wrong in it.
    """
    path = expand(entry, environ.get)
    if not path:
        return set()
    try:
        entries = read_env_file(os.path.join(directory, path), tell)
    except HostError as error:
        tell(error.what)
        return None
    return None if entries is None else {one.name for one in entries}

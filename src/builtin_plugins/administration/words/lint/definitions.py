"""The rules for one command.json, category.json or script's comment, each a function."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping

from builtin_plugins.administration.pages import Finding
from builtin_plugins.administration.words.lint.places import keys_of
from host import Argument, Definition, HostError, Problem, declared_secrets, expand, is_secret
from host.run import from_system
from host.run.environment import ENV_FILES, ENVS, Layers, SourceReader
from host.run.lock import Source
from host.run.secret_references import is_reference
from host.run.text import Messages

_KEYS_INSIDE: dict[str, Collection[str]] = {
    "args": {*Argument.__annotations__} - {"choices_from"},
    "required_envs": ("name", "hint", "type", "secret"),
    "requires": ("program", "version", "hint"),
    "examples": ("command", "description"),
    "installed_when": ("command", "path"),
}
_INSIDE = re.compile(rf"({'|'.join(_KEYS_INSIDE)})(?:\[\d+\])?\.([^.\[]+)")
_OWN_MARKS = ("x-", "_", "$")
_WITH_DEFAULT = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*):?[-=+]")
_SOURCES = (Source("env_files", ENV_FILES, "env_files"), Source("envs", ENVS, "envs"))


def unknown_keys(definition: Definition) -> Iterator[Finding]:
    """Yield the keys that nothing reads; the reader reports misspelt ones."""
    reported = {problem.key for problem in definition.warnings}
    keys = {key: key for key in definition.extra}
    for path in keys_of(definition.file)[1]:
        inside = _INSIDE.fullmatch(path)
        if inside and inside[2] not in _KEYS_INSIDE[inside[1]]:
            keys[path] = inside[2]
    for path, key in keys.items():
        if not key.startswith(_OWN_MARKS) and path not in reported:
            remedy = "begin it with x- if it is your own"
            yield Finding("definition", Problem(definition.file, "unknown key", remedy, path))


def written_secrets(definition: Definition) -> Iterator[Finding]:
    secrets = declared_secrets(definition, definition.envs)
    for name, value in definition.envs.items():
        if (name in secrets or is_secret(name)) and value and "$" not in value:
            text = "looks like a secret, and everybody can read it here"
            remedy = "write a reference to it under secrets, or keep it in the environment"
            yield Finding("secret", Problem(definition.file, text, remedy, f"envs.{name}"))


def variables(definition: Definition, known: Mapping[str, str]) -> Iterator[Finding]:
    """Yield what is wrong with `env_files` and `envs`; names that are `known` are set elsewhere."""
    needed = (*definition.required_envs, *(one.variable for one in definition.args))
    layers = Layers({**dict.fromkeys(needed, ""), **known}, {})
    schemes = [(text.partition(":")[0],) for text in definition.secrets.values()]
    collector = _Collector()
    reader = _VariableReader((), definition, layers, collector, schemes)
    entries = [(entry, one) for one in reader.chain for entry in one.env_files if ":" in entry]
    layers.missing += [entry for entry, one in entries if is_reference(entry, reader, one)]
    try:
        for source in _SOURCES:
            reader.read(source)
    except HostError as error:
        collector.warn(error.problem)
    yield from (Finding("variables", one) for one in collector.problems)


class _Collector(Messages):
    """Keeps warnings instead of printing them."""

    def __init__(self) -> None:
        super().__init__("", {})
        self.problems: list[Problem] = []

    def warn(self, problem: str | Problem) -> None:
        self.problems.append(Problem("", problem) if isinstance(problem, str) else problem)


class _VariableReader(SourceReader):
    """Reads variables as a run does, and warns of references to names that nothing defines.

    If a file of `env_files` is missing, or only a run can read it, it may define any name.
    """

    def expanded(
        self,
        text: str,
        path: str,
        key: str,
        line: int = 0,
        on_warning: Callable[[Problem], None] | None = None,
    ) -> str:
        names: dict[str, None] = {}
        expand(text, names.setdefault)
        in_env_file = line > 0
        optional = {*_WITH_DEFAULT.findall(text), *self.definition.secrets}
        for name in names if not (in_env_file or self.layers.missing) else ():
            if name not in optional and self.layers.get(name) is None and from_system(name) is None:
                remedy = f"name it in required_envs, or write ${{{name}:-}} where it may be unset"
                self.messages.warn(Problem(path, f"nothing defines ${name}", remedy, key))
        return super().expanded(text, path, key, line, on_warning)

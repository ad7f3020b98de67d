"""The rules for one command.json, category.json or script's comment, each a function."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from builtin_plugins.administration.pages import Finding
from host import Definition, HostError, Problem, declared_secrets, expand, is_secret
from host.run.environment import ENV_FILES, ENVS, Layers, SourceReader
from host.run.lock import Source

_OWN_MARKS = ("x-", "_", "$")
_WITH_DEFAULT = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*):?[-=+]")
_SOURCES = (Source("env_files", ENV_FILES, "env_files"), Source("envs", ENVS, "envs"))


def unknown_keys(definition: Definition) -> Iterator[Finding]:
    """Yield the keys that nothing reads; the reader reports misspelt ones."""
    reported = {problem.key for problem in definition.warnings}
    for key in definition.extra:
        if not key.startswith(_OWN_MARKS) and key not in reported:
            remedy = "begin it with x- if it is your own"
            yield Finding("definition", Problem(definition.file, "unknown key", remedy, key))


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
    problems: list[Problem] = []
    messages: Any = SimpleNamespace(program="", warn=problems.append, debug=lambda _: None)
    reader = _VariableReader((), definition, layers, messages, schemes)
    try:
        for source in _SOURCES:
            reader.read(source)
    except HostError as error:
        problems.append(error.problem)
    yield from (Finding("variables", one) for one in problems)


class _VariableReader(SourceReader):
    """Reads variables as a run does, and warns of references to names that nothing defines.

    If a file of `env_files` is missing, or only a run can read it, it may define any name.
    """

    def referenced_file(self, source: Source, written: str, definition: Definition) -> None:
        del source, definition
        self.layers.missing.append(written)

    def expanded(
        self,
        text: str,
        path: str,
        key: str,
        on_warning: Callable[[Problem], None] | None = None,
        line: int = 0,
    ) -> str:
        names: dict[str, None] = {}
        expand(text, names.setdefault)
        in_env_file = line > 0
        optional = {*_WITH_DEFAULT.findall(text), *self.definition.secrets}
        for name in names if not (in_env_file or self.layers.missing) else ():
            if name not in optional and self.lookup(name) is None:
                remedy = f"name it in required_envs, or write ${{{name}:-}} where it may be unset"
                self.messages.warn(Problem(path, f"nothing defines ${name}", remedy, key))
        return super().expanded(text, path, key, on_warning, line)

"""A record of a plugin → what the lock holds of it; a wrong one raises TypeError or ValueError."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

from host.records import (
    CategoryDeclaration,
    CommandDeclaration,
    CommandTree,
    EnvSource,
    SecretScheme,
)
from host.run.catalog import RESERVED
from host.run.command import is_reference, is_word
from host.run.environment import BUILT_IN_SCHEMES, ENV_FILES, ENVS, RANKS
from host.run.lock import Declared, Plugin, Source, Tree


def tree_of(plugin: Plugin, record: CommandTree) -> Tree:
    owner = record.plugin or ("" if plugin.ours else plugin.name)
    path = absolute_path(record.path, "a CommandTree's path")
    scripts = record.scripts
    if scripts is not None:
        scripts = {key: _text(scripts[key], f"scripts: {key}") for key in dict(scripts)}
    return Tree(path, _text(owner, "plugin"), record.dev is True, scripts)


def declared_of(plugin: Plugin, record: Any) -> Declared:
    fields: dict[str, Any] = {}
    if isinstance(record, CategoryDeclaration):
        fields = {"name": record.name, "description": record.description}
    elif isinstance(record, CommandDeclaration):
        fields = {"entrypoint": None, **record.definition}
    else:
        raise TypeError(f"expected a CommandTree, Command- or CategoryDeclaration, not {record!r}")
    words = _words(record.words)
    if not words:
        raise ValueError("a command or category needs words")
    if words[0] == RESERVED and not plugin.ours:
        raise ValueError(f"{words!r}: {RESERVED} is reserved")
    runs = isinstance(record, CommandDeclaration)
    declared = Declared(words, json.dumps(fields).encode(), plugin.name, plugin.ours, runs)
    declared.definition  # noqa: B018 - asking for it checks it
    return declared


def source_of(plugin: Plugin, record: Any) -> Source:
    if not isinstance(record, EnvSource):
        raise TypeError(f"expected an EnvSource, not {record!r}")
    name = _text(record.name, "an EnvSource's name")
    reader = "python" if record.provider else record.reader
    rank = RANKS.get(reader, record.rank) if plugin.ours else record.rank
    if rank is None or type(rank) not in (int, float) or not ENVS <= rank <= ENV_FILES:
        raise ValueError(f"{name}: rank must be from {ENVS} to {ENV_FILES}, not {rank!r}")
    if reader not in ("dotenv", "python") and not plugin.ours:
        raise ValueError(f"{name}: reader must be dotenv, not {reader!r}")
    if record.provider and not is_reference(_text(record.provider, f"{name}: provider")):
        raise ValueError(f"{name}: provider must be a reference module:attr")
    files = [
        absolute_path(one, f"{name}: a file") for one in _several(record.files, f"{name}: files")
    ]
    words = _words(record.words)
    return Source(name, rank, reader, files, record.provider, words, plugin.name)


def scheme_of(plugin: Plugin, record: Any) -> tuple[str, str, str]:
    """Return scheme, provider and plugin."""
    if not isinstance(record, SecretScheme):
        raise TypeError(f"expected a SecretScheme, not {record!r}")
    scheme = _text(record.scheme, "a SecretScheme's scheme")
    plain = scheme.replace("-", "").replace("+", "")
    if not (plain.isascii() and plain.isalnum() and plain.islower() and scheme[0].isalpha()):
        raise ValueError(f"{scheme!r:.80}: a scheme is lower-case letters, digits, - and +")
    if scheme in (*BUILT_IN_SCHEMES, "encrypted"):
        raise ValueError(f"{scheme}: this scheme is built in")
    if not is_reference(_text(record.provider, f"{scheme}: provider")):
        raise ValueError(f"{scheme}: provider must be a reference module:attr")
    return scheme, record.provider, plugin.name


def _text(value: Any, what: str) -> str:
    """Return `value`, a str that a file name could be; raises TypeError or ValueError."""
    if type(value) is not str:
        raise TypeError(f"{what}: expected a str, not {value!r:.80}")
    if "\0" in value:
        raise ValueError(f"{what}: holds a NUL")
    os.fsencode(value)
    return value


def absolute_path(value: Any, what: str) -> str:
    if not _text(value, what).startswith("/"):
        raise ValueError(f"{what}: expected an absolute path, not {value!r:.80}")
    return str(value)


def _several(value: Any, what: str) -> Iterable[Any]:
    if not isinstance(value, list | tuple):
        raise TypeError(f"{what}: expected a tuple, not {value!r:.80}")
    return value


def _words(value: Any) -> tuple[str, ...]:
    found = tuple(_text(word, "a word") for word in _several(value, "words"))
    if not all(map(is_word, found)):
        raise ValueError(f"words cannot be {found!r:.80}")
    return found

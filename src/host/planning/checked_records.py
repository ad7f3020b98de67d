"""Check a plugin's records and convert them for the lock. Raises TypeError or ValueError."""

import json
import os
from collections.abc import Callable, Sequence
from typing import Any

from host import records
from host.run.catalog import SELF
from host.run.definition import is_reference
from host.run.layers import BUILT_IN_SCHEMES, ENV_FILES, ENVS, RANKS
from host.run.lock import AfterCall, Declared, Plugin, Source, Tree
from host.run.record import Record
from host.run.words import is_word

# The scheme, its provider, its plugin, the provider for `env_files` or "", the plugin's folders.
Scheme = tuple[str, str, str, str, Sequence[str]]
Checked = Tree | Declared | Source | AfterCall | Scheme


def check_texts(record: Record) -> None:
    """Check that each text, alone or in a tuple, is a string that can be encoded and has no NUL."""
    for name, kind in type(record).__annotations__.items():
        value = getattr(record, name)
        several = kind.startswith("tuple[str")
        if several and not isinstance(value, list | tuple):
            raise TypeError(f"{name}: expected a tuple, not {value!r:.80}")
        for text in value if several else (value,) if kind == "str" else ():
            if type(text) is not str:
                raise TypeError(f"{name}: expected a str, not {text!r:.80}")
            if "\0" in text:
                raise ValueError(f"{name}: contains a NUL")
            os.fsencode(text)


def _tree(plugin: Plugin, record: records.CommandTree) -> Tree:
    owner = record.plugin or ("" if plugin.ours else plugin.name)
    scripts = None if record.scripts is None else {**record.scripts}
    if not all(isinstance(one, str) for one in (scripts or {}).values()):
        raise TypeError(f"scripts: expected strings, not {scripts!r:.80}")
    under = _placed(plugin, record.under)
    root = absolute_path(record.root or record.path)
    folders = tuple([absolute_path(folder) for folder in record.path_folders])
    path = absolute_path(record.path)
    return Tree(path, owner, record.dev is True or plugin.is_linked, scripts, under, root, folders)


def _declared(
    plugin: Plugin, record: records.CommandDeclaration | records.CategoryDeclaration
) -> Declared:
    words, runs = record.words, isinstance(record, records.CommandDeclaration)
    if isinstance(record, records.CommandDeclaration):
        fields = {"entrypoint": None, **record.definition}
    else:
        fields = {"name": record.name, "description": record.description}
    if not words:
        raise ValueError("the words of a command or category must not be empty")
    if words[0] == SELF and not plugin.ours:
        raise ValueError(f"{words!r}: the word {SELF} is reserved")
    placed = _placed(plugin, words)
    declared = Declared(placed, json.dumps(fields).encode(), plugin.name, plugin.ours, runs)
    declared.definition  # noqa: B018 - the access checks it
    return declared


def _source(plugin: Plugin, record: records.EnvSource) -> Source:
    name, rank = record.name, record.rank
    reader = "python" if record.provider else record.reader
    if plugin.ours:
        rank = RANKS.get(reader, rank)
    if not isinstance(rank, int | float) or not ENVS <= rank <= ENV_FILES:
        raise ValueError(f"{name}: rank must be from {ENVS} to {ENV_FILES}, not {rank!r}")
    if reader not in ("dotenv", "python") and not plugin.ours:
        raise ValueError(f"{name}: reader must be dotenv, not {reader!r}")
    if record.provider:
        _check_provider(name, record.provider)
    files = [absolute_path(one) for one in record.files]
    words = _placed(plugin, record.words)
    return Source(name, rank, reader, files, record.provider, words, plugin.name, plugin.folders)


def _scheme(plugin: Plugin, record: records.SecretScheme) -> Scheme:
    """Return the row of a scheme in the lock."""
    scheme = record.scheme
    plain = scheme.replace("-", "").replace("+", "")
    if not (plain.isascii() and plain.isalnum() and plain.islower() and scheme[0].isalpha()):
        raise ValueError(f"{scheme!r:.80}: use lower-case letters, digits, - and + in a scheme")
    if scheme in (*BUILT_IN_SCHEMES, "encrypted"):
        raise ValueError(f"{scheme}: this scheme is built in")
    _check_provider(scheme, record.provider)
    if record.file_provider:
        _check_provider(scheme, record.file_provider)
    return scheme, record.provider, plugin.name, record.file_provider, plugin.folders


def _after_call(plugin: Plugin, record: records.AfterRun) -> AfterCall:
    if not is_reference(record.function):
        raise ValueError(f'{record.name}: function must have the form "module:attr"')
    words = _placed(plugin, record.words)
    return AfterCall(record.name, record.function, words, plugin.name, plugin.folders)


def _check_provider(name: str, provider: str) -> None:
    if not is_reference(provider):
        raise ValueError(f'{name}: provider must have the form "module:attr"')


def absolute_path(path: str) -> str:
    if not path.startswith("/"):
        raise ValueError(f"expected an absolute path, not {path!r:.80}")
    return path


def _placed(plugin: Plugin, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the checked `words` below the category that the user chose for the plugin."""
    if not all(map(is_word, words)):
        raise ValueError(f"invalid words: {words!r:.80}")
    return (*plugin.under, *words)


# The check of each kind of record that the lock contains.
CHECKED: dict[type[Record], Callable[[Plugin, Any], Checked]] = {
    records.CommandTree: _tree,
    records.CommandDeclaration: _declared,
    records.CategoryDeclaration: _declared,
    records.EnvSource: _source,
    records.SecretScheme: _scheme,
    records.AfterRun: _after_call,
}

"""Check a plugin's records and convert them for the lock. Raises TypeError or ValueError."""

import json
import os
import re
from collections.abc import Callable, Sequence
from typing import Any

from host import records
from host.catalog.declared_commands import Declared
from host.catalog.definition import is_reference
from host.lock.plugin import Plugin
from host.plugin_functions import AfterRun, BeforeRun, SecretScheme
from host.record_base import CommandTree, EnvSource, Record
from host.variables.layers import BUILT_IN_SCHEMES, ENV_FILES, ENVS, RANKS
from host.words import SELF, is_word

_SCHEME = re.compile(r"[a-z][a-z0-9+-]*")

Checked = CommandTree | Declared | EnvSource | SecretScheme | BeforeRun | AfterRun


def check_texts(record: Record) -> None:
    """Check that each text, alone or in a tuple, is a string that can be encoded and has no NUL."""
    for name, annotation in type(record).__annotations__.items():
        value = getattr(record, name)
        texts: Sequence[Any] = ()
        # A module may have its annotations as strings.
        if annotation in (str, "str"):
            texts = (value,)
        elif str(annotation).startswith(("tuple[str", "Sequence[str")):
            if not isinstance(value, list | tuple):
                raise TypeError(f"{name}: expected a tuple, not {value!r:.80}")
            texts = value

        for text in texts:
            if type(text) is not str:
                raise TypeError(f"{name}: expected a str, not {text!r:.80}")
            if "\0" in text:
                raise ValueError(f"{name}: contains a NUL")
            os.fsencode(text)


def _tree(plugin: Plugin, tree: CommandTree) -> CommandTree:
    scripts: dict[str, Any] | None = None
    if tree.scripts is not None:
        scripts = dict(tree.scripts)
        for text in scripts.values():
            if not isinstance(text, str):
                raise TypeError(f"scripts: expected strings, not {scripts!r:.80}")

    # A tree of a built-in plugin belongs to the folder that it names, or to the installation.
    owner = tree.plugin
    if not owner and not plugin.ours:
        owner = plugin.name

    root = tree.root or tree.path
    folders = map(absolute_path, tree.path_folders)
    return CommandTree(
        path=absolute_path(tree.path),
        plugin=owner,
        dev=tree.dev is True or plugin.is_linked,
        scripts=scripts,
        under=_placed(plugin, tree.under),
        root=absolute_path(root),
        path_folders=tuple(folders),
    )


def _declared(
    plugin: Plugin, record: records.CommandDeclaration | records.CategoryDeclaration
) -> Declared:
    words = record.words
    fields: dict[str, Any]
    if isinstance(record, records.CommandDeclaration):
        # A declared command has no script, so an entrypoint must be given.
        fields = {"entrypoint": None, **record.definition}
    else:
        fields = {"name": record.name, "description": record.description}

    if not words:
        raise ValueError("the words of a command or category must not be empty")
    if words[0] == SELF and not plugin.ours:
        raise ValueError(f"{words!r}: the word {SELF} is reserved")

    declared = Declared(
        words=_placed(plugin, words),
        json=json.dumps(fields).encode(),
        plugin=plugin.name,
        ours=plugin.ours,
        runs=isinstance(record, records.CommandDeclaration),
    )
    if not plugin.ours:  # tests check those of the program
        declared.definition  # noqa: B018 - the access checks it
    return declared


def _source(plugin: Plugin, source: EnvSource) -> EnvSource:
    name = source.name
    reader = source.reader
    if source.provider:
        reader = "python"

    # The ranks of the built-in sources are in one table, beside the load order.
    rank = source.rank
    if plugin.ours:
        rank = RANKS.get(reader, rank)
    if not _is_rank(rank):
        what = f"rank must be from {ENVS} to {ENV_FILES}, not {rank!r}"
        raise ValueError(f"{name}: {what}")

    if reader not in ("dotenv", "python") and not plugin.ours:
        raise ValueError(f"{name}: reader must be dotenv, not {reader!r}")
    if source.provider:
        _check_reference(name, "provider", source.provider)

    return source.replaced(
        rank=rank,
        reader=reader,
        files=list(map(absolute_path, source.files)),
        words=_placed(plugin, source.words),
        plugin=plugin.name,
        folders=plugin.folders,
    )


def _is_rank(value: object) -> bool:
    if not isinstance(value, int | float):
        return False
    return ENVS <= value <= ENV_FILES


def _scheme(plugin: Plugin, declared: SecretScheme) -> SecretScheme:
    scheme = declared.scheme
    if not _SCHEME.fullmatch(scheme):
        rule = "use lower-case letters, digits, - and + in a scheme"
        raise ValueError(f"{scheme!r:.80}: {rule}")
    if scheme in (*BUILT_IN_SCHEMES, "encrypted"):
        raise ValueError(f"{scheme}: this scheme is built in")
    _check_reference(scheme, "provider", declared.provider)
    if declared.file_provider:
        _check_reference(scheme, "provider", declared.file_provider)

    return declared.replaced(plugin=plugin.name, folders=plugin.folders)


def _run_function(
    plugin: Plugin, declared: BeforeRun | AfterRun
) -> BeforeRun | AfterRun:
    _check_reference(declared.name, "function", declared.function)
    words = _placed(plugin, declared.words)
    return declared.replaced(
        words=words,
        plugin=plugin.name,
        folders=plugin.folders,
    )


def _check_reference(name: str, key: str, reference: str) -> None:
    if not is_reference(reference):
        raise ValueError(f'{name}: {key} must have the form "module:attr"')


def absolute_path(path: str) -> str:
    if not path.startswith("/"):
        raise ValueError(f"expected an absolute path, not {path!r:.80}")
    return path


def _placed(plugin: Plugin, words: Sequence[str]) -> tuple[str, ...]:
    """Return the checked `words` below the category that the user chose for the plugin."""
    for word in words:
        if not is_word(word):
            raise ValueError(f"invalid words: {words!r:.80}")
    return (*plugin.under, *words)


# The check of each kind of record that the lock contains.
CHECKED: dict[type[Record], Callable[[Plugin, Any], Checked]] = {
    CommandTree: _tree,
    records.CommandDeclaration: _declared,
    records.CategoryDeclaration: _declared,
    EnvSource: _source,
    SecretScheme: _scheme,
    BeforeRun: _run_function,
    AfterRun: _run_function,
}

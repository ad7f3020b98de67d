"""What a plugin would add, told from its files alone: nothing of it is imported or run."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from builtin_plugins.plugin_directories.directory import Manifest, inside, read_manifest
from host import Definition, HostError, PluginError
from host.cli.catalog import contents
from host.planning.loading import HOOKS
from host.run.definition import parse_declared
from host.run.lock import Lock, Tree
from host.run.paths import read_regular

_HOOKS_LIMIT = 1 << 20  # bytes of a hooks file

Words = tuple[str, ...]


@dataclass(frozen=True)
class PluginContents:
    """The commands of a plugin by their words, the hooks that its Python implements.

    `problems` are definitions that do not count, hooks that cannot work and misspelt keys; `tree`
    is the directory of its categories, where it has one; `names` are those of a distribution's
    plugins.
    """

    commands: Mapping[Words, Definition] = field(default_factory=dict)
    hooks: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    manifest: Manifest | None = None
    tree: str = ""
    names: tuple[str, ...] = ()


def read_contents(root: str) -> PluginContents:
    """Return what the directory plugin at `root` holds.

    Raises PluginError or DefinitionError when its plugin.json is wrong.
    """
    manifest = read_manifest(root)
    tree = inside(root, manifest.directory, "directory") if manifest else root
    if not os.path.isdir(tree):
        raise PluginError(f'{root}/plugin.json: "directory": there is no {tree}')
    problems = [*manifest.warnings] if manifest else []
    lock = Lock([Tree(tree)])
    found = contents((), lock, problems.append, deep=True)
    commands = {one.words: one.definition for one in found.commands}
    hooks: tuple[str, ...] = ()
    if manifest and manifest.hooks:
        path = inside(root, manifest.hooks, "hooks")
        try:
            source = read_regular(path, _HOOKS_LIMIT, PluginError)
        except FileNotFoundError:
            raise PluginError(f"{path}: No such file or directory") from None
        hooks, declared = read_source(path, source, problems)
        commands = declared | commands
    return PluginContents(commands, hooks, tuple(problems), manifest, tree)


def read_source(
    name: str, source: bytes, problems: list[str]
) -> tuple[tuple[str, ...], dict[Words, Definition]]:
    """Return the hooks that Python source implements, and the commands with words written out.

    It is read, never run; what is wrong with it is added to `problems`.
    """
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as failure:
        line = getattr(failure, "lineno", None) or 1
        problems.append(f"{name}:{line}: not Python: {getattr(failure, 'msg', failure)}")
        return (), {}
    marked = [
        one.name
        for one in ast.walk(module)
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
        and any(_is_marker(decorator) for decorator in one.decorator_list)
    ]
    problems += [
        f"{name}: there is no hook {one}; there are {', '.join(HOOKS)}"
        for one in marked
        if one not in HOOKS
    ]
    return tuple(one for one in HOOKS if one in marked), dict(_declared(name, module))


def _declared(name: str, module: ast.Module) -> Iterator[tuple[Words, Definition]]:
    for call in ast.walk(module):
        if not isinstance(call, ast.Call) or _named(call.func) != "CommandDeclaration":
            continue
        given = dict(zip(("words", "definition"), call.args, strict=False))
        given |= {one.arg: one.value for one in call.keywords if one.arg}
        with suppress(LookupError, ValueError, TypeError, HostError, SyntaxError):
            words, fields = (ast.literal_eval(given[key]) for key in ("words", "definition"))
            yield tuple(words), parse_declared(name, fields)


def _is_marker(decorator: ast.expr) -> bool:
    return _named(decorator.func if isinstance(decorator, ast.Call) else decorator) == "hookimpl"


def _named(one: ast.expr) -> str:
    """Return the last name of `name` or `package.name`."""
    if isinstance(one, ast.Attribute):
        return one.attr
    return one.id if isinstance(one, ast.Name) else ""

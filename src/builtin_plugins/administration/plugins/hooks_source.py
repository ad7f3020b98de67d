"""The hooks and commands in Python source, read with `ast`; the source is never run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress

from host import Definition, HostError, Problem
from host.hookspecs import HOOKS
from host.run.command import is_reference
from host.run.lock import parse_declared

Words = tuple[str, ...]
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def read_source(
    name: str, source: bytes, problems: list[Problem]
) -> tuple[tuple[str, ...], dict[Words, Definition]]:
    """Return the hooks that Python source implements, and the commands whose words are literals.

    The source is never run; errors in it are added to `problems`.
    """
    try:
        module = ast.parse(source)
    except _UNREADABLE as failure:
        line = getattr(failure, "lineno", None) or 1
        what = f"not Python: {getattr(failure, 'msg', failure)}"
        problems.append(Problem(name, what, line=line))
        return (), {}
    aliases = [one for one in ast.walk(module) if isinstance(one, ast.alias)]
    markers = {one.asname or one.name for one in aliases if one.name == "hookimpl"}
    markers.add("hookimpl")
    marked: set[str] = set()
    for one in ast.walk(module):
        if not isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for decorator in one.decorator_list:
            if _named(getattr(decorator, "func", decorator)) not in markers:
                continue
            hook = _spec_name(decorator) or one.name
            marked.add(hook)
            if hook not in HOOKS:
                what, remedy = f"there is no hook {hook}", f"there are {', '.join(HOOKS)}"
                problems.append(Problem(name, what, remedy, line=one.lineno))
            elif isinstance(one, ast.AsyncFunctionDef):
                what, remedy = f"{hook}: is async def", "a hook is a plain function"
                problems.append(Problem(name, what, remedy, line=one.lineno))
    brought = {"*", *HOOKS} & {one.asname or one.name for one in aliases}
    used = {*markers, "HookimplMarker"} & {*map(_named, ast.walk(module))}
    if not (marked or brought or used):
        what = "no function is marked with @hookimpl, so nothing is called"
        problems.append(Problem(name, what, line=1))
    return tuple(one for one in HOOKS if one in marked), dict(_declared(name, module))


def _spec_name(decorator: ast.expr) -> str:
    """Return the hook that a marker names explicitly, as in `@hookimpl(specname="…")`."""
    for one in decorator.keywords if isinstance(decorator, ast.Call) else ():
        if one.arg == "specname" and isinstance(one.value, ast.Constant):
            return str(one.value.value or "")
    return ""


def references(source: bytes) -> Iterator[tuple[int, str]]:
    """Yield each literal "module:attr" of a provider or command in hooks, with its line number."""
    try:
        module = ast.parse(source)
    except _UNREADABLE:
        return
    for one in ast.walk(module):
        values: list[ast.expr | None] = []
        if isinstance(one, ast.Call) and _named(one.func) == "EnvSource":
            values = [*one.args[3:4], *(key.value for key in one.keywords if key.arg == "provider")]
        elif isinstance(one, ast.Call) and _named(one.func) == "CommandDeclaration":
            given = [*one.args[1:2], *(key.value for key in one.keywords)]
            fields = [part for part in given if isinstance(part, ast.Dict)]
            values = [
                value
                for part in fields
                for key, value in zip(part.keys, part.values, strict=True)
                if isinstance(key, ast.Constant) and key.value == "entrypoint"
            ]
        for value in values:
            if isinstance(value, ast.Constant) and is_reference(str(value.value)):
                yield value.lineno, str(value.value)


def _declared(name: str, module: ast.Module) -> Iterator[tuple[Words, Definition]]:
    for call in ast.walk(module):
        if not isinstance(call, ast.Call) or _named(call.func) != "CommandDeclaration":
            continue
        given = dict(zip(("words", "definition"), call.args, strict=False))
        given |= {one.arg: one.value for one in call.keywords if one.arg}
        with suppress(LookupError, ValueError, TypeError, HostError, SyntaxError):
            words, fields = (ast.literal_eval(given[key]) for key in ("words", "definition"))
            yield tuple(words), parse_declared(name, fields)


def _named(one: ast.AST) -> str:
    """Return the last name of `name` or `package.name`."""
    if isinstance(one, ast.Attribute):
        return one.attr
    return one.id if isinstance(one, ast.Name) else ""

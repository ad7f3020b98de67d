"""What is wrong with the hooks of a plugin, found in the source: nothing of it is run."""

from __future__ import annotations

import ast
import os
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec, PathFinder
from itertools import accumulate

from builtin_plugins.administration.plugins.hooks_source import read_source, references
from builtin_plugins.administration.words.lint.finding import Finding, JsonFile
from host import HostError, Problem
from host.hookspecs import PROJECT
from host.run import read_regular
from host.run.importing import complete_import_path

_LARGEST = 4 << 20  # bytes of a file of Python


def package_findings(root: str) -> Iterator[Finding]:
    """Yield what is wrong with the hooks of the Python package in the directory `root`."""
    try:
        with open(os.path.join(root, "pyproject.toml"), "rb") as file:
            points = tomllib.load(file)["project"]["entry-points"][PROJECT]
            modules = [one.partition(":")[0] for one in points.values()]
    except (OSError, LookupError, ValueError, TypeError, AttributeError):
        return  # no plugin, or a matter for the tool that builds it
    places = [os.path.join(root, "src"), root]
    for name in modules:
        spec = _found(name, places)
        if spec is None or not spec.origin:
            text = f"entry point {PROJECT}: there is no module {name}"
            yield Finding(os.path.join(root, "pyproject.toml"), 1, 1, "plugin", text)
        elif spec.origin.startswith(os.path.join(root, "")):
            yield from hook_findings(spec.origin, places)


def hook_findings(path: str, places: Sequence[str] = ()) -> Iterator[Finding]:
    """Yield what is wrong with the hooks in a file; its own modules are in `places`."""
    file = JsonFile(path)
    try:
        source = read_regular(path, _LARGEST, HostError)
    except HostError as error:
        yield file.finding(error.problem, "plugin")
        return
    except FileNotFoundError as error:
        yield file.at("", str(error), "plugin")
        return
    problems: list[Problem] = []
    read_source(path, source, problems)
    for problem in problems:
        yield file.finding(problem, "plugin")
    for line, reference in references(source):
        missing = _missing(reference, places)
        if missing:
            text = f"{reference} cannot be imported: there is no {missing}"
            yield Finding(path, line, 1, "plugin", text)


def _missing(reference: str, places: Sequence[str]) -> str:
    """Return what of "module:attr" is not there, "" when nothing is known to be missing."""
    complete_import_path()
    module, _, attribute = reference.partition(":")
    spec = _found(module, places)
    if spec is None:
        return f"module {module}"
    name = attribute.partition(".")[0]
    if not spec.origin or not spec.origin.endswith(".py") or _found(f"{module}.{name}", places):
        return ""
    try:
        tree = ast.parse(read_regular(spec.origin, _LARGEST, HostError))
    except (HostError, OSError, SyntaxError, ValueError, RecursionError):
        return ""
    bound = {*_bound(tree)}
    return "" if bound & {name, "*", "__getattr__"} else f"{name} in {module}"


def _bound(tree: ast.Module) -> Iterator[str]:
    """Yield each name that a module binds anywhere, "*" for all names of another one."""
    for one in ast.walk(tree):
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield one.name
        elif isinstance(one, ast.alias):
            yield (one.asname or one.name).partition(".")[0]
        elif isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            yield one.id


def _found(module: str, places: Sequence[str]) -> ModuleSpec | None:
    """Find a module without importing the packages that it is in."""
    top = module.partition(".")[0]
    spec = PathFinder.find_spec(top, places)
    path: list[str] | None = None
    with suppress(KeyError):  # of a namespace inside a namespace, which may hold anything
        for name in accumulate(module.split("."), "{}.{}".format):
            if spec is None or name != top:
                found = (finder.find_spec(name, path) for finder in sys.meta_path)
                spec = next(filter(None, found), None)
            if spec is None:
                break
            path = [*(spec.submodule_search_locations or ())]
    return spec

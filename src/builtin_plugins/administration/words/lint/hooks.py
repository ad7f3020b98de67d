"""Problems with the hooks of a plugin, found in its source without running it."""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec, PathFinder
from itertools import accumulate
from pathlib import Path

from builtin_plugins.administration.pages import Finding
from builtin_plugins.administration.plugins.hooks_source import read_source, references
from host import HostError, Problem
from host.hookspecs import PROJECT
from host.run import read_regular
from host.run.importing import complete_import_path

_LARGEST = 4 << 20  # bytes of a Python file


def package_findings(root: str) -> Iterator[Finding]:
    """Yield the problems with the hooks of the Python package in the directory `root`."""
    project = os.path.join(root, "pyproject.toml")
    try:
        with open(project, "rb") as file:
            points = tomllib.load(file)["project"]["entry-points"][PROJECT]
            modules = [one.partition(":")[0] for one in points.values()]
    except (OSError, LookupError, ValueError, TypeError, AttributeError):
        return  # not a plugin, or its build tool reports the error
    places = [os.path.join(root, "src"), root]
    for name in modules:
        spec = _found(name, places)
        if spec is None or not spec.origin:
            text = f"entry point {PROJECT}: there is no module {name}"
            yield Finding("plugin", Problem(project, text))
        elif spec.origin.startswith(os.path.join(root, "")):
            yield from hook_findings(spec.origin, places)


def hook_findings(path: str, places: Sequence[str] = ()) -> Iterator[Finding]:
    """Yield the problems with the hooks in a file; its own modules are in `places`."""
    problems: list[Problem] = []
    try:
        source = read_regular(path, _LARGEST, HostError)
    except HostError as error:
        yield Finding("plugin", error.problem)
        return
    read_source(path, source, problems)
    complete_import_path()
    for line, reference in references(source):
        if missing := _missing(reference, places):
            text = f"{reference} cannot be imported: there is no {missing}"
            problems.append(Problem(path, text, line=line))
    yield from (Finding("plugin", one) for one in problems)


def _missing(reference: str, places: Sequence[str]) -> str:
    """Return the missing part of "module:attr", "" if nothing is known to be missing."""
    module, _, attribute = reference.partition(":")
    name = attribute.partition(".")[0]
    spec = _found(module, places)
    if spec is None:
        return f"module {module}"
    if not (spec.origin or "").endswith(".py") or _found(f"{module}.{name}", places):
        return ""
    text = Path(str(spec.origin)).read_text(encoding="utf-8", errors="replace")
    is_known = re.search(rf"\b({name}|__getattr__)\b|import \*", text)
    return "" if is_known else f"{name} in {module}"


def _found(module: str, places: Sequence[str]) -> ModuleSpec | None:
    """Find a module without importing its parent packages."""
    spec: ModuleSpec | None = None
    path: list[str] | None = None
    with suppress(KeyError):  # nested namespace packages may contain anything
        for name in accumulate(module.split("."), "{}.{}".format):
            spec = PathFinder.find_spec(name, places) if path is None else None
            for finder in sys.meta_path:
                spec = spec or finder.find_spec(name, path)
            if spec is None:
                break
            path = [*(spec.submodule_search_locations or ())]
    return spec

"""The public names of `host`, and what the administration imports from it beside them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from pkgutil import resolve_name

import pytest

import host
from testing.installation import PROJECT

# What the administration imports from `host` beside its public names; the true plugins import
# only those. Shrink it: what others need too becomes public.

# `self` manages this very program, so it knows its modules; each for a reason.
_ADMINISTRATION = {
    "host.cli.session": "the installation, its plan and its messages, on demand",
    "host.cli.completion": "Tab for SOURCE offers files beside names",
    "host.cli.contents": "all commands below some words",
    "host.cli.listings": "list, search: a listing by whichever renderer answers",
    "host.cli.unknown_words": "words that name nothing get the same answer everywhere",
    "host.run.suggestions": "a misspelt plugin gets the nearest name, as words do",
    "host.cli.variables": "env: which line of settings.conf it is",
    "host.run.confirm": "every question for yes or no is asked by one prompt",
    "host.cli.trust": "trust: asks and remembers as a run does",
    "host.run.projects": "trust: which project is the nearest one",
    "host.run.trust": "trust: what is remembered of a project",
    "host.run.command": "lint, new and add judge definitions as a run does",
    "host.run.json_errors": "lint: at which line a key of a definition stands",
    "host.run.json_file": "lint and wheels: JSON has the errors of a file's",
    "host.run.settings": "doctor: settings.conf is read as a run reads it",
    "host.run.installation": "update, doctor, uninstall: where installations are",
    "host.run.text": "how a text without letters is shown",
    "host.run.environment": "env, lint: which variables a run has",
    "host.run.required_variables": "env: which variables a run needs",
    "host.run": "doctor, lint: programs are found as a run finds them",
    "host.run.folders": "lint walks a folder as a run looks into it; new knows extensions",
    "host.run.script_definition": "lint finds the place of a key in a script",
    "host.run.script_help": "lint reports who answers --help",
    "host.run.process": "which, doctor: what would start",
    "host.run.catalog": "which, collisions: whom the words find",
    "host.run.lock": "collisions: the plan with and without a plugin",
    "host.run.importing": "pip and updates need packages of the environment",
    "host.planning.required_programs": "doctor: what a run requires",
    "host.hookspecs": "which hooks there are, their group of entry points, our distribution",
}
_MANAGING = ("administration",)


def _imports(files: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Yield each module of `host` that is imported from, with the name; not the public ones."""
    for path in files:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("host."):
                yield from ((str(node.module), one.name) for one in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module == "host":
                yield from (
                    ("host", one.name) for one in node.names if one.name not in host.__all__
                )


def test_what_built_in_plugins_import_beside_the_public_names() -> None:
    source = PROJECT / "src/builtin_plugins"
    files = {True: list[Path](), False: list[Path]()}
    for file in source.rglob("*.py"):
        files[file.relative_to(source).parts[0] in _MANAGING].append(file)
    assert list(_imports(files[False])) == [], "use a public name"
    used = {module for module, _ in _imports(files[True])}
    assert used - set(_ADMINISTRATION) == set(), "use a public name, or add it with its reason"
    assert set(_ADMINISTRATION) - used == set(), "nothing imports these: remove them"


def test_the_public_names_are_those_of_the_package() -> None:
    for name in host.__all__:
        assert getattr(host, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        host.nothing  # noqa: B018 - asking is the test


def test_the_host_names_no_module_of_the_built_in_plugins() -> None:
    files = (PROJECT / "src/host").rglob("*.py")
    assert [file for file in files if "builtin_plugins" in file.read_text()] == []


def test_what_scripts_beside_the_program_import_is_there() -> None:
    used = re.compile(r"from ((?:host|builtin_plugins)[\w.]*) import (\w+)")  # in strings, too
    found = 0
    for folder in ("bench", "release", "docs/site"):
        for file in filter(Path.is_file, (PROJECT / folder).rglob("*")):
            for module, name in used.findall(file.read_text(errors="replace")):
                resolve_name(f"{module}.{name}")  # raises where there is none
                found += 1
    assert found

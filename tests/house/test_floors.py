"""No module imports another that imports it, and nothing happens when it is imported.

That a floor imports only from those below it is import-linter's to hold (pyproject.toml).
"""

from __future__ import annotations

import ast
import tomllib
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from testing.installation import PROJECT

_SRC = PROJECT / "src"


def _name(path: Path) -> str:
    parts = path.relative_to(_SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def _trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text()) for path in _SRC.rglob("*.py")}


def _imports(node: ast.AST) -> set[str]:
    """Return the modules, or names in modules, that are imported below `node`."""
    names: set[str] = set()
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            continue
        if isinstance(child, ast.ImportFrom):
            names |= {f"{child.module}.{alias.name}" for alias in child.names}
        elif isinstance(child, ast.Import):
            names |= {alias.name for alias in child.names}
        else:
            names |= _imports(child)
    return names


def _graph() -> dict[str, set[str]]:
    """Return the modules of src that each module imports."""
    trees = {_name(path): tree for path, tree in _trees().items()}
    graph: dict[str, set[str]] = {}
    for module, tree in trees.items():
        names = _imports(tree)
        modules = {name if name in trees else name.rpartition(".")[0] for name in names}
        graph[module] = modules & trees.keys() - {module}
    return graph


@pytest.mark.slow
def test_no_cycle() -> None:
    """Not even inside a function or for types alone."""
    try:
        TopologicalSorter(_graph()).prepare()
    except CycleError as failure:
        pytest.fail(" → ".join(failure.args[1]))


def test_no_text_names_a_module_of_a_floor_above() -> None:
    """What is imported by its name (finders, commands) is an import, too."""
    contracts = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"][
        "importlinter"
    ]
    floors = next(
        one["layers"] for one in contracts["contracts"] if "built-in" in one["name"]
    )
    heights = {
        package.strip(): -depth
        for depth, floor in enumerate(floors)
        for package in floor.split("|")
    }
    upward = [
        f"{path}:{node.lineno}: {node.value}"
        for path, tree in _trees().items()
        if path.is_relative_to(_SRC / "builtin_plugins")
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for above in heights
        if f"{node.value}.".startswith(f"{above}.")
        and heights[above]
        > heights.get(".".join(_name(path).split(".")[:2]), heights[above])
    ]
    assert upward == []


def test_nothing_happens_at_import() -> None:
    """A module's top level only defines: no loops, no calls but of constants' constructors."""
    allowed = (
        ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign, ast.If
    )  # fmt: skip
    for path, tree in _trees().items():
        for statement in tree.body:
            is_text = isinstance(statement, ast.Expr) and isinstance(
                statement.value, ast.Constant
            )
            assert is_text or isinstance(statement, allowed), (
                f"{path}:{statement.lineno}"
            )

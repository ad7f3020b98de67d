"""No module imports another that imports it, not even inside a function or for types alone.

That a floor imports only from those below it is import-linter's to hold (pyproject.toml).
"""

from __future__ import annotations

import ast
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from testing.installation import PROJECT

_SRC = PROJECT / "src"


def _name(path: Path) -> str:
    parts = path.relative_to(_SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# Imports for types alone that close a circle. Do not add one.
_MUTUAL = [
    ("host.run.definition", "host.run.projects"),  # a definition names its project
]


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _imports(node: ast.AST, *, types: bool) -> set[str]:
    """Return the modules, or names in modules, that are imported below `node`.

    `types` says whether imports that only type checkers see count, too.
    """
    names: set[str] = set()
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom):
            names |= {f"{child.module}.{alias.name}" for alias in child.names}
        elif isinstance(child, ast.Import):
            names |= {alias.name for alias in child.names}
        elif types or not _is_for_types(child):
            names |= _imports(child, types=types)
    return names


def _graph(*, types: bool) -> dict[str, set[str]]:
    """Return the modules of src that each module imports."""
    trees = {_name(path): ast.parse(path.read_text()) for path in _SRC.rglob("*.py")}
    graph: dict[str, set[str]] = {}
    for module, tree in trees.items():
        names = _imports(tree, types=types)
        modules = {name if name in trees else name.rpartition(".")[0] for name in names}
        graph[module] = modules & trees.keys() - {module}
    return graph


def _check_no_cycle(graph: dict[str, set[str]]) -> None:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as failure:
        pytest.fail(" → ".join(failure.args[1]))


@pytest.mark.slow
def test_no_cycle() -> None:
    _check_no_cycle(_graph(types=False))


@pytest.mark.slow
def test_no_cycle_of_types() -> None:
    graph = _graph(types=True)
    for module, imported in _MUTUAL:
        graph[module].remove(imported)
    _check_no_cycle(graph)


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
        for path in (_SRC / "builtin_plugins").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for above in heights
        if f"{node.value}.".startswith(f"{above}.")
        and heights[above]
        > heights.get(".".join(_name(path).split(".")[:2]), heights[above])
    ]
    assert upward == []

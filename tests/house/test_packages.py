"""What holds for every package in `packages`: it imports only public names of the host."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import host
from testing.installation import PROJECT

_MODULES = sorted((PROJECT / "packages").glob("*/src/*/*.py"))


def test_every_package_is_looked_at() -> None:
    packages = {path.parent for path in (PROJECT / "packages").glob("*/pyproject.toml")}
    assert packages
    assert {module.parents[2] for module in _MODULES} == packages


@pytest.mark.parametrize("module", _MODULES, ids=lambda path: f"{path.parent.name}.{path.stem}")
def test_only_public_names_of_the_host(module: Path) -> None:
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            assert not [one.name for one in node.names if one.name.split(".")[0] == "host"]
        elif isinstance(node, ast.ImportFrom):
            assert not (node.module or "").startswith(("host.", "builtin_plugins"))
            if node.module == "host":
                assert {one.name for one in node.names} <= set(host.__all__)

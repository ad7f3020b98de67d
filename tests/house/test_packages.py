"""What holds for every package in `packages`: it imports only public names of the host."""

from __future__ import annotations

import ast

import host
from testing.installation import PROJECT

_MODULES = sorted((PROJECT / "packages").glob("*/src/*/*.py"))


def test_every_package_is_looked_at() -> None:
    packages = {path.parent for path in (PROJECT / "packages").glob("*/pyproject.toml")}
    assert packages
    assert {module.parents[2] for module in _MODULES} == packages


def test_only_public_names_of_the_host() -> None:
    for module in _MODULES:
        for node in ast.walk(ast.parse(module.read_text())):
            place = f"{module}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Import):
                packages = [alias.name.split(".")[0] for alias in node.names]
                assert "host" not in packages, place
            elif isinstance(node, ast.ImportFrom):
                assert not (node.module or "").startswith(
                    ("host.", "builtin_plugins")
                ), place
                if node.module == "host":
                    assert {alias.name for alias in node.names} <= set(host.__all__), (
                        place
                    )

"""The pinned tools are those that pyproject.toml asks for, each with its hashes."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from testing.installation import PROJECT

_PROJECT: dict[str, Any] = tomllib.loads((PROJECT / "pyproject.toml").read_text())
_PINS = re.compile(r"^(\S+?)==([^\s;]+)([^\n]*(?:\n .*)*)", re.MULTILINE)
_FILES = sorted((PROJECT / "release" / "requirements").glob("*.txt"))


def asked(group: str) -> list[Requirement]:
    """Return the requirements of a dependency group, with those of the groups it includes."""
    found: list[Requirement] = []
    for one in _PROJECT["dependency-groups"][group]:
        found += (
            asked(one["include-group"]) if isinstance(one, dict) else [Requirement(one)]
        )
    return found


def asked_by_packages() -> list[Requirement]:
    """Return what the packages need beside the program, and their tests."""
    found = asked("packages")
    for file in PROJECT.glob("packages/*/pyproject.toml"):
        read = tomllib.loads(file.read_text())
        for one in [
            *read["project"]["dependencies"],
            *read["dependency-groups"]["test"],
        ]:
            found.append(Requirement(one))
    return [one for one in found if one.name != "cli-host"]


@pytest.mark.parametrize("file", _FILES, ids=lambda file: file.stem)
def test_pins_satisfy_what_is_asked(file: Any) -> None:
    pins = {
        canonicalize_name(name): version
        for name, version, _ in _PINS.findall(file.read_text())
    }
    project = [Requirement(one) for one in _PROJECT["project"]["dependencies"]]
    if file.stem == "uv":
        project = []
    wanted: list[Requirement] = []
    if file.stem == "packages":
        wanted = asked_by_packages()
    elif file.stem != "program":  # the program's own requirements are in each file
        wanted = asked(file.stem)
    for one in [*project, *wanted]:
        pin = pins.get(canonicalize_name(one.name), "none")
        assert pin != "none", (
            f"{one.name} is not pinned; run release/requirements/compile"
        )
        assert one.specifier.contains(pin), (
            f"{one} is {pin}; run release/requirements/compile"
        )


@pytest.mark.parametrize("file", _FILES, ids=lambda file: file.stem)
def test_every_pin_has_hashes(file: Any) -> None:
    pins = _PINS.findall(file.read_text())
    assert pins
    assert [name for name, _, rest in pins if "--hash=sha256:" not in rest] == []
    assert "://" not in file.read_text()

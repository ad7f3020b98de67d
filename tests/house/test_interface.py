"""The public names of `host`, and what the `self` commands import from it beside them."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import host
from testing.installation import PROJECT


def _imports(files: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Yield each module of `host` that is imported from, with the name; not the public ones."""
    for path in files:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
                "host."
            ):
                yield from ((str(node.module), one.name) for one in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module == "host":
                yield from (
                    ("host", one.name)
                    for one in node.names
                    if one.name not in host.__all__
                )


def test_true_plugins_import_only_public_names() -> None:
    source = PROJECT / "src/builtin_plugins"
    # This program's own management may import all of `host`.
    own = (
        "authoring",
        "browsing",
        "diagnosis",
        "history",
        "plugins",
        "program",
        "self_commands",
        "team",
    )
    own_folders = {source / folder for folder in own}
    files = []
    for file in source.rglob("*.py"):
        if own_folders.isdisjoint(file.parents):
            files.append(file)
    assert files
    assert list(_imports(files)) == []


def test_the_pages_for_contributors_name_what_exists() -> None:
    text = (PROJECT / "CONTRIBUTING.md").read_text()
    named = re.findall(r"((?:`[\w.]+`(?:,| and)? )+)in `(src/[\w/]+\.py)`", text)
    assert named
    for names, file in named:
        source = (PROJECT / file).read_text()
        for name in re.findall(r"(\w+)`", names):
            assert re.search(rf"^\s*(def |class )?{name}\b", source, re.MULTILINE), name
    for path in re.findall(r"`((?:src|tests|docs|release)/[\w/.-]+)`", text):
        assert (PROJECT / path).exists(), path


def test_the_public_names_are_those_of_the_package() -> None:
    for name in host.__all__:
        assert getattr(host, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        host.nothing  # noqa: B018 - asking is the test


def test_the_host_names_no_module_of_the_built_in_plugins() -> None:
    files = {*(PROJECT / "src/host").rglob("*.py")}
    files -= {
        *(PROJECT / "src/host/testing").rglob("*.py")
    }  # makes installations, for tests only
    # It keeps every plugin from replacing them.
    files.discard(PROJECT / "src/host/processes/importing.py")
    assert [file for file in files if "builtin_plugins" in file.read_text()] == []


def test_what_scripts_beside_the_program_import_is_there() -> None:
    used = re.compile(
        r"from ((?:host|builtin_plugins)[\w.]*) import (\w+)"
    )  # in strings, too
    names = set()
    for folder in ("bench", "release", "docs/site"):
        for file in filter(Path.is_file, (PROJECT / folder).rglob("*")):
            for module, name in used.findall(file.read_text(errors="replace")):
                names.add(f"{module}.{name}")
    assert names
    # In a process of its own: `host.__main__` gives SIGINT its default when it is imported.
    look = "import pkgutil, sys; [*map(pkgutil.resolve_name, sys.argv[1:])]"
    done = subprocess.run(
        [sys.executable, "-c", look, *sorted(names)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr

"""The rules that the house keeps about itself."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from host import hookspecs
from host.planning.loading import HOOKS
from testing.installation import PROJECT, Made, command

# What a run must not pay for: see the hot side in CONTRIBUTING.md.
_BANNED = {
    *("click", "dataclasses", "dotenv", "functools", "importlib.metadata", "importlib_metadata"),
    *("inspect", "json", "logging", "pathlib", "pluggy", "re", "requests", "shutil", "signal"),
    *("site", "subprocess", "tempfile", "typing", "wcwidth"),
}

_PLANNED_RUN = """
import sys
sys.path.append({source!r})
sys.argv = {argv!r}
import host.run.process
def execute(plan):
    print("\\n".join(sorted(sys.modules)))
    raise SystemExit(0)
host.run.process.execute = execute
from host.__main__ import main
main()
"""


def test_a_planned_run_imports_next_to_nothing(install: Callable[..., Made]) -> None:
    made = install(
        {
            "commands/a/b/command.json": command(envs={"X": "${HOME}"}, env_files=[".env"]),
            "commands/a/b/.env": "Y=1\nZ='two'\n",
            "commands/a/b/main.sh": "#!/bin/bash\n",
            "config/settings.conf": "S=1\n",
        }
    )
    assert made.run("a", "b").status == 0  # writes the lock
    program = _PLANNED_RUN.format(source=str(PROJECT / "src"), argv=[str(made.launcher), "a", "b"])
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program],
        env={"PATH": "/usr/bin:/bin", "HOME": str(made.home)},
        capture_output=True,
        text=True,
        check=True,
    )
    modules = set(done.stdout.split())
    assert "host.run.settings" in modules  # the list is the list of a whole run
    assert not modules & _BANNED
    assert len({name for name in modules if name.startswith("host.")}) <= 23


def test_every_hook_is_documented_with_an_example_and_tested() -> None:
    specs = [name for name, one in vars(hookspecs).items() if hasattr(one, "cli_host_spec")]
    assert sorted(specs) == sorted(HOOKS)
    tests = "".join(
        path.read_text() for path in (PROJECT / "tests").rglob("*.py") if path != Path(__file__)
    )
    for name in specs:
        text = inspect.getdoc(getattr(hookspecs, name)) or ""
        assert "Called " in text, name
        assert "@hookimpl" in text, name
        assert f"def {name}(" in tests, f"no test implements {name}"


def test_no_module_is_called_after_nothing() -> None:
    vague = re.compile(r"(util|helper|common|manager|handler|data|context)s?\b")
    names = [path.stem for path in (PROJECT / "src").rglob("*.py")]
    assert [name for name in names if any(vague.fullmatch(part) for part in name.split("_"))] == []


@pytest.mark.parametrize(
    "path", sorted((PROJECT / "src").rglob("*.py")), ids=lambda path: path.stem
)
def test_nothing_happens_at_import(path: Path) -> None:
    """A module's top level only defines: no loops, no calls but of constants' constructors."""
    allowed = (
        ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign, ast.If
    )  # fmt: skip
    for statement in ast.parse(path.read_text()).body:
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        assert is_text or isinstance(statement, allowed), f"{path}:{statement.lineno}"


def test_the_public_names_are_those_of_the_package() -> None:
    import host

    for name in host.__all__:
        assert getattr(host, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        host.nothing  # noqa: B018 - asking is the test

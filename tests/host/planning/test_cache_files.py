"""The modules of a run out of one file: the same with it, without it and with garbage in it."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from host.planning.cache_files import RUN
from testing.installation import PROJECT, Made, command


def test_each_module_comes_after_those_that_it_imports() -> None:
    """One that came before would be imported from its file, and made a second time."""
    for place, name in enumerate(RUN):
        spec = find_spec(name)
        top = ast.parse(Path(str(spec and spec.origin)).read_bytes()).body
        asked = {str(one.module) for one in top if isinstance(one, ast.ImportFrom)}
        assert asked.intersection(RUN) <= {*RUN[:place]}, name


_RUN = """
import sys
RUN = {run!r}
sys.path.append({packages!r})
sys.argv = {argv!r}
import host.__main__
from host.__main__ import _RUN_CODE, main
def execute(plan):
    for name in RUN:
        module = sys.modules[name]
        parent, _, last = name.rpartition(".")
        assert not parent or getattr(sys.modules[parent], last) is module
        assert module.__spec__.has_location and module.__file__.startswith({packages!r})
        print(name, module.__spec__.cached == _RUN_CODE)
    raise SystemExit(0)
host.__main__.execute = execute
main()
"""


@dataclass(frozen=True)
class Copied:
    """A copy of the program's packages, and an installation that is run with it."""

    packages: Path
    made: Made

    @property
    def code(self) -> Path:
        return self.packages / "host" / "__pycache__" / f"run.{sys.implementation.cache_tag}.pyc"

    def answer(self, *words: str, flags: tuple[str, ...] = ()) -> str:
        """Start the program with `words`; return its output, or a line for each of its modules."""
        argv = [str(self.made.launcher), *words]
        text = _RUN.format(run=RUN, packages=str(self.packages), argv=argv)
        done = subprocess.run(
            [sys.executable, "-IS", *flags, "-c", text],
            env={"PATH": os.defpath, "HOME": str(self.made.home)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""
        return done.stdout

    def run(self, *flags: str, words: tuple[str, ...] = ("a", "b")) -> set[str]:
        """Run a command; return which of its modules were out of the one file."""
        lines = dict(line.split() for line in self.answer(*words, flags=flags).splitlines())
        assert list(lines) == list(RUN)
        return {name for name, out_of_it in lines.items() if out_of_it == "True"}


@pytest.fixture
def copied(install: Callable[..., Made], tmp_path: Path) -> Copied:
    made = install(
        {"commands/a/b/command.json": command(), "commands/a/b/main.sh": "#!/bin/sh\necho ran\n"}
    )
    packages = tmp_path / "packages"
    for name in ("host", "builtin_plugins"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PROJECT / "src" / name, packages / name, ignore=ignored)
    return Copied(packages, made)


def test_the_first_run_writes_it_and_the_next_takes_all_from_it(copied: Copied) -> None:
    assert copied.run() == set()
    assert copied.run() == set(RUN)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda whole: whole[:0],
        lambda whole: whole[12:16],
        lambda whole: whole[:-1],
        lambda whole: whole[:5000],
        lambda whole: whole[:4] + bytes([whole[4] ^ 1]) + whole[5:],
        lambda whole: whole[:9000] + bytes([whole[9000] ^ 1]) + whole[9001:],
        lambda whole: b"\0" * len(whole),
    ],
    ids=["empty", "junk", "a byte short", "cut", "checksum", "one bit", "zeros"],
)
def test_what_is_no_such_file_is_passed_over(
    copied: Copied, spoil: Callable[[bytes], bytes]
) -> None:
    copied.run()
    copied.code.write_bytes(spoil(copied.code.read_bytes()))
    assert copied.run() == set()
    (copied.made.root / "cli.lock").unlink()
    copied.run()
    assert copied.run() == set(RUN)  # it was made anew


def test_a_changed_source_counts_at_once(copied: Copied) -> None:
    copied.run()
    source = copied.packages / "host/run/plan.py"
    text = source.read_text()
    source.write_text(text.replace('"""', '"""x', 1))
    os.utime(source, ns=(1, 1))
    assert copied.run() == set()


def test_packages_that_moved_are_not_taken_from_where_they_were(copied: Copied) -> None:
    copied.run()
    moved = copied.packages.with_name("moved")
    shutil.copytree(copied.packages, moved)
    assert Copied(moved, copied.made).run() == set()


@pytest.mark.parametrize("flags", [["-B"], []], ids=["flag", "directory"])
def test_nothing_is_written_where_python_writes_no_code(copied: Copied, flags: list[str]) -> None:
    if not flags:
        (copied.packages / "host/__pycache__").write_text("")
    assert copied.run(*flags) == set()
    assert not copied.code.exists()


def test_a_listing_writes_it_too(copied: Copied) -> None:
    copied.answer("a")
    assert copied.run() == set(RUN)


def test_safe_mode_writes_nothing(copied: Copied) -> None:
    assert copied.run(words=("--safe", "a", "b")) == set()
    assert not copied.code.exists()

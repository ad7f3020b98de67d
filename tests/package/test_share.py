"""What packagers install below `share`: it is what the program says today, and it is sound."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from types import ModuleType

import pytest

from testing.installation import PROJECT

_PAGE = PROJECT / "release/share/man/man1/cli.1"


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "share", PROJECT / "release" / "share.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_is_what_the_program_says_today() -> None:
    made = generator()
    there = {
        str(file.relative_to(made.SHARE)): file.read_text()
        for file in made.SHARE.rglob("*")
        if file.is_file()
    }
    date = re.search(r'^\.TH CLI 1 "([\d-]+)"', there[made.PAGE], re.MULTILINE)
    assert date is not None
    assert there == made.files(date[1]), "run release/share.py"


@pytest.mark.parametrize(
    ("words", "needs"),
    [
        (["mandoc", "-Tlint", "-Wall"], "mandoc"),
        (["man", "--warnings", "-E", "UTF-8", "-Tutf8", "-Z", "-l"], "man"),
    ],
    ids=["mandoc", "man"],
)
def test_the_man_page_is_sound(words: list[str], needs: str) -> None:
    if not shutil.which(needs):
        pytest.skip(f"needs {needs}")
    done = subprocess.run([*words, _PAGE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    if needs == "mandoc":
        assert done.stdout == ""

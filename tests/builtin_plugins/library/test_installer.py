"""What the installer of the program's environment says when it fails."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from builtin_plugins.plugins.installer import (
    Installer,
    find_false,
)
from host import OperationError

LINE = "A line of what was built\n"
FAILURES = {
    "a folder that is not there": (
        "error: Failed to read `--find-links` directory: /nope\n"
        "  cause: No such file or directory (os error 2)\n",
        "Failed to read `--find-links` directory: /nope cause: No such file or directory "
        "(os error 2)",
    ),
    "lines before the error": (f"{LINE}ERROR: one\n\n  two\n", "one two"),
    "no error": ("one\ntwo\n", "one two"),
    "nothing": ("", "failed"),
    "much": (f"error: {'a' * 800}\n{'b' * 800}\n", f"{'a' * 200} … {'b' * 400}"),
}


@pytest.mark.parametrize(("printed", "told"), FAILURES.values(), ids=FAILURES)
def test_a_failure_of_uv_is_told_with_what_it_failed_at(
    tmp_path: Path, printed: str, told: str
) -> None:
    uv = tmp_path / "uv"
    uv.write_text(f"#!/bin/sh\ncat >&2 <<'TEXT'\n{printed}TEXT\nexit 2\n")
    uv.chmod(0o755)
    with pytest.raises(OperationError) as failure:
        Installer({"PATH": f"{tmp_path}:/usr/bin:/bin"}, 60, ()).uv("pip", "compile")
    assert str(failure.value) == f"uv pip compile: {told}"


@pytest.mark.parametrize("path", [os.environ["PATH"], "", "/nonexistent"])
def test_the_interpreter_of_builds_that_nobody_allowed_fails(path: str) -> None:
    program = find_false({"PATH": path})
    assert os.path.isabs(program)
    assert subprocess.run([program, "-c", ""], check=False).returncode == 1

"""What `--version` says, with an installation and without one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import importlib_metadata
import pytest

from testing.installation import Made

Install = Callable[..., Made]
OWN = f"cli-host {importlib_metadata.version('cli-host')}\n"


@pytest.mark.parametrize("words", [["--version"], ["-V"], ["self", "version"]], ids=" ".join)
def test_the_version_with_and_without_an_installation(
    install: Install, tmp_path: Path, words: list[str]
) -> None:
    made = install()
    assert made.run(*words).all == (0, "Test CLI 1.2.3\n", "")
    nowhere = {"CLI_DIR": str(tmp_path / "nowhere")}
    assert made.run(*words, env=nowhere).all == (0, OWN, "")
    assert made.run("--safe", *words, env=nowhere).all == (0, OWN, "")
    made.write({"core/cli.json": "{"})
    assert made.run(*words).status == 1

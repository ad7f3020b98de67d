"""Projects: which are found, who wins, and that nothing of one runs before it is trusted."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.installation import Made, command

NOBODY = 65534
BUILD = """#!/bin/bash
# Build the shop.
touch "$HOME/ran"
echo build "$PROJECT_DIR" "$PWD" "$X" "$@"
"""
RUNS = '#!/bin/bash\ntouch "$HOME/ran"\necho candidate\n'
ENVS = {"name": "webshop", "envs": {"X": "$PROJECT_DIR/x"}}
SHOP = {
    ".cli/project.json": ENVS,
    ".cli/commands/build": BUILD,
    ".cli/commands/db/category.json": {"name": "db", "envs": {"Y": "y"}},
    ".cli/commands/db/drop/command.json": command(
        effects="destroy", args=[{"name": "table", "complete": "tables"}]
    ),
    ".cli/commands/db/drop/main.sh": '#!/bin/bash\ntouch "$HOME/ran"\necho drop "$X" "$Y"\n',
    ".cli/commands/db/drop/tables": RUNS,
}
only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


class Shop:
    """A project `root`, an installation, and how to run it from inside the project."""

    def __init__(self, made: Made, root: Path) -> None:
        self.made, self.root = made, root
        self.write(SHOP)
        (made.home / "ran").unlink(missing_ok=True)

    def write(self, files: dict[str, object]) -> None:
        Made(self.root, self.made.launcher, self.made.home).write(files)  # type: ignore[arg-type]

    def run(self, *words: str, at: Path | None = None, **env: str):
        return self.made.run(*words, env=env, cwd=at or self.root)

    def trust(self) -> None:
        done = self.run("self", "trust", "--yes")
        assert done.all == (0, f"{self.root}: trusted\n", "")

    @property
    def ran(self) -> bool:
        return (self.made.home / "ran").exists()

    @property
    def state(self) -> Path:
        return self.made.home / ".local/state/cli-host/trusted.json"

    def refusal(self, words: str, why: str = "is not trusted") -> tuple[int, str, str]:
        to_trust = f"to trust it: cli self trust {self.root} --yes; in CI set CLI_TRUST={self.root}"
        line = f"cli: {words}: the project {self.root} {why}, so nothing of it runs; {to_trust}\n"
        return 1, "", line


@pytest.fixture
def shop(install: Callable[..., Made], tmp_path: Path) -> Shop:
    return Shop(install({}), tmp_path / "shop")


def test_a_trusted_project_runs_in_the_callers_directory(shop: Shop) -> None:
    below = shop.root / "src/deep"
    below.mkdir(parents=True)
    assert shop.run("build", "-x", at=below).all == shop.refusal("build")
    assert not shop.ran
    shop.trust()
    expected = f"build {shop.root} {below} {shop.root}/x -x y\n"
    assert shop.run("build", "-x", "y", at=below, PROJECT_DIR="/other").all == (0, expected, "")
    assert shop.run("db", "drop", "t").all == (0, f"drop {shop.root}/x y\n", "")
    assert shop.run("build", at=shop.root.parent).status == 2


def test_what_is_remembered(shop: Shop) -> None:
    shop.trust()
    assert shop.state.stat().st_mode & 0o777 == 0o600
    [(root, files)] = json.loads(shop.state.read_text())["projects"].items()
    assert root == str(shop.root)
    assert sorted(files) == [
        ".cli/commands/build",
        ".cli/commands/db/category.json",
        ".cli/commands/db/drop/command.json",
        ".cli/project.json",
    ]
    assert all(len(one) == 64 for one in files.values())

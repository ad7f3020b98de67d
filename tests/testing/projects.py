"""A project beside an installation, and runs from inside it."""

from __future__ import annotations

from pathlib import Path

from testing.installation import Made, command

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
        what = f"the project {self.root} {why}, so its commands do not run"
        return 1, "", f"cli: {words}: {what}; {to_trust}\n"

"""An installation in a temporary directory, and runs of its own command line."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from testing.fork_server import import_too
from testing.installation import Installed, builder

import_too("click")


class Cli(Installed):
    """An installation and its user's home."""

    @property
    def environ(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER")
               for what in ("NAME", "EMAIL")},
        }  # fmt: skip

    def command(self, words: str, **definition: object) -> None:
        """Write a command into the installation."""
        folder = self.root / "commands" / words.replace(" ", "/")
        folder.mkdir(parents=True, exist_ok=True)
        usual = {
            "name": words.title(),
            "description": f"Do {words}",
            "entrypoint": "main.sh",
        }
        (folder / "command.json").write_text(json.dumps(usual | definition))
        (folder / "main.sh").write_text("echo ran\n")

    def category(self, words: str, **definition: object) -> None:
        folder = self.root / "commands" / words.replace(" ", "/")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "category.json").write_text(json.dumps(definition))

    def run(
        self, *words: str, env: dict[str, str] | None = None
    ) -> tuple[int, str, str]:
        """Return status, stdout and stderr; the current directory is the user's home."""
        done = self.installed.run(*words, env=self.environ | (env or {}), cwd=self.home)
        return done.all

    def git(self, *arguments: str) -> None:
        subprocess.run(
            ["git", "-C", self.root, *arguments],
            env=self.environ,
            check=True,
            capture_output=True,
        )


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """An installation with commands that deploy."""
    made = Cli(builder(tmp_path)(program="acme"))
    made.category("deploy", name="Deploy", description="Bring it to the servers")
    arguments: list[dict[str, Any]] = [
        {
            "name": "env",
            "required": True,
            "choices": ["dev", "prod"],
            "description": "Where to.",
        },
        {
            "name": "--jobs",
            "short": "-j",
            "value": "N",
            "type": "integer",
            "default": "4",
        },
        {"name": "--force", "description": "Do it all the same"},
    ]
    made.command(
        "deploy app",
        description="Deploy the application",
        args=arguments,
        envs={"DEPLOY_URL": "https://user:hush@example.org"},
        required_envs=["DEPLOY_TOKEN"],
        effects="destroy",
        confirm="Deploy it now?",
        requires=["kubectl", {"program": "jq", "version": ">=1.6"}],
        secrets={"DB_PASSWORD": "op://prod/db/password"},
        examples=[{"command": "app dev -j 2", "description": "try it"}],
    )
    made.command("deploy status", effects="read", aliases=["st"])
    made.command("deploy old", hidden=True)
    return made

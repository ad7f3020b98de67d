"""A team for tests: its repository, a plugin in a repository of its own, and a colleague."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from testing.installation import Made, Result
from testing.plugin_sources import Repository, plugin_files

CLI = {"name": "acme", "description": "Acme's own", "version": "1.0.0"}

# A registry.json with a directory that is not in the repository.
LINKED = {
    "version": "1.0.0",
    "plugins": [{"name": "lk", "kind": "local", "source": "/tmp"}],
}


def script(says: str) -> str:
    return f"#!/bin/sh\n# Says {says}\necho {says}\n"


def registry_of(plugin: Repository) -> dict[str, Any]:
    """Return a registry.json with the newest commit of the plugin `ops`."""
    commit = plugin.git("rev-parse", "HEAD")
    entry = {"name": "ops", "kind": "git", "source": plugin.url, "commit": commit}
    return {"version": "1.0.0", "plugins": [entry]}


class Team:
    """A team's repository with the command `deploy staging` and the plugin `ops`."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.plugin = Repository(place / "ops", plugin_files("ops/hi"))
        self.files = {
            "core/cli.json": CLI,
            "commands/deploy/staging.sh": script("staging"),
            "plugins/registry.json": registry_of(self.plugin),
        }
        self.repository = Repository(place / "team", self.files)
        self.root = place / "home/.local/share/acme"
        self.colleague = Made(self.root, self.root / "core/acme", place / "home")
        self.colleague.home.mkdir()

    def init(self, source: str = "", *words: str, **options: object) -> Result:
        """Run `cli self init --from SOURCE` as pip installs `cli`."""
        given = ["self", "init", "--from", source or self.repository.url, *words]
        cli = Path(sys.executable).with_name("cli")
        env = {"SHELL": "/bin/bash", "PATH": self.path} | dict(options.pop("env", {}))  # type: ignore[call-overload]
        return self.colleague.run(*given, executable=cli, env=env, **options)

    @property
    def path(self) -> str:
        return f"{self.colleague.home}/.local/bin:{os.environ['PATH']}"

    def status(self) -> str:
        """Return what git says of the colleague's installation."""
        return Repository.git(self._checkout(), "status", "--porcelain")

    def _checkout(self) -> Repository:
        checkout = Repository.__new__(Repository)
        checkout.path = self.root
        return checkout

    def git(self, *words: str) -> str:
        """Run git in the colleague's installation."""
        return self._checkout().git(*words)

    def change(self) -> None:
        """Add a command and a command of the plugin, as a second person does."""
        self.plugin.commit(plugin_files("ops/bye"))
        files = {"commands/deploy/prod.sh": script("prod")}
        self.repository.commit(
            {**files, "plugins/registry.json": registry_of(self.plugin)}
        )

"""The two ways in which this program came, and how each brings its newest version.

Both change a copy of the environment and swap it in, so that the old version works
until the new one is whole.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from contextlib import ExitStack
from dataclasses import replace

import importlib_metadata

import host
from builtin_plugins.fetch.addresses import without_credentials
from builtin_plugins.files.atomic import undoing, uninterrupted
from builtin_plugins.files.exchange import exchange
from builtin_plugins.git.call import Git
from builtin_plugins.git.fast_forward import FastForward
from builtin_plugins.git.login import login_of
from builtin_plugins.plugin_changes.kinds.kind import Work
from builtin_plugins.self_commands.core_files import (
    RENEWED,
    renew_launcher,
    staged_libraries,
    stages,
)
from builtin_plugins.self_commands.launcher import launcher_of
from builtin_plugins.venv.check import check_starts
from builtin_plugins.venv.copy import VenvCopy, copied_environment
from host import OperationError
from host.planning.loading import OWN_DISTRIBUTION
from host.run.importing import complete_import_path
from host.run.installation import Layout


class PackageUpdate:
    """A distribution installed with pip; `now` is the version that is here."""

    def __init__(self, layout: Layout) -> None:
        complete_import_path()
        self.layout = layout
        self.now = str(importlib_metadata.version(OWN_DISTRIBUTION))
        self._copy: VenvCopy | None = None

    def look(self, work: Work) -> str:
        """Return the newest version, "" when it is here; changes nothing."""
        # A kill after the program's swap leaves it, and then there is nothing to bring.
        for stage in stages(self.layout.core_dir):
            shutil.rmtree(stage, ignore_errors=True)
        copy = work.exits.enter_context(copied_environment(work.reporter.info))
        copy.change(work.installer, "install", "--upgrade", OWN_DISTRIBUTION)
        self._copy = copy
        found = check_starts(copy.python, "the new version")
        return "" if found == self.now else found

    def bring(self, work: Work) -> None:
        """Put the newest version in place; raises HostError or OSError, and nothing changed."""
        work.reporter.debug("the new version is whole; it takes the old one's place")
        if self._copy is None:
            raise AssertionError("look comes before bring")
        copy = self._copy
        with ExitStack() as renewed, undoing() as undo:
            for name in RENEWED:  # before the program: a kill leaves what is taken for the new
                here = os.path.join(self.layout.core_dir, name)
                former, new = _shipped(copy.prefix, name), _shipped(copy.path, name)
                staging = staged_libraries(here, former, new, work.reporter.warn)
                if staged := renewed.enter_context(staging):
                    exchange(staged, here)
                    undo.callback(exchange, staged, here)
            copy.swap(undo)
            renew_launcher(launcher_of(self.layout), undo)


class CheckoutUpdate:
    """A git checkout that install.sh made an installation, with its environment in .venv."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.root = layout.root
        self.now = ""
        self._old = self._new = ""

    def look(self, work: Work) -> str:
        git = self._git(work)
        self._old = git("rev-parse", "HEAD").decode().strip()
        self.now = _version_at(git, self._old)
        branch = _said(git, "symbolic-ref", "--quiet", "HEAD").removeprefix("refs/heads/")
        if not branch:
            raise OperationError(f"{self.root}: is on no branch", "run: git switch main")
        remote = _said(git, "config", f"branch.{branch}.remote") or "origin"
        merge = _said(git, "config", f"branch.{branch}.merge") or f"refs/heads/{branch}"
        address = _said(git, "remote", "get-url", remote)
        if not address or address.startswith("-"):
            raise OperationError(f"{self.root}: has no remote to update from")
        login = login_of(address)
        if login is not None:
            git, address = replace(git, login=login), without_credentials(address)
        git(
            *("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"),
            *("--", address, f"+{merge}:refs/cli/update"),
            stall=True,
        )
        self._new = git("rev-parse", "refs/cli/update").decode().strip()
        here = _said(git, "merge-base", self._new, self._old) == self._new
        return "" if here else _version_at(git, self._new)

    def bring(self, work: Work) -> None:
        """Install the new commit into a copy of .venv, swap it in, then fast-forward the files.

        A kill in between leaves the new program with the old files; the next update,
        which starts from those, brings them too.
        """
        git = self._git(work)
        FastForward(git, self._old, self._new).check()
        copy = work.exits.enter_context(copied_environment(work.reporter.info))
        source = os.path.join(work.stage.path, "source.tar.gz")
        git("archive", "--prefix=source/", f"--output={source}", self._new)
        work.reporter.info("pip installs the new version")
        whole = ("--upgrade", "--force-reinstall", "--no-deps")
        copy.change(work.installer, "install", *whole, source)
        copy.change(work.installer, "install", source)
        check_starts(copy.python, "the new version")
        with uninterrupted(), undoing() as undo:
            copy.swap(undo)
            renew_launcher(launcher_of(self.layout), undo)
            FastForward(self._git(work), self._old, self._new).go()

    def _git(self, work: Work) -> Git:
        return Git(
            self.root, work.environ, time.monotonic() + work.seconds, held=work.stage.descriptor
        )


def _version_at(git: Git, commit: str) -> str:
    """Return the version that a commit has, and its name shortened."""
    import tomllib

    try:
        project = tomllib.loads(git("show", f"{commit}:pyproject.toml").decode())["project"]
        return f"{project['version']} ({commit[:12]})"
    except (OperationError, LookupError, TypeError, ValueError):
        return commit[:12]


def _said(git: Git, *arguments: str) -> str:
    try:
        return git(*arguments).decode("utf-8", "replace").strip()
    except OperationError:
        return ""


def _shipped(prefix: str, name: str) -> str:
    """Return where an environment has what comes with this program for an installation's core."""
    package = os.path.relpath(os.path.dirname(host.__file__), sys.prefix)
    return os.path.join(prefix, package, "skeleton", "core", name)

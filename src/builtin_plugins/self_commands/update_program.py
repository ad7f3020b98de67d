"""The two ways in which this program came, and how each brings its newest version.

Both change a copy of the environment and swap it in, so that the old version works
until the new one is whole.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Protocol

import importlib_metadata

import host
from builtin_plugins.fetch.addresses import without_credentials
from builtin_plugins.files.atomic import sync_file_system
from builtin_plugins.files.exchange import exchange_or_raise
from builtin_plugins.git.call import Git
from builtin_plugins.git.files import write_tree
from builtin_plugins.git.login import login_of
from builtin_plugins.plugin_changes.kinds.kind import Work
from builtin_plugins.self_commands.checkout_files import move_files
from builtin_plugins.self_commands.core_files import renew_launcher, staged_libraries
from builtin_plugins.venv.check import check_starts
from builtin_plugins.venv.copy import VenvCopy, copied_environment
from builtin_plugins.venv.pip import run_pip
from host.errors import OperationError
from host.planning.loading import OWN_DISTRIBUTION
from host.run.importing import complete_import_path
from host.run.installation import Layout

_AREA = "cli-update"


class Update(Protocol):
    """A way to the newest version; `now` is what is here."""

    now: str

    def look(self, work: Work) -> str:
        """Return the newest version, "" when it is here; changes nothing."""

    def bring(self, work: Work) -> None:
        """Put the newest version in place; raises HostError or OSError, and nothing changed."""


class PackageUpdate:
    """A distribution installed with pip."""

    def __init__(self, layout: Layout) -> None:
        complete_import_path()
        self.layout = layout
        self.now = str(importlib_metadata.version(OWN_DISTRIBUTION))
        self._copy: VenvCopy | None = None

    def look(self, work: Work) -> str:
        copy = work.exits.enter_context(copied_environment())
        run_pip(
            copy.python,
            ["install", "--upgrade", OWN_DISTRIBUTION],
            work.environ,
            work.seconds,
            copy.held,
        )
        self._copy = copy
        found = check_starts(copy.python, "the new version")
        return "" if found == self.now else found

    def bring(self, work: Work) -> None:
        work.reporter.detail("the new version is whole; it takes the old one's place")
        if self._copy is None:
            raise AssertionError("look comes before bring")
        copy = self._copy
        libraries, former = self.layout.lib_dir, _shipped(copy.prefix)
        renewed = staged_libraries(libraries, former, _shipped(copy.path), work.reporter.warn)
        with renewed as staged, ExitStack() as undo:
            if staged:  # before the program: what a kill leaves is then taken for the new one's
                exchange_or_raise(staged, libraries)
                undo.callback(exchange_or_raise, staged, libraries)
            copy.swap()
            undo.callback(copy.swap_back)
            renew_launcher(launcher_of(self.layout), sys.executable)
            undo.pop_all()


class CheckoutUpdate:
    """A git checkout that install.sh made an installation, with its environment in .venv."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.root = layout.root
        self.now = ""
        self._new = ""
        self._branch = ""

    def look(self, work: Work) -> str:
        git = self._git(work)
        self.now = git("rev-parse", "HEAD").decode().strip()
        self._branch = _said(git, "symbolic-ref", "--quiet", "HEAD").removeprefix("refs/heads/")
        if not self._branch:
            raise OperationError(f"{self.root}: is on no branch; run: git switch main")
        remote = _said(git, "config", f"branch.{self._branch}.remote") or "origin"
        merge = _said(git, "config", f"branch.{self._branch}.merge") or f"refs/heads/{self._branch}"
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
        return "" if self._is_ancestor(git, self._new, self.now) else self._new[:12]

    def bring(self, work: Work) -> None:
        """Install the new commit into a copy of .venv, then move the files, then swap."""
        git = self._git(work)
        if not self._is_ancestor(git, self.now, self._new):
            raise OperationError(
                f"{self.root}: has commits of its own, so it cannot be fast-forwarded; run: "
                "git pull --rebase, then install.sh"
            )
        self._check_clean(git, self._changed(git))
        copy = work.exits.enter_context(copied_environment())
        area = work.exits.enter_context(self._area())
        tree = os.path.join(area, "source")
        write_tree(git, self._new, tree, self.root)
        work.reporter.info("pip installs the new version")
        run_pip(
            copy.python,
            ["install", "--upgrade", "--force-reinstall", "--no-deps", tree],
            work.environ,
            work.seconds,
            copy.held,
        )
        run_pip(copy.python, ["install", tree], work.environ, work.seconds, copy.held)
        check_starts(copy.python, "the new version")
        with ExitStack() as undo:
            copy.swap()
            undo.callback(copy.swap_back)
            self._move_files(git, area, tree, undo)
            renew_launcher(launcher_of(self.layout), sys.executable)
            undo.pop_all()

    @contextmanager
    def _area(self) -> Iterator[str]:
        """Give an empty directory where git looks for no files, on their file system."""
        area = os.path.join(self.root, ".git", _AREA)
        shutil.rmtree(area, ignore_errors=True)  # what a killed update left
        try:
            os.mkdir(area)
            yield area
        finally:
            shutil.rmtree(area, ignore_errors=True)

    def _move_files(self, git: Git, area: str, tree: str, undo: ExitStack) -> None:
        """Bring the working tree to the new commit, each file whole; then index and branch.

        A kill in between leaves old and new files side by side; the next update, which
        still starts at the old commit, goes on from there.
        """
        sync_file_system(area)
        move_files(self._changed(git), tree, self.root, os.path.join(area, "kept"), undo)
        index, fresh = os.path.join(self.root, ".git", "index"), os.path.join(area, "index")
        git("read-tree", f"--index-output={fresh}", self._new)
        undo.callback(os.rename, shutil.copy2(index, f"{fresh}.kept"), index)
        os.rename(fresh, index)
        sync_file_system(self.root)
        branch = f"refs/heads/{self._branch}"
        git("update-ref", branch, self._new, self.now)
        undo.callback(git, "update-ref", branch, self.now, self._new)

    def _changed(self, git: Git) -> list[str]:
        listed = git("diff", "--name-only", "--no-renames", "-z", self.now, self._new)
        return [os.fsdecode(name) for name in listed.split(b"\0") if name]

    def _check_clean(self, git: Git, changed: list[str]) -> None:
        """Raise OperationError when a file to be replaced has changes of the user's own."""
        for name in changed:
            target = os.path.join(self.root, name)
            if os.path.isdir(target) and not os.path.islink(target):
                continue  # its files are in the list themselves
            there = _hash_of(target)
            if there not in (_blob(git, self.now, name), _blob(git, self._new, name)):
                raise OperationError(
                    f"{target}: has changes of yours; commit them, or undo them with: "
                    f"git checkout -- {name}"
                )

    def _git(self, work: Work) -> Git:
        return Git(
            self.root, work.environ, time.monotonic() + work.seconds, held=work.stage.descriptor
        )

    def _is_ancestor(self, git: Git, one: str, other: str) -> bool:
        return git("merge-base", one, other).decode().strip() == one


def _said(git: Git, *arguments: str) -> str:
    try:
        return git(*arguments).decode("utf-8", "replace").strip()
    except OperationError:
        return ""


def _blob(git: Git, commit: str, name: str) -> str:
    """Return git's name for the content of a file or link in `commit`, "" where there is none."""
    _, kind, found = (_said(git, "ls-tree", "--full-tree", commit, "--", name).split() + [""] * 3)[
        :3
    ]
    return found if kind == "blob" else ""


def _hash_of(path: str) -> str:
    """Return git's name for the content of a file or link, "" where there is none."""
    import hashlib

    try:
        if os.path.islink(path):
            content = os.fsencode(os.readlink(path))
        else:
            with open(path, "rb") as file:
                content = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()  # noqa: S324 - git's


def launcher_of(layout: Layout) -> str:
    return os.path.join(layout.core_dir, layout.program)


def _shipped(prefix: str) -> str:
    """Return where an environment has the libraries that come with this program."""
    package = os.path.relpath(os.path.dirname(host.__file__), sys.prefix)
    return os.path.join(prefix, package, "skeleton", "core", "lib")

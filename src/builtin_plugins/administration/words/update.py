"""`self update`: this program itself, from its git checkout or through pip.

Both change a copy of the environment and swap it in, so that the old version works
until the new one is whole.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import importlib_metadata

from builtin_plugins.administration.plugins.transaction import Transaction, transaction
from builtin_plugins.administration.program.environment.copy import (
    VenvCopy,
    ask,
    check_starts,
    copied_environment,
)
from builtin_plugins.administration.program.environment.installations import is_launcher
from builtin_plugins.administration.program.launcher import (
    is_of_other_version,
    launcher_of,
    write_launcher,
)
from builtin_plugins.administration.program.shipped_files import (
    catch_up,
    renew,
    skeleton_in,
)
from builtin_plugins.administration.questions import confirm
from builtin_plugins.io.addresses import without_credentials
from builtin_plugins.io.files.atomic import write_file
from builtin_plugins.io.files.undo import signals_blocked, undoing
from builtin_plugins.io.git.call import Git, login_of
from builtin_plugins.io.git.fast_forward import check_fast_forward, fast_forward
from builtin_plugins.io.self_options import checked_timeout
from host import OperationError, UsageError
from host.cli.session import Session
from host.hookspecs import OWN_DISTRIBUTION
from host.run.importing import complete_import_path
from host.run.installation import Layout


def command(session: Session, check: bool, format: str, yes: bool, timeout: float) -> None:
    """Bring this program to its newest version.

    A git checkout made an installation by install.sh is fast-forwarded and installed
    again; an installed package is upgraded with pip. Your commands, configuration and
    plugins stay. If anything fails, the old version goes on working.
    """
    if format == "json" and not check:
        raise UsageError("--format goes with --check")
    with transaction(session, checked_timeout(timeout)) as tx:
        root = Path(session.layout.root)
        is_checkout = (root / ".git").is_dir() and (root / "pyproject.toml").is_file()
        look = _checkout_update if is_checkout else _package_update
        update = look(session.layout, tx)
        if check and format == "json":
            session.show_json({"version": update.now, "newest": update.newest})
            return
        if update.newest == update.now:
            session.show_lines(f"{update.now} is the newest")
            launcher = launcher_of(session.layout)
            if not check and is_of_other_version(launcher):  # as a killed update leaves it
                write_launcher(Path(launcher), replace=True)
            if not check and not is_checkout:  # as pipx leaves it
                catch_up(session.layout.root, tx.reporter.warn)
            return
        session.show_lines(f"{update.now} → {update.newest}")
        if check:
            return
        confirm("Update?", yes, "stays as it is")
        update.bring()
    session.show_lines("updated")


class _Update(NamedTuple):
    """The version that is here, the newest (the same where that is it), and what brings it.

    `bring` raises HostError or OSError, and nothing changed.
    """

    now: str
    newest: str
    bring: Callable[[], None]


def _package_update(layout: Layout, tx: Transaction) -> _Update:
    """Return the update of a distribution, which pip puts into a copy of the environment."""
    complete_import_path()
    now = str(importlib_metadata.version(OWN_DISTRIBUTION))
    copy = tx.exits.enter_context(copied_environment(tx.reporter.info))
    copy.change(tx.installer, "install", "--upgrade", OWN_DISTRIBUTION)

    def bring() -> None:
        tx.reporter.debug("the new version is whole; it takes the old one's place")
        with signals_blocked(), undoing() as undo:
            # Before the program: what a kill leaves then is taken up by the next update.
            renew(layout.root, tx.reporter.warn, undo, skeleton_in(copy.path))
            _swap_in(copy, layout, undo)

    return _Update(now, check_starts(copy.python, "the new version"), bring)


def _checkout_update(layout: Layout, tx: Transaction) -> _Update:
    """Return the update of a checkout that install.sh made an installation, with its .venv."""
    git = Git(layout.root, tx.environ, tx.seconds, (tx.descriptor,))
    old = git("rev-parse", "HEAD").decode().strip()
    new = _fetched(git)

    def bring() -> None:
        """Install the new commit into a copy of .venv, swap it in, then fast-forward the files.

        A kill in between leaves the new program with the old files; the next update,
        which starts from those, brings them too.
        """
        check_fast_forward(git, old, new)
        copy = tx.exits.enter_context(copied_environment(tx.reporter.info))
        source = os.path.join(tx.area, "source.tar.gz")
        git("archive", "--prefix=source/", f"--output={source}", new)
        tx.reporter.info("pip installs the new version")
        whole = ("--upgrade", "--force-reinstall", "--no-deps")
        copy.change(tx.installer, "install", *whole, source)
        copy.change(tx.installer, "install", source)
        check_starts(copy.python, "the new version")
        with signals_blocked(), undoing() as undo:
            _swap_in(copy, layout, undo)
            fast_forward(git, old, new)

    now = _version_at(git, old)
    is_here = _said(git, "merge-base", new, old) == new
    return _Update(now, now if is_here else _version_at(git, new), bring)


def _fetched(git: Git) -> str:
    """Fetch the newest commit of the branch of a checkout from where that comes; return it."""
    branch = _said(git, "symbolic-ref", "--quiet", "HEAD").removeprefix("refs/heads/")
    if not branch:
        raise OperationError(f"{git.directory}: is on no branch", "run: git switch main")
    remote = _said(git, "config", f"branch.{branch}.remote") or "origin"
    merge = _said(git, "config", f"branch.{branch}.merge") or f"refs/heads/{branch}"
    address = _said(git, "remote", "get-url", remote)
    if not address or address.startswith("-"):
        raise OperationError(f"{git.directory}: has no remote to update from")
    login = login_of(address)
    asking = replace(git, login=login)
    asking(
        *("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"),
        *("--", without_credentials(address) if login else address),
        f"+{merge}:refs/cli/update",
    )
    return git("rev-parse", "refs/cli/update").decode().strip()


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


def _swap_in(copy: VenvCopy, layout: Layout, undo: ExitStack) -> None:
    """Swap the new environment in, and let the version in it write its launcher.

    That version is asked as a user would ask it, as nothing else of it is known here.
    Raises OSError, OperationError when it cannot; the old launcher is there then.
    """
    copy.swap(undo)
    path = launcher_of(layout)
    if not is_launcher(path):
        return
    with open(path, "rb") as file:
        undo.callback(write_file, path, file.read())
    failing = f"{path}: cannot be renewed"
    ask(sys.executable, "host", "--safe", "self", "launcher", path, failing=failing)

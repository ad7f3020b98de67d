"""`self update`: this program itself, from its git checkout or through pip.

Both change a copy of the environment and swap it in, so that the old version works
until the new one is whole.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from contextlib import ExitStack

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
    launcher_of,
    renew_own_files,
)
from builtin_plugins.administration.program.shipped_files import is_checkout
from builtin_plugins.administration.questions import confirm
from builtin_plugins.io.files.atomic import write_file
from builtin_plugins.io.files.undo import signals_blocked, undoing
from builtin_plugins.io.git.call import Git
from builtin_plugins.io.git.fast_forward import check_fast_forward, fast_forward
from builtin_plugins.io.self_options import checked_timeout
from host import UsageError
from host.cli.session import Session
from host.hookspecs import OWN_DISTRIBUTION
from host.run.importing import complete_import_path
from host.run.installation import Layout

# The version that is here, the newest (the same if that is it), and what brings it: that raises
# HostError or OSError, and then nothing changed.
_Update = tuple[str, str, Callable[[], None]]


def command(session: Session, check: bool, format: str, yes: bool, timeout: float) -> None:
    """Update this program.

    A git checkout made an installation by install.sh is fast-forwarded and installed
    again; an installed package is upgraded with pip. Your commands, configuration and
    plugins stay. If anything fails, the old version goes on working.
    """
    if format == "json" and not check:
        raise UsageError("--format goes with --check")
    layout = session.layout
    with transaction(session, checked_timeout(timeout)) as tx:
        look = _checkout_update if is_checkout(layout.root) else _package_update
        now, newest, bring = look(layout, tx)
        if format == "json":
            session.show_json({"version": now, "newest": newest})
            return
        session.show_lines(f"{now} is the newest" if now == newest else f"{now} → {newest}")
        if check:
            return
        if now == newest:
            if is_launcher(launcher_of(layout)):  # what a killed update, or pipx, left as it was
                renew_own_files(launcher_of(layout), tx.reporter.warn)
            return
        confirm("Update?", yes, "nothing was changed")
        bring()
    session.show_lines("updated")


def _package_update(layout: Layout, tx: Transaction) -> _Update:
    """Return the update of a distribution, which pip puts into a copy of the environment."""
    complete_import_path()
    now = str(importlib_metadata.version(OWN_DISTRIBUTION))
    copy = tx.exits.enter_context(copied_environment(tx.reporter.info))
    copy.change(tx.installer, "install", "--upgrade", OWN_DISTRIBUTION)

    def bring() -> None:
        tx.reporter.debug("the new version is complete; it replaces the old one")
        with signals_blocked(), undoing() as undo:
            _swap_in(copy, layout, tx, undo)

    return now, check_starts(copy.python, "the new version"), bring


def _checkout_update(layout: Layout, tx: Transaction) -> _Update:
    """Return the update of a checkout that install.sh made an installation, with its .venv."""
    git = Git(layout.root, tx.environ, tx.seconds, (tx.descriptor,))
    git("fetch", "--quiet", "--no-tags", "--no-write-fetch-head")
    old, new = git("rev-parse", "HEAD", "@{upstream}").decode().split()

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
            _swap_in(copy, layout, tx, undo)
            fast_forward(git, old, new)

    now = _version_at(git, old)
    is_here = git("rev-list", "--count", f"{old}..{new}").strip() == b"0"
    return now, now if is_here else _version_at(git, new), bring


def _version_at(git: Git, commit: str) -> str:
    """Return the version that a commit has, and its name shortened."""
    project = git("show", f"{commit}:pyproject.toml").decode()
    version = re.search('^version = "(.+)"', project, re.MULTILINE)
    return f"{version[1]} ({commit[:12]})" if version else commit[:12]


def _swap_in(copy: VenvCopy, layout: Layout, tx: Transaction, undo: ExitStack) -> None:
    """Swap the new environment in, and let the version in it renew its own files.

    That version is asked as a user would ask it, as nothing else of it is known here. What a kill
    leaves as it was is renewed by the next update. Raises OSError, OperationError when it cannot.
    """
    copy.swap(undo)
    path = launcher_of(layout)
    if not is_launcher(path):
        return
    with open(path, "rb") as file:
        undo.callback(write_file, path, file.read())
    failing = f"{path}: cannot be updated"
    warnings = ask(sys.executable, "host", "--safe", "self", "launcher", path, failing=failing)
    for line in warnings.splitlines():
        tx.reporter.warn(line)

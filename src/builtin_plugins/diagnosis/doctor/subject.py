"""What the checks of `self doctor` examine, and how they state a finding."""

import os
import shlex
from collections.abc import Callable

from builtin_plugins.program.launcher import launcher_of, launchers_in
from builtin_plugins.registry.registry import (
    Registry,
    RegistryFile,
    read_registry,
)
from builtin_plugins.self_commands.findings import Finding
from host import HostError, Problem, find_program
from host.catalog.catalog import Catalog
from host.catalog.contents import contents
from host.session.session import Session


class Subject:
    """The checked installation, with its lock and commands.

    If the installation cannot be read, `wrong` is the error, and `lock` and `commands` are missing.
    A registry that cannot be read is empty here; the lock has the reason.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.layout = session.layout
        self.environ = session.environ
        self.launchers = launchers_in(self.layout.core_dir, anywhere=True)

        self.wrong: HostError | None = None
        try:
            self.plugins_dir = session.installation.plugins_dir
            self.lock = session.current_lock or session.refresh_lock()
            self.registry = _registry(self.plugins_dir)
            listing = contents(Catalog(self.lock), (), deep=True)
            self.commands = listing.commands
        except HostError as error:
            self.wrong = error

    @property
    def call(self) -> str:
        """Return the program's name or, if that is not on PATH, its path, quoted for a shell."""
        program = self.session.program
        path = launcher_of(self.layout)
        is_on_path = find_program(program, self.environ) is not None
        if is_on_path or not os.access(path, os.X_OK):
            return program
        return shlex.quote(path)


def finding(
    text: str,
    remedy: str,
    fix: Callable[[], object] | None = None,
    *,
    hint: bool = False,
) -> Finding:
    """Return a finding without a check's name; `self doctor` adds the name."""
    return Finding("", Problem("", text, remedy), hint, fix)


def _registry(plugins_dir: str) -> Registry:
    try:
        return read_registry(plugins_dir)
    except HostError:
        return Registry(RegistryFile(""), RegistryFile(""))

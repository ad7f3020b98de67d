"""What the checks of the doctor look at."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from functools import cached_property

from builtin_plugins.administration.pages import Finding
from builtin_plugins.administration.program.environment.installations import launchers_in
from builtin_plugins.administration.program.launcher import launcher_of
from host import Command, HostError, Problem, find_program
from host.cli.contents import contents
from host.cli.session import Session
from host.run.catalog import Catalog


class Subject:
    """An installation and what plugins declare now; `wrong` says why there is none."""

    def __init__(self, session: Session) -> None:
        self.session, self.layout, self.environ = session, session.layout, session.environ
        self.wrong: HostError | None = None
        try:
            self.plugins_dir = session.installation.plugins_dir
            self.lock = session.checked(session.lock_on_disk or session.ask_plugins())
        except HostError as error:
            self.wrong = error

    @cached_property
    def call(self) -> str:
        """Return what starts the program here: its name, or its path where that is not on PATH."""
        path, program = launcher_of(self.layout), self.session.program
        is_usable = find_program(program, self.environ) is None and os.access(path, os.X_OK)
        return shlex.quote(path) if is_usable else program

    @cached_property
    def launchers(self) -> list[str]:
        """Return the paths of the programs in `core`, sorted."""
        return launchers_in(self.layout.core_dir, anywhere=True)

    @cached_property
    def commands(self) -> tuple[Command, ...]:
        return contents(Catalog(self.lock), (), deep=True)[0].commands


def finding(
    text: str, remedy: str, fix: Callable[[], object] | None = None, *, hint: bool = False
) -> Finding:
    """Return what a check found; the table of checks has its name."""
    return Finding("", Problem("", text, remedy), hint, fix)

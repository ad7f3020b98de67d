"""A diagnosis of the doctor: what is wrong, and what mends it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from builtin_plugins.administration.program.environment.installations import launchers_in
from builtin_plugins.administration.program.launcher import launcher_of
from host import Command, HostError, find_program
from host.cli.contents import contents
from host.cli.session import Session
from host.run.catalog import Catalog
from host.run.installation import OpenInstallation
from host.run.lock import Lock


class Diagnosis(NamedTuple):
    """What is wrong, in a line, and its remedy; `fix` applies that where this is safe.

    A `hint` is about the caller's shell, or about what works all the same. `check` has found
    it; `fixed` is what was mended just now.
    """

    message: str
    remedy: str
    fix: Callable[[], object] | None = None
    hint: bool = False
    check: str = ""
    fixed: bool = False

    @property
    def counts(self) -> bool:
        return not self.fixed and not self.hint


class Patient:
    """What is looked at; `wrong` is why there is no installation, None where there is one."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.layout = session.layout
        self.program = session.program
        self.environ: Mapping[str, str] = session.environ
        self.wrong: HostError | None = None
        try:
            session.installation  # noqa: B018 - raises where there is none
        except HostError as error:
            self.wrong = error

    @property
    def installation(self) -> OpenInstallation:
        return self.session.installation

    @cached_property
    def call(self) -> str:
        """Return what starts the program here: its name, or its path where that is not on PATH."""
        path = launcher_of(self.layout)
        if find_program(self.program, self.environ) is None and os.access(path, os.X_OK):
            return shlex.quote(path)
        return self.program

    @cached_property
    def launchers(self) -> list[str]:
        """Return the paths of the programs in `core`, sorted."""
        return launchers_in(self.layout.core_dir, anywhere=True)

    @cached_property
    def lock(self) -> Lock:
        """Return what plugins say now; in safe mode without anybody's Python."""
        return self.session.checked(self.session.lock_on_disk or self.session.ask_plugins())

    @cached_property
    def commands(self) -> tuple[Command, ...]:
        """Return all commands that there are."""
        return contents(Catalog(self.lock), (), deep=True)[0].commands


Check = Callable[[Patient], Iterator[Diagnosis]]

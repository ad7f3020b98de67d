"""A finding of the doctor: what is wrong, and what mends it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from host import HostError
from host.cli.session import Session
from host.planning.discovery import ask
from host.run.installation import OpenInstallation
from host.run.lock import Lock
from host.run.process import find_program


class Finding(NamedTuple):
    """What is wrong, in a line, and its remedy; `fix` applies that where this is safe.

    A `hint` is about the caller's shell, or about what works all the same.
    """

    message: str
    remedy: str
    fix: Callable[[], object] | None = None
    hint: bool = False


def of_error(error: HostError, otherwise: str) -> Finding:
    """Return the finding that an error is, with its own remedy or, without one, `otherwise`."""
    return Finding(error.what, error.remedy or otherwise)


class Patient:
    """What is looked at: the `installation`, or what is `wrong` with it."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.layout = session.layout
        self.environ: Mapping[str, str] = session.environ
        self.wrong: HostError | None = None
        self.installation: OpenInstallation | None = None
        try:
            self.installation = session.installation
        except HostError as error:
            self.wrong = error

    @property
    def program(self) -> str:
        return self.layout.program

    @cached_property
    def call(self) -> str:
        """Return what starts the program here: its name, or its path where that is not on PATH."""
        path = os.path.join(self.layout.core_dir, self.program)
        if find_program(self.program, self.environ) is None and os.access(path, os.X_OK):
            return shlex.quote(path)
        return self.program

    @cached_property
    def launchers(self) -> list[str]:
        """Return the paths of the programs in `core`, sorted."""
        try:
            names = sorted(os.listdir(self.layout.core_dir))
        except OSError:
            return []
        paths = [os.path.join(self.layout.core_dir, name) for name in names]
        return [path for path in paths if _is_launcher(path)]

    @cached_property
    def lock(self) -> Lock:
        """Return what plugins say now; in safe mode without anybody's Python."""
        if self.installation is None:
            return Lock([])
        if self.session.held is not None:
            return self.session.held
        python = not self.session.safe
        return ask(self.installation, directory_hooks=python, python=python)


def _is_launcher(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return b"from host.__main__ import main\n" in file.read(1 << 14)
    except OSError:
        return False


Check = Callable[[Patient], Iterator[Finding]]

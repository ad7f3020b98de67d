"""What a killed change left behind: nothing of it counts, but it takes room."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from builtin_plugins.administration.findings import Finding
from builtin_plugins.administration.plugins.reconcile import reconcile_if_free, was_interrupted
from builtin_plugins.administration.program.environment.copy import VenvCopy
from builtin_plugins.administration.words.doctor.subject import Subject, finding
from builtin_plugins.io.files.atomic import remove_tree
from builtin_plugins.io.files.flock import locked
from builtin_plugins.setup.hooks import ENTRYPOINT, settings_of
from builtin_plugins.store import abandoned
from host import OperationError


def leftovers(subject: Subject) -> Iterator[Finding]:
    """Yield what an interrupted change left behind; what a process works in is none."""
    if was_interrupted(subject.plugins_dir):
        yield finding(
            f"{subject.plugins_dir}: a change of plugins was interrupted",
            f"{subject.call} self plugin list",
            partial(reconcile_if_free, subject.plugins_dir),
        )
    left = [*_copies_of_the_environment()]
    for command in subject.commands:
        if command.definition.entrypoint == ENTRYPOINT:
            left += abandoned(settings_of(command, subject.environ).places.install_dir)
    for path in left:
        text = f"{path} is left of an interrupted change"
        yield finding(text, f"rm -r {shlex.quote(path)}", partial(remove_tree, path))


def _copies_of_the_environment() -> Iterator[str]:
    path = VenvCopy().path
    with suppress(OperationError, OSError), locked(os.path.join(sys.prefix, "pyvenv.cfg")):
        if os.path.isdir(path):
            yield path

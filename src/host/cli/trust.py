"""Ask whether to trust a project, and store the answer (CONTRACT 16)."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from host.cli.contents import Contents, contents
from host.errors import NotConfirmedError, OperationError, Problem
from host.listing_records import Command
from host.planning.cache_files import replace
from host.run.catalog import Catalog
from host.run.command import Definition
from host.run.confirm import ask, is_attended
from host.run.lock import Lock
from host.run.projects import Project
from host.run.text import decode, encode, printable
from host.run.trust import (
    changed_files,
    files_of,
    hash_of,
    not_trusted,
    read_trusted,
    state_file,
    text_of,
)

_YES, _ONCE = ("y", "yes"), ("o", "once")


def ask_trust(
    words: Sequence[str], definition: Definition, program: str, *, may_ask: bool = True
) -> None:
    """Ask whether to trust a command's project; raises NotConfirmedError if the user refuses.

    The first question shows all commands, and a yes trusts all of them. A later question shows
    only the changed files that take effect in this run, and a yes trusts these files.
    """
    project = definition.project
    if project is None:
        return
    if not may_ask or not is_attended():
        raise not_trusted(project, program, words)
    if project.root in read_trusted(project.environ):
        paths = files_of(project, definition.file)
        lines = changed_lines(project, changed_files(project, definition.file))
    else:
        commands = project_contents(project).commands
        lines, paths = new_lines(project, commands), trusted_files(project, commands)
    page = "".join([f"{printable(line)}\n" for line in lines])
    answer = ask(f"{page}Trust it? [y]es, [n]o, [o]nce: ")
    if answer in _YES:
        remember(project, paths)
    elif answer not in _ONCE:
        raise NotConfirmedError(f"{' '.join(words)}: the project is not trusted; nothing was run")


def project_contents(project: Project) -> Contents:
    """Return all contents of a project, including commands that other trees shadow."""
    return contents(Catalog(Lock([]), around=lambda: ([project], [])), (), deep=True)


def trusted_files(project: Project, commands: Iterable[Command]) -> list[str]:
    """Return the files that define these commands; raises DefinitionError for unsafe ones."""
    paths = [path for one in commands for path in files_of(project, one.definition.file)]
    paths = [*dict.fromkeys([project.file, *paths])]
    for path in paths:
        project.check(path)
    return paths


def new_lines(project: Project, commands: Iterable[Command]) -> Iterator[str]:
    """Yield the lines that describe a project before it is trusted for the first time."""
    yield f"The project {project.name} in {project.root} is not trusted yet. Its commands:"
    for one in commands:
        definition = one.definition
        effects = f"[{definition.effects}]{' [sudo]' if definition.sudo else ''}"
        texts = [" ".join(one.words), definition.description, effects]
        yield f"  {'  '.join(filter(None, texts))}"


def changed_lines(project: Project, paths: Iterable[str]) -> Iterator[str]:
    """Yield the new text of files that changed since the project was trusted."""
    yield f"The project {project.name} in {project.root} has changed since it was trusted:"
    for path in paths:
        lines = decode(text_of(path)).splitlines()
        yield f"  {path}{'' if lines else ': removed or empty'}"
        yield from (f"    {line}" for line in lines)


def remember(project: Project, paths: Iterable[str], *, anew: bool = False) -> None:
    """Store these files of a project as trusted; with `anew` forget its other files."""
    hashes = {path[len(project.root) :].lstrip("/"): hash_of(path) for path in paths}

    def update(known: dict[str, dict[str, str]]) -> None:
        before = {} if anew else known.get(project.root, {})
        known[project.root] = {name: one for name, one in (before | hashes).items() if one}

    change_trusted(project.environ, update)


def change_trusted(
    environ: Mapping[str, str], update: Callable[[dict[str, dict[str, str]]], object]
) -> None:
    """Rewrite trusted.json; `update` gets the trusted projects. Raises OperationError.

    Under sudo the file keeps the owner of its directory.
    """
    path = state_file(environ)
    directory = os.path.dirname(path)
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        held = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(held, fcntl.LOCK_EX)
            known = read_trusted(environ)
            update(known)
            text = json.dumps({"projects": known}, indent=2) + "\n"
            if not replace(path, encode(text), 0o600):
                raise OperationError(Problem(path, "cannot be written"))
            if os.geteuid() == 0:
                owner = os.fstat(held)
                os.chown(path, owner.st_uid, owner.st_gid)
        finally:
            os.close(held)
    except OSError as failure:
        raise OperationError(Problem(path, f"cannot be written: {failure.strerror}")) from None

"""`self trust`: decide which projects may run their commands."""

from __future__ import annotations

import os
from collections.abc import Iterable

from builtin_plugins.administration.project import nearest_project
from host import OperationError, UsageError
from host.cli.session import Session
from host.cli.trust import (
    change_trusted,
    new_lines,
    project_contents,
    remember,
    trusted_files,
)
from host.run.confirm import is_agreed, is_attended
from host.run.projects import Project
from host.run.trust import hash_of, read_trusted


def command(
    session: Session, directory: str | None, yes: bool, list: bool, forget: bool, format: str
) -> None:
    """Trust the project in DIRECTORY, by default the nearest one: its commands may run.

    It shows the commands first and asks; with --yes it does not ask. What was trusted and changed
    since is asked for again when it runs. --list shows the trusted projects, and --forget takes
    the trust back. In CI, set CLI_TRUST to the real paths of projects instead.
    """
    if list:
        if directory:
            raise UsageError("--list shows every project and takes no DIRECTORY")
        _list(session, format)
        return
    project = nearest_project(session, directory)
    root = project.root
    if forget:
        change_trusted(session.caller, lambda known: known.pop(root, None))
        session.show_lines(f"{root}: no longer trusted")
    else:
        _trust(session, project, yes)


def _trust(session: Session, project: Project, yes: bool) -> None:
    root = project.root
    if not os.path.isdir(project.commands_dir):
        remedy = f"a project has .{session.program}/commands/"
        raise OperationError(f"{root}: is not a project", remedy)
    for path in (root, project.commands_dir):
        project.check(path)
    commands = project_contents(project).commands
    files = trusted_files(project, commands)
    lines = [*new_lines(project, commands)]
    if not yes:
        if not is_attended():
            raise OperationError(
                f"{root}: there is no terminal to ask on", "to agree without a question, add --yes"
            )
        for line in lines:
            session.messages.line(line)
        if not is_agreed("Trust it?"):
            raise OperationError(f"{root}: is not trusted")
    elif session.terminal.is_interactive:
        session.show_lines(*lines)
    remember(project, files, anew=True)
    session.show_lines(f"{root}: trusted")


def _list(session: Session, format: str) -> None:
    rows = [
        {"path": root, "state": _state(root, files.items())}
        for root, files in sorted(read_trusted(session.caller).items())
    ]
    if format == "json":
        session.show_json({"projects": rows})
    elif rows:
        session.show_lines(*(f"{one['path']}  {one['state']}" for one in rows))
    else:
        session.show_lines("no project is trusted")


def _state(root: str, files: Iterable[tuple[str, str]]) -> str:
    """Return the state of a trusted project: "trusted" (unchanged), "changed" or "gone"."""
    if not os.path.isdir(root):
        return "gone"
    paths = ((os.path.join(root, name), known) for name, known in files)
    same = all(os.path.lexists(path) and hash_of(path) == known for path, known in paths)
    return "trusted" if same else "changed"

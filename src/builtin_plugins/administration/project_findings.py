"""What `self lint` and `self doctor` find in the projects around the current directory."""

from __future__ import annotations

import os
from collections.abc import Iterator

from builtin_plugins.administration.pages import Finding
from host import Command, HostError, Problem
from host.cli.session import Session
from host.cli.trust import project_contents
from host.run.catalog import Catalog
from host.run.lock import Lock
from host.run.projects import Project
from host.run.trust import is_trusted


def commands_in(directory: str, program: str) -> str:
    """Return the directory to check for `directory`: in a project, that of its commands."""
    root = os.path.realpath(directory)
    inside = os.path.join(root, f".{program}", "commands")
    return inside if os.path.isdir(inside) else root


def lint_projects(session: Session) -> Iterator[Finding]:
    """Yield wrong definitions of projects, and hints about commands that other ones hide."""
    projects, wrong = session.installation.around()
    yield from (Finding("project", one) for one in wrong)
    catalog = Catalog(
        session.plugins_known if projects else Lock([]), around=lambda: (projects, [])
    )
    for project in projects:
        inside, problems = project_contents(project)
        yield from (Finding("definition", one) for one in problems)
        for command in inside.commands:
            if winner := _winner(catalog, command):
                words, file = " ".join(command.words), command.definition.file
                text = f"{words} is hidden by {winner}"
                yield Finding("shadowed", Problem(file, text, "rename it"), hint=True)


def _winner(catalog: Catalog, command: Command) -> str:
    """Return what runs instead of a project's command, "" if nothing does."""
    try:
        found = catalog.find(command.words, whole=True)
    except HostError as error:
        return error.problem.path
    definition = found.definition
    if found.words != command.words or definition is None:
        return "the category of these words" if found.words == command.words else found.words[-1]
    if definition.file == command.definition.file:
        return ""
    return definition.file or f"plugin {found.plugin}"


def check_projects(session: Session) -> Iterator[Finding]:
    """Yield the projects that cannot be used, and hints about those that are not trusted."""
    projects, wrong = session.installation.around()
    yield from (Finding("", one) for one in wrong)
    for project in projects:
        commands = project_contents(project)[0].commands
        if not all(is_trusted(one.definition) for one in commands):
            yield Finding("", _not_trusted(session, project), hint=True)


def _not_trusted(session: Session, project: Project) -> Problem:
    text = "commands of this project are not trusted, so they ask before they run"
    return Problem(project.root, text, f"{session.program} self trust {project.root}")

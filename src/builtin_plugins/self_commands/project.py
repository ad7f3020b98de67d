"""Find the nearest project, and make a new one with an example."""

import os
from pathlib import Path

from builtin_plugins.library.files.atomic import write_file
from host import OperationError
from host.asking.ask_trust import introduction, remember
from host.caller import home
from host.projects.project_roots import project_roots
from host.projects.projects import Project
from host.session.session import Session

_EXAMPLE = """\
#!/usr/bin/env bash
# Show where this project is.
echo "This is $PROJECT_DIR; you are in $PWD."
"""


def nearest_project(session: Session, directory: str | None = None) -> Project:
    """Return the project in a directory, by default the nearest one.

    Raises OperationError if neither the current directory nor one above it has a project.
    """
    program = session.program
    environ = session.run_environ
    if directory is not None:
        return Project(os.path.realpath(directory), program, environ)

    for root in project_roots(program, home(environ)):
        return Project(root, program, environ)  # the first root is the nearest
    raise OperationError(
        f"there is no project here: no .{program}/commands in this directory or above it",
        f"to make one: {program} self init --project",
    )


def make_project(session: Session, directory: str) -> None:
    """Make a project with an example command in a directory, and trust the project.

    An existing project is not changed.
    """
    project = nearest_project(session, directory)
    if os.path.lexists(project.folder):
        session.show_lines(f"{project.folder}: already exists")
        return

    example = Path(project.commands_dir) / "where"
    project.check(project.root)
    os.makedirs(project.commands_dir)
    write_file(str(example), _EXAMPLE, 0o755)

    # The user asked for the project, so the example runs without a question.
    _, hashes = introduction(project)
    remember(project, hashes)
    session.show_lines(f"made {example}", f"try it:  {session.program} where")

"""`self trust`: decide which projects may run their commands."""

import os

from builtin_plugins.self_commands.decorator import FORMAT, argument, self_command
from builtin_plugins.self_commands.project import nearest_project
from host import OperationError
from host.asking.ask_trust import change_trusted, introduction, remember
from host.projects.projects import Project
from host.projects.trust import read_trusted
from host.session.session import Session


@self_command(
    "trust",
    "Trust a project, so that its commands may run",
    argument(
        "directory", "A project (default: the nearest one).", complete="directory"
    ),
    argument("--yes", "Do not ask; the global --yes does not answer this question."),
    argument(
        "--list",
        "Show the trusted projects.",
        conflicts=["directory", "--forget", "--yes"],
    ),
    argument("--forget", "Stop trusting the project.", conflicts=["--yes"]),
    FORMAT,
)
def trust(
    session: Session,
    directory: str | None,
    yes: bool,
    list: bool,
    forget: bool,
    format: str,
) -> None:
    """Trust the project in DIRECTORY, so that its commands may run.

    The default is the nearest project. You see its commands and are asked whether you trust
    them, except with --yes. If a trusted file changes, you are asked again at the next run.
    --list shows the trusted projects, and --forget stops trusting one. In CI, set CLI_TRUST to the
    real paths of projects instead.
    """
    if list:
        _show_trusted(session, format)
        return

    project = nearest_project(session, directory)
    if forget:
        change_trusted(session.run_environ, lambda known: known.pop(project.root, None))
        session.show_lines(f"{project.root}: no longer trusted")
    else:
        _trust(session, project, yes)


def _show_trusted(session: Session, format: str) -> None:
    roots = sorted(read_trusted(session.run_environ))
    if format == "json":
        projects = [{"path": root} for root in roots]
        session.show_json({"projects": projects})
    elif roots:
        session.show_lines(*roots)
    else:
        session.show_lines("no project is trusted")


def _trust(session: Session, project: Project, yes: bool) -> None:
    root = project.root
    if not session.installation.config.projects:
        what = f'{session.layout.config_file}: "projects" is false'
        raise OperationError(what, 'to use projects, remove "projects": false')
    if not os.path.isdir(project.commands_dir):
        remedy = f"a project is a directory that contains .{session.program}/commands/"
        raise OperationError(f"{root} is not a project", remedy)

    # The hashes are taken before the question: a file that changes later is not trusted.
    lines, hashes = introduction(project)
    if not yes:
        for line in lines:
            session.messages.line(line)
    session.ask_to_continue("Trust it?", yes, f"{root}: not trusted", required=True)

    remember(project, hashes)
    session.show_lines(f"{root}: trusted")

"""Read the project.json of projects, and leave out the projects that others could have written."""

from host.catalog.definition import Definition
from host.errors import DefinitionError, Problem
from host.files.paths import realpath
from host.projects.projects import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def usable_projects(
    roots: "Iterable[str]",
    program: str,
    commands_dir: str,
    environ: "Mapping[str, str]",
) -> tuple[list[Project], list[Problem]]:
    """Return the projects in these directories, and their problems.

    A project that another user could have written is left out and reported as a problem. The
    directory that contains the installation's own `commands_dir` is not a project either.
    """
    projects: list[Project] = []
    problems: list[Problem] = []
    for root in roots:
        project = Project(root, program, environ)
        if realpath(project.commands_dir) == realpath(commands_dir):
            continue
        try:
            for path in (project.commands_dir, root, project.file):
                project.check(path)
            # With an invalid project.json, each command of the project fails with the reason.
            projects.append(project)
            problems += project_definition(project).warnings
        except DefinitionError as error:
            problems.append(error.problem)
    return projects, problems


def project_definition(project: Project) -> Definition:
    """Return the definition in project.json, which stands above all commands of the project.

    It is empty if the file is missing. Raises DefinitionError.
    """
    # A run needs it twice: for its warnings, and for the defaults of the command.
    definition: Definition | None = project.definition
    if definition is None:
        definition = Definition(project.file, project.fields(), required=False)
        definition.roots = (project.root,)
        project.definition = definition
    return definition

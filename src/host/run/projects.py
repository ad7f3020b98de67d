"""The projects around the current directory, and checks of who can write to their files.

A project is a directory with `.<program>/commands/`. A run of an installation's own command does
not load this module. This module only reads files; `host.run.trust` decides what may run.
"""

import _stat
import posix

from host.errors import DefinitionError, Problem
from host.run.declarations import CommandTree
from host.run.definition import Definition
from host.run.files import basename, dirname, join, realpath
from host.run.json_file import Fields, read_json
from host.run.text import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TRUST = "CLI_TRUST"  # real paths of projects that the caller trusts, separated by `:`


class Project:
    """A project: `root` is its real path, `folder` its `.<program>`, `file` its project.json.

    `tree` has its commands. `environ` is the caller's environment; `is_named` is true if its
    CLI_TRUST names the project.
    """

    def __init__(self, root: str, program: str, environ: "Mapping[str, str]") -> None:
        self.root = root
        self.folder = join(root, f".{program}")
        self.commands_dir = f"{self.folder}/commands"
        self.file = f"{self.folder}/project.json"
        self.tree = CommandTree(self.commands_dir, scripts={}, root=root)
        self.environ = environ
        self.is_named = root in environ.get(TRUST, "").split(":")
        self._definition: Definition | None = None
        self._safe: set[str] = set()

    @property
    def definition(self) -> Definition:
        """The definition in project.json, empty if the file is missing. Raises DefinitionError."""
        if self._definition is None:
            try:
                fields = Fields(self.file, read_json(self.file))
            except FileNotFoundError:
                fields = Fields(self.file, {})
            self._definition = Definition(self.file, fields, required=False)
            self._definition.path_roots = (self.root,)
        return self._definition

    @property
    def name(self) -> str:
        """The name in project.json, or else the name of the directory."""
        try:
            name = self.definition.name
        except DefinitionError:
            name = ""
        return name or basename(self.root) or self.root

    def check(self, path: str) -> None:
        """Raise DefinitionError if another user could have written `path` or its directories.

        All directories from the project's root down are checked. For a link out of the project,
        all directories above its target are checked.
        """
        real = realpath(path)
        inside = f"{real}/".startswith(join(self.root, ""))
        checked: list[str] = []
        while real not in self._safe:
            self._check(real, may_be_sticky=not inside)
            checked.append(real)
            if real in (self.root, "/"):
                break
            real = dirname(real)
        # A path is safe only if its directories are, too.
        self._safe.update(checked)

    def _check(self, real: str, *, may_be_sticky: bool) -> None:
        try:
            status = posix.stat(real)
        except OSError:
            return  # a missing path needs no check
        remedy, mode = "", status.st_mode
        if not self.is_named and status.st_uid not in owners(self.environ):
            text = "belongs to another user, so this project is ignored"
        elif mode & 0o002 and not (may_be_sticky and mode & _stat.S_ISVTX):
            text = "every user can write to it, so this project is ignored"
            remedy = (
                "" if mode & _stat.S_ISVTX else "o-w"
            )  # a sticky directory must stay writable
        elif mode & 0o020 and not _is_own_group(status, self.environ):
            text, remedy = (
                "other users can write to it, so this project is ignored",
                "g-w",
            )
        else:
            return
        remedy = remedy and f"run: chmod {remedy} {quoted(real)}"
        raise DefinitionError(Problem(real, text, remedy))


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
            projects.append(project)
            problems += project.definition.warnings
        except DefinitionError as error:
            problems.append(error.problem)
    return projects, problems


def owners(environ: "Mapping[str, str]") -> tuple[int, ...]:
    """Return the ids of trusted file owners: root, the caller and the user who ran sudo."""
    own = posix.geteuid()
    by_sudo = environ.get("SUDO_UID", "") if own == 0 else ""
    return (0, own, int(by_sudo)) if by_sudo.isdecimal() else (0, own)


def _is_own_group(status: posix.stat_result, environ: "Mapping[str, str]") -> bool:
    """Return whether a file's group is the private group of the file's owner or of the caller."""
    import grp
    import pwd

    try:
        group = grp.getgrgid(status.st_gid)
    except KeyError:
        return status.st_gid == posix.getegid()
    for user in {status.st_uid, *owners(environ)}:
        try:
            name = pwd.getpwuid(user).pw_name
        except KeyError:
            continue
        if name == group.gr_name and {*group.gr_mem} <= {name}:
            return True
    return False

"""A project, a directory with `.<program>/commands/`, and whether others can write to its files.

A run of an installation's own command does not load this module. This module only reads files;
`host.catalog.usable_projects` leaves out unsafe projects, and `host.projects.trust` decides what
may run.
"""

import _stat
import posix

from host.errors import DefinitionError, Problem
from host.files.json_file import Fields, read_json
from host.files.paths import basename, dirname, join, realpath
from host.record_base import CommandTree
from host.text import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

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
        trusted_roots = environ.get(TRUST, "").split(":")
        self.is_named = root in trusted_roots
        self._values: Any = None  # the content of project.json, once it is read
        self.definition: Any = (
            None  # see `host.catalog.usable_projects.project_definition`
        )
        self._safe: set[str] = set()  # real paths that `check` has accepted

    def fields(self) -> Fields:
        """Return the keys of project.json, none if it is missing. Raises DefinitionError."""
        if self._values is None:
            try:
                self._values = read_json(self.file)
            except FileNotFoundError:
                self._values = {}
        return Fields(self.file, self._values)

    @property
    def name(self) -> str:
        """The name in project.json, or else the name of the directory."""
        try:
            name = self.fields().text("name")
        except DefinitionError:
            name = ""
        if name:
            return name
        return basename(self.root) or self.root  # "/" has no name

    @property
    def allows_assistants(self) -> bool:
        """Whether its commands are offered to assistants. Raises DefinitionError."""
        return self.fields().flag("assistants")

    def check(self, path: str) -> None:
        """Raise DefinitionError if another user could have written `path` or its directories.

        All directories from the project's root down are checked. For a link out of the project,
        all directories above its target are checked.
        """
        real = realpath(path)
        is_inside = f"{real}/".startswith(join(self.root, ""))

        checked: list[str] = []
        while real not in self._safe:
            self._check(real, may_be_sticky=not is_inside)
            checked.append(real)
            if real in (self.root, "/"):
                break
            real = dirname(real)

        # A path is safe only if its directories are, too.
        self._safe.update(checked)

    def _check(self, real: str, *, may_be_sticky: bool) -> None:
        """Raise DefinitionError if another user could have written the file or directory `real`.

        With `may_be_sticky`, every user may write to a sticky directory such as /tmp: nobody can
        replace the files of others there.
        """
        try:
            status = posix.stat(real)
        except OSError:
            return  # a missing path needs no check

        mode = status.st_mode
        is_sticky = mode & _stat.S_ISVTX != 0
        is_open_to_all = mode & 0o002 != 0
        if is_sticky and may_be_sticky:
            is_open_to_all = False

        change = ""  # of the mode, for the remedy
        if not self.is_named and status.st_uid not in owners(self.environ):
            fault = "belongs to another user"
        elif is_open_to_all:
            fault = "every user can write to it"
            if not is_sticky:  # a sticky directory must stay writable
                change = "o-w"
        elif mode & 0o020 and not _is_own_group(status, self.environ):
            fault = "other users can write to it"
            change = "g-w"
        else:
            return

        what = f"{fault}, so this project is ignored"
        remedy = ""
        if change:
            remedy = f"run: chmod {change} {quoted(real)}"
        raise DefinitionError(Problem(real, what, remedy))


def owners(environ: "Mapping[str, str]") -> tuple[int, ...]:
    """Return the ids of trusted file owners: root, the caller and the user who ran sudo."""
    user = posix.geteuid()
    if user == 0:
        sudo_user = environ.get("SUDO_UID", "")
        if sudo_user.isdecimal():
            return (0, user, int(sudo_user))
    return (0, user)


def _is_own_group(status: posix.stat_result, environ: "Mapping[str, str]") -> bool:
    """Return whether a file's group is the private group of the file's owner or of the caller."""
    import grp
    import pwd

    try:
        group = grp.getgrgid(status.st_gid)
    except KeyError:  # a group without an entry, as in a container
        return status.st_gid == posix.getegid()

    for user in {status.st_uid, *owners(environ)}:
        try:
            name = pwd.getpwuid(user).pw_name
        except KeyError:
            continue
        # Debian's user private groups: the group has the user's name and no other member.
        others = set(group.gr_mem) - {name}
        if group.gr_name == name and not others:
            return True
    return False

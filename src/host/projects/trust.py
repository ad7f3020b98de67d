"""Check whether the caller trusts a project's command.

trusted.json has the real path of each trusted project and a hash of each trusted file:
project.json, each category.json and each definition. Only names and hashes are stored.
"""

import posix

from host.caller import xdg_home
from host.errors import DefinitionError, NotConfirmedError, OperationError, Problem
from host.files.json_file import Fields, parse_json
from host.files.paths import dirname, join, read_regular
from host.projects.projects import TRUST, owners
from host.text import encode, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from host.catalog.definition import Definition
    from host.projects.projects import Project

    Hashes = dict[str, str]


def is_trusted(definition: "Definition") -> bool:
    """Return whether a command is trusted; a command outside projects always is.

    Raises DefinitionError if another user could have written its files.
    """
    project = definition.project
    if project is None:
        return True

    # trusted.json has no hash of the entrypoint, so nobody else may be able to write it.
    paths = files_of(project, definition.written)
    if not definition.in_python:
        paths.append(join(definition.directory, definition.entrypoint))
    for path in paths:
        project.check(path)

    if project.is_named:
        return True
    return not changed_files(project, definition.written)


def check_trust(definition: "Definition", program: str, words: "Sequence[str]") -> None:
    """Raise NotConfirmedError, with a remedy, if the command of a project is not trusted."""
    project = definition.project
    if project is None:
        return
    if not is_trusted(definition):
        raise not_trusted(project, program, words)


def not_trusted(
    project: "Project", program: str, words: "Sequence[str]"
) -> NotConfirmedError:
    """Return the error for a command of a project that is not trusted in this version."""
    command = " ".join(words)
    why = "is not trusted"
    if versions_known(project):
        why = "has changed since it was trusted"
    what = f"{command}: the project {project.root} {why}, so its commands do not run"
    root = quoted(project.root)
    remedy = f"to trust it: {program} self trust {root} --yes; in CI set {TRUST}={root}"
    return NotConfirmedError(what, remedy)


def changed_files(project: "Project", file: str) -> list[str]:
    """Return the paths from `files_of` whose files differ from their trusted versions."""
    hashes = {path: hash_of(path) for path in files_of(project, file)}
    trusted = read_trusted(project.environ)
    known = trusted.get(project.root, {})
    changed = _different(project, hashes, known)
    if not changed or not trusted:
        return changed

    # A file is trusted, too, if another work tree of the repository is trusted with it.
    from host.projects.worktrees import (
        twin_roots,  # most projects are trusted themselves
    )

    for root in twin_roots(project):
        if root in trusted:
            different = _different(project, hashes, trusted[root])
            changed = [path for path in changed if path in different]
    return changed


def _different(project: "Project", hashes: "Hashes", known: "Hashes") -> list[str]:
    """Return the paths in `hashes` with another hash than in `known`, which has relative paths."""
    start = len(project.root)
    different = []
    for path, file_hash in hashes.items():
        relative = path[start:].lstrip("/")
        if file_hash != known.get(relative, ""):
            different.append(path)
    return different


def versions_known(project: "Project") -> bool:
    """Return whether some version of the project is trusted, here or in another work tree."""
    from host.projects.worktrees import twin_roots

    trusted = read_trusted(project.environ)
    for root in (project.root, *twin_roots(project)):
        if root in trusted:
            return True
    return False


def files_of(project: "Project", file: str) -> list[str]:
    """Return project.json, each category.json above the definition in `file`, and `file`.

    `file` is `Definition.written`. trusted.json knows all files by their paths in the project.
    """
    above = []
    at = file
    while at != project.commands_dir:
        at = dirname(at)
        above.append(f"{at}/category.json")
    above.reverse()
    paths = [project.file, *above, file]
    return list(dict.fromkeys(paths))  # each once


def trusted_content(path: str) -> bytes:
    """Return the part of the file at `path` that is hashed for trust.

    This is the whole JSON file, or the definition in a script. A missing JSON file gives b"".
    """
    if not path.endswith(".json"):
        from host.headers.script_comments import ScriptComments

        return encode(ScriptComments(path).text)
    try:
        return read_regular(path, DefinitionError)
    except FileNotFoundError:
        return b""


def hash_of(path: str) -> str:
    """Return the hash of the definition at `path`, or "" if it is missing or empty."""
    from _blake2 import blake2b  # not from `hashlib`, whose import takes 3 ms

    content = trusted_content(path)
    if not content:
        return ""
    return blake2b(content, digest_size=32).hexdigest()


def trusted_file(environ: "Mapping[str, str]") -> str:
    return join(xdg_home(environ, "STATE"), "cli-host/trusted.json")


def read_trusted(environ: "Mapping[str, str]") -> "dict[str, Hashes]":
    """Return the hashes of each trusted project's files, by the project's real path.

    Raises OperationError if trusted.json is invalid or another user can write to it.
    """
    path = trusted_file(environ)
    try:
        content = read_regular(path, OperationError)
        status = posix.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return {}

    if status.st_uid not in owners(environ) or status.st_mode & 0o022:
        what = "another user can write to it"
        remedy = f"check it, then run: chmod 600 {quoted(path)}"
        raise OperationError(Problem(path, what, remedy))

    trusted = {}
    try:
        projects = Fields(path, parse_json(path, content)).inner("projects")
        for root, files in projects.values.items():
            trusted[root] = {**Fields(path, files).values}
    except DefinitionError as error:
        error.problem.remedy = f"run: rm {quoted(path)}"
        raise OperationError(error.problem) from None
    return trusted

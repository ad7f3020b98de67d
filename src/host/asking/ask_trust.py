"""Ask whether to trust a project, and store the answer."""

import fcntl
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from host.asking.terminal import ask, can_ask
from host.catalog.catalog import Catalog
from host.catalog.contents import Contents, contents
from host.errors import NotConfirmedError, OperationError, Problem
from host.files.replace_file import replace
from host.listing import Command
from host.lock.lock import Lock
from host.projects import trust
from host.projects.projects import Project
from host.text import decode, encode, printable


def ask_trust(
    words: Sequence[str], project: Project, file: str, program: str, *, may_ask: bool
) -> None:
    """Ask whether to trust a project. Raises NotConfirmedError if the user refuses.

    `words` name the command, and `file` is its `Definition.written`. The first question shows all
    commands of the project, and answering yes trusts all of their files. A later question shows
    only the changed files that take effect in this run, and answering yes trusts only these.
    """
    if not can_ask(may_ask=may_ask):
        raise trust.not_trusted(project, program, words)

    if trust.versions_known(project):
        hashes = hashes_of(project, trust.files_of(project, file))
        lines = changed_lines(project, trust.changed_files(project, file))
    else:
        lines, hashes = introduction(project)

    page = "\n".join(map(printable, lines))
    answer = ask(f"{page}\nTrust it? [y]es, [n]o, [o]nce: ")
    if answer in ("y", "yes"):
        remember(project, hashes)
    elif answer not in ("o", "once"):
        command = " ".join(words)
        raise NotConfirmedError(
            f"{command}: the project is not trusted; nothing was run"
        )


def project_contents(project: Project) -> Contents:
    """Return all contents of a project, including commands that other definitions override."""

    def around() -> tuple[list[Project], list[Problem]]:
        return [project], []

    catalog = Catalog(Lock([]), around=around)
    return contents(catalog, (), deep=True)


def introduction(project: Project) -> tuple[list[str], dict[str, str]]:
    """Return the lines that describe a project, and the hashes to store if the user agrees.

    Raises DefinitionError if another user could have written one of the files.
    """
    commands = project_contents(project).commands
    width = 0
    for command in commands:
        called = " ".join(command.words)
        width = max(width, len(called))

    lines = [f"The project {project.name} in {project.root} has these commands:"]
    paths = [project.file]
    for command in commands:
        lines.append(_introduction_line(command, width))
        paths += trust.files_of(project, command.definition.written)

    for path in dict.fromkeys(paths):
        project.check(path)
    return lines, hashes_of(project, paths)


def _introduction_line(command: Command, width: int) -> str:
    """Return a command's words in `width` columns, its description and its effects."""
    definition = command.definition
    texts = [" ".join(command.words).ljust(width)]
    if definition.description:
        texts.append(definition.description)

    effects = f"[{definition.effects}]"
    if definition.sudo:
        effects += " [sudo]"
    texts.append(effects)

    return f"  {'  '.join(texts)}"


def changed_lines(project: Project, paths: Iterable[str]) -> list[str]:
    """Return lines with the new text of files that have changed since the project was trusted."""
    named = f"{project.name} in {project.root}"
    lines = [f"The project {named} has changed since it was trusted:"]
    for path in paths:
        content = trust.trusted_content(path)
        text = decode(content).splitlines()
        if text:
            lines.append(f"  {path}")
        else:
            lines.append(f"  {path}: removed or empty")
        lines += [f"    {line}" for line in text]
    return lines


def hashes_of(project: Project, paths: Iterable[str]) -> dict[str, str]:
    """Return the hash of each file, by its path relative to the project.

    Call this before you ask the user, so that a file that changes later is not trusted.
    """
    hashes = {}
    for path in paths:
        relative = path[len(project.root) :].lstrip("/")
        hashes[relative] = trust.hash_of(path)
    return hashes


def remember(project: Project, hashes: Mapping[str, str]) -> None:
    """Store in trusted.json that the project's files with these hashes are trusted."""

    def update(known: dict[str, dict[str, str]]) -> None:
        files = dict(known.get(project.root, {}))
        for path, digest in hashes.items():
            if digest:
                files[path] = digest
            else:
                files.pop(path, None)  # the file was removed
        known[project.root] = files

    change_trusted(project.environ, update)


def change_trusted(
    environ: Mapping[str, str], update: Callable[[dict[str, dict[str, str]]], object]
) -> None:
    """Rewrite trusted.json; `update` changes the dict of trusted projects. Raises OperationError.

    Under sudo, the file gets the owner of its directory.
    """
    path = trust.trusted_file(environ)
    directory = os.path.dirname(path)
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)

        # Two questions may be answered at the same time: the second change keeps the first one.
        # This is not the file lock of the built-in plugins, which the host must not import. That
        # lock bounds how long a change waits for a download; here the holder writes one small
        # file, so waiting needs no limit and no message.
        folder = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            known = trust.read_trusted(environ)
            update(known)

            text = json.dumps({"projects": known}, indent=2) + "\n"
            if not replace(path, encode(text), 0o600):
                raise OperationError(Problem(path, "cannot be written"))
            if os.geteuid() == 0:
                owner = os.fstat(folder)
                os.chown(path, owner.st_uid, owner.st_gid)
        finally:
            os.close(folder)
    except OSError as failure:
        problem = Problem(path, f"cannot be written: {failure.strerror}")
        raise OperationError(problem) from None

"""The files that the package ships: installations are made of them, and keep up with some."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import host
from builtin_plugins.administration import templates
from builtin_plugins.io.files.atomic import discard, write_file
from builtin_plugins.io.files.undo import signals_blocked, undoing

IN_CORE = ("cli.json", "lib", "schema")
CLI_JSON, GITIGNORE = Path("core/cli.json"), Path(".gitignore")
SOURCE = "core/lib/.source"  # what `self init --from` made an installation of, if not git
RECORD = "core/lib/.shipped"  # the checksums of shipped files, as sha256sum prints them

_SHIPPED = (  # files and directories; a checkout that is an installation has more of its own
    *("commands/demo/category.json", "commands/demo/files", "commands/demo/hello"),
    *("commands/demo/precedence", "commands/demo/words"),
    *("commands/setup/category.json", "commands/setup/postman", "config/settings.conf.example"),
    *(f"core/{name}" for name in IN_CORE),
    "plugins/README.md",
)


class ShippedFile(NamedTuple):
    """A file at `source`, which an installation has at `relative`."""

    relative: Path
    source: Path

    @property
    def is_programs(self) -> bool:
        """Tell whether it stays this program's own: the rest is its user's from then on."""
        return self.relative.parts[:2] in (("core", "lib"), ("core", "schema"))

    @property
    def is_needed(self) -> bool:
        """Tell whether an installation is incomplete without it: the rest are examples."""
        return self.is_programs or self.relative in (CLI_JSON, GITIGNORE)

    def became(self, root: str) -> str:
        """Return what an installation has of it: "missing", "same", "former" or "changed".

        "former" is the file of another version, as that version shipped it.
        """
        try:
            there = _content(os.path.join(root, self.relative))
        except OSError:
            return "changed"
        if there is None:
            return "missing"
        if there == self.source.read_bytes():
            return "same"
        return "former" if self.checksum(there) in _recorded(root) else "changed"

    def checksum(self, content: bytes) -> str:
        return f"{hashlib.sha256(content).hexdigest()}  {self.relative}"


def shipped_files(skeleton: Path | None = None) -> Iterator[ShippedFile]:
    """Yield each file that is shipped: here, or in the `skeleton` of another version."""
    skeleton = skeleton or own_skeleton()
    for name in _SHIPPED:
        top = skeleton / name
        for source in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if source.is_file() and source.parent.name != "__pycache__":
                yield ShippedFile(source.relative_to(skeleton), source)
    yield ShippedFile(GITIGNORE, Path(templates.__file__).parent / "installation/.gitignore.txt")


def own_skeleton() -> Path:
    """Return where the files are that this version ships: a checkout is such a place itself."""
    skeleton = skeleton_in(sys.prefix)
    return skeleton if skeleton.is_dir() else Path(host.__file__).parent.parent.parent


def skeleton_in(prefix: str) -> Path:
    """Return where an environment that has this program has what it ships."""
    package = os.path.relpath(os.path.dirname(host.__file__), sys.prefix)
    return Path(prefix, package, "skeleton")


def cli_json(program: str) -> bytes:
    """Return the shipped cli.json, with the name of a program that has another."""
    content = Path(own_skeleton(), CLI_JSON).read_bytes()
    if program == "cli":
        return content
    values = json.loads(content) | {"name": program}
    return (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode()


def record_shipped(root: str, skeleton: Path, undo: ExitStack) -> None:
    """Record the program's own files of a version in an installation, before they are written.

    So a later version knows them from files with changes of the user's. Raises OSError.
    """
    path = os.path.join(root, RECORD)
    directory = os.path.dirname(path)
    if not os.path.isdir(directory) or os.path.islink(directory):
        return
    files = _own_files(root, skeleton)
    lines = _recorded(root) | {file.checksum(file.source.read_bytes()) for file in files}
    by_path = sorted(lines, key=lambda one: one.split()[::-1])
    _write(path, "".join(f"{one}\n" for one in by_path).encode(), undo)


def _recorded(root: str) -> set[str]:
    try:
        return {*Path(root, RECORD).read_text(encoding="utf-8").splitlines()}
    except (OSError, ValueError):
        return set()


def renew(
    root: str,
    warn: Callable[[str], None],
    undo: ExitStack,
    skeleton: Path | None = None,
    without: Collection[str] = (),
) -> None:
    """Bring the program's own files in an installation to this version, or to a `skeleton`'s.

    A file that no version shipped is the user's: it stays, and `warn` gets a line. The paths in
    `without` stay, too. `undo` gets the steps back. Raises OSError.
    """
    skeleton = skeleton or own_skeleton()
    if RECORD not in without:
        record_shipped(root, skeleton, undo)
    for file in _own_files(root, skeleton):
        if str(file.relative) in without:
            continue
        path, became = os.path.join(root, file.relative), file.became(root)
        if became in ("missing", "former"):
            _write(path, file.source.read_bytes(), undo)
        elif became == "changed":
            warn(f"{path}: has changes of yours and stays; this version has another")


def catch_up(root: str, warn: Callable[[str], None], without: Collection[str] = ()) -> None:
    """Renew the program's own files after a tool such as pipx upgraded it; raises OSError."""
    with signals_blocked(), undoing() as undo:
        renew(root, warn, undo, without=without)


def _own_files(root: str, skeleton: Path) -> Iterator[ShippedFile]:
    """Yield the program's own files of a version whose directories an installation has itself."""
    for file in shipped_files(skeleton) if skeleton.is_dir() else ():
        directory = os.path.join(root, file.relative.parent)
        if file.is_programs and os.path.isdir(directory) and not os.path.islink(directory):
            yield file


def _write(path: str, content: bytes, undo: ExitStack) -> None:
    """Write a file unless it has that content; `undo` gets the step back."""
    former = _content(path)
    if former == content:
        return
    write_file(path, content)
    if former is None:
        undo.callback(discard, path)
    else:
        undo.callback(write_file, path, former)


def _content(path: str | Path) -> bytes | None:
    """Return what a file holds, or where a link leads; None if there is neither."""
    try:
        return os.readlink(os.fsencode(path)) if os.path.islink(path) else Path(path).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None

"""The files that the package ships: installations are made of them, and keep up with some."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import host
from builtin_plugins.administration import templates
from builtin_plugins.io.files.atomic import discard, write_file

IN_CORE = ("cli.json", "lib", "schema")
CLI_JSON, GITIGNORE = Path("core/cli.json"), Path(".gitignore")

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
        """Tell what an installation has of it: "missing", "same" or "changed"."""
        try:
            there = _content(os.path.join(root, self.relative))
        except OSError:
            return "changed"
        if there is None:
            return "missing"
        return "same" if there == self.source.read_bytes() else "changed"


def shipped_files(skeleton: Path | None = None) -> Iterator[ShippedFile]:
    """Yield each file that is shipped: here, or in the `skeleton` of another version."""
    skeleton = skeleton or skeleton_in(sys.prefix)
    if not skeleton.is_dir():
        skeleton = Path(host.__file__).parent.parent.parent  # a checkout is one itself
    for name in _SHIPPED:
        top = skeleton / name
        for source in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if source.is_file() and source.parent.name != "__pycache__":
                yield ShippedFile(source.relative_to(skeleton), source)
    yield ShippedFile(GITIGNORE, Path(templates.__file__).parent / "installation/.gitignore.txt")


def skeleton_in(prefix: str) -> Path:
    """Return where an environment that has this program has what it ships."""
    package = os.path.relpath(os.path.dirname(host.__file__), sys.prefix)
    return Path(prefix, package, "skeleton")


def renew(root: str, former: Path, new: Path, warn: Callable[[str], None], undo: ExitStack) -> None:
    """Bring the program's own files in an installation from one skeleton's to another's.

    What is neither's is the user's: it stays, and where the new version has another, `warn`
    is told. `undo` gets the way back. Raises OSError.
    """
    for file in shipped_files(new) if new.is_dir() else ():
        path = os.path.join(root, file.relative)
        directory = os.path.dirname(path)
        if not file.is_programs or not os.path.isdir(directory) or os.path.islink(directory):
            continue
        there, wanted = _content(path), file.source.read_bytes()
        if there == wanted:
            continue
        if there is None:
            write_file(path, wanted)
            undo.callback(discard, path)
        elif there == _content(former / file.relative):
            write_file(path, wanted)
            undo.callback(write_file, path, there)
        else:
            warn(f"{path}: has changes of yours and stays; this version has another")


def _content(path: str | Path) -> bytes | None:
    """Return what a file holds, or where a link leads; None where there is neither."""
    try:
        return os.readlink(os.fsencode(path)) if os.path.islink(path) else Path(path).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None

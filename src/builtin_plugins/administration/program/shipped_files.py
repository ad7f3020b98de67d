"""The files that the package ships: installations are made of them, and keep up with some."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple

import host
from builtin_plugins.administration import templates
from builtin_plugins.io.files.atomic import is_tree, write_file

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
        """Whether it stays this program's own: the rest is its user's from then on."""
        return self.relative.parts[:2] in (("core", "lib"), ("core", "schema"))

    def became(self, root: str) -> str:
        """Return what an installation has of it: "missing", "same", "former" or "changed".

        "former" is the file of another version, as that version shipped it.
        """
        path = os.path.join(root, self.relative)
        if not os.path.lexists(path):
            return "missing"
        if os.path.islink(path) or not os.path.isfile(path):
            return "changed"
        content = Path(path).read_bytes()
        if content == self.source.read_bytes():
            return "same"
        return "former" if self.checksum(content) in _recorded(root) else "changed"

    def checksum(self, content: bytes) -> str:
        return f"{hashlib.sha256(content).hexdigest()}  {self.relative}"


def shipped_files() -> Iterator[ShippedFile]:
    """Yield each file that this version ships."""
    skeleton = _skeleton()
    for name in _SHIPPED:
        top = skeleton / name
        for source in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if source.is_file() and source.parent.name != "__pycache__":
                yield ShippedFile(source.relative_to(skeleton), source)
    yield ShippedFile(GITIGNORE, gitignore())


def gitignore() -> Path:
    """Return the shipped .gitignore."""
    return Path(templates.__file__).parent / "installation/.gitignore.txt"


def _skeleton() -> Path:
    """Return where the shipped files are: in the package, or this is a checkout."""
    packages = Path(host.__file__).parent
    skeleton = packages / "skeleton"
    return skeleton if skeleton.is_dir() else packages.parent.parent


def is_checkout(root: str) -> bool:
    """Return whether an installation is a git checkout of the program, made by install.sh."""
    return all(os.path.exists(os.path.join(root, one)) for one in (".git", "pyproject.toml"))


def cli_json(program: str) -> bytes:
    """Return the shipped cli.json, with the name of a program that has another."""
    content = Path(_skeleton(), CLI_JSON).read_bytes()
    if program == "cli":
        return content
    values = json.loads(content) | {"name": program}
    return (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode()


def add_missing(root: str, program: str, without: Collection[str] = ()) -> int:
    """Write the files that an installation lacks; return how many. Raises OSError.

    cli.json is written last: if it is there, examples that are missing were removed by the user.
    The paths in `without` stay missing, too.
    """
    made, examples = 0, not os.path.lexists(os.path.join(root, CLI_JSON))
    for file in sorted(shipped_files(), key=lambda file: file.relative == CLI_JSON):
        wanted = examples or file.is_programs or file.relative == GITIGNORE
        path = os.path.join(root, file.relative)
        if wanted and str(file.relative) not in without and not os.path.lexists(path):
            is_config = file.relative == CLI_JSON
            content = cli_json(program) if is_config else file.source.read_bytes()
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write_file(path, content, file.source.stat().st_mode & 0o777)
            made += 1
    _record(root, without)
    return made


def renew(root: str, warn: Callable[[str], object], without: Collection[str] = ()) -> None:
    """Bring the program's own files in an installation to this version; raises OSError.

    A file that no version shipped is the user's: it stays, and `warn` gets a line. The paths in
    `without` stay, too. git renews the files of a checkout.
    """
    if is_checkout(root):
        return
    _record(root, without)  # before the files: a kill leaves no unknown ones
    for file in _own_files(root, without):
        path, became = os.path.join(root, file.relative), file.became(root)
        if became in ("missing", "former"):
            write_file(path, file.source.read_bytes())
        elif became == "changed":
            warn(f"{path}: kept, because you changed it; this version ships another one")


def _record(root: str, without: Collection[str]) -> None:
    """Record this version's own files in an installation.

    So a later version knows them from files with changes of the user's.
    """
    known = _recorded(root)
    lines = {file.checksum(file.source.read_bytes()) for file in _own_files(root, ())} - known
    path = os.path.join(root, RECORD)
    if lines and RECORD not in without and is_tree(os.path.dirname(path)):
        by_path = sorted(lines | known, key=lambda one: one.split()[::-1])
        write_file(path, "".join(f"{one}\n" for one in by_path))


def _recorded(root: str) -> set[str]:
    try:
        return {*Path(root, RECORD).read_text(encoding="utf-8").splitlines()}
    except (OSError, ValueError):
        return set()


def _own_files(root: str, without: Collection[str]) -> Iterator[ShippedFile]:
    """Yield the program's own files whose directories an installation has itself."""
    for file in shipped_files():
        has_directory = is_tree(os.path.join(root, file.relative.parent))
        if file.is_programs and has_directory and str(file.relative) not in without:
            yield file

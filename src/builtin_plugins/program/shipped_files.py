"""The files that the package ships for installations; `renew` updates some of them."""

import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from builtin_plugins.library.files.atomic import is_real_dir, remove_path, write_file
from builtin_plugins.library.git import Git
from builtin_plugins.self_commands import templates
from host import UsageError, is_word
from host.files.paths import shipped
from host.hook_marker import OWN_DISTRIBUTION

IN_CORE = ("cli.json", "lib", "schema")
CLI_JSON, GITIGNORE = Path("core/cli.json"), Path(".gitignore")
TEAM_SOURCE = "core/lib/.source"  # records SOURCE of `self init --from` (not for git repositories)
# the checksums of the shipped files, as sha256sum prints them
HASHES = "core/lib/.shipped"

_HASH_LINE = re.compile(r"[0-9a-f]{64}  \S")
_GIT_SECONDS = 60.0  # time limit for `git ls-files`
_SHIPPED = (  # an explicit list, because a checkout also contains other files
    "commands/demo/category.json",
    "commands/demo/files",
    "commands/demo/hello",
    "commands/demo/precedence",
    "commands/demo/words",
    "commands/setup/category.json",
    "commands/setup/postman",
    "config/settings.conf.example",
    *(f"core/{name}" for name in IN_CORE),
    "plugins/README.md",
)


class ShippedFile(NamedTuple):
    """A file that the package ships at `original`; `relative` is its path in an installation."""

    relative: Path
    original: Path

    @property
    def is_own(self) -> bool:
        """Whether this program updates the file; other files belong to the user."""
        return self.relative.parts[:2] in (("core", "lib"), ("core", "schema"))

    def state_in(self, root: str) -> str:
        """Return the file's state in an installation.

        "same"     the file of this version
        "stale"    missing, or the unchanged file of another version
        "changed"  changed by the user
        """
        path = os.path.join(root, self.relative)
        if not os.path.lexists(path):
            return "stale"
        if os.path.islink(path) or not os.path.isfile(path):
            return "changed"

        content = Path(path).read_bytes()
        if content == self.original.read_bytes():
            return "same"
        # The checksum of an earlier version's file was recorded when it was written.
        if self.checksum(content) in _read_hashes(root):
            return "stale"
        return "changed"

    def checksum(self, content: bytes) -> str:
        return f"{hashlib.sha256(content).hexdigest()}  {self.relative}"


def is_program_name(name: str) -> bool:
    """Return whether `core/<name>` can be the launcher of a program."""
    return is_word(name) and name not in IN_CORE


def check_program_name(name: str) -> None:
    """Raise UsageError if `name` cannot be the name of a program."""
    if not is_program_name(name):
        rule = "use letters, digits, ., _ and -, but not cli.json, lib or schema"
        raise UsageError(f'"{name}" is not a valid program name', rule)


def shipped_files() -> Iterator[ShippedFile]:
    skeleton = _skeleton()
    for name in _SHIPPED:
        top = skeleton / name
        originals = [top]
        if top.is_dir():
            originals = sorted(top.rglob("*"))

        for original in originals:
            if original.is_file() and not _is_left_out(original):
                yield ShippedFile(original.relative_to(skeleton), original)
    yield ShippedFile(GITIGNORE, gitignore())


def _is_left_out(file: Path) -> bool:
    """Return whether a file in the shipped directories is not part of an installation."""
    if file.parent.name == "__pycache__":
        return True
    if file.parent.name != "lib":
        return False
    # An installation that has become a package has its own records in core/lib.
    return file.name.startswith(".")


def gitignore() -> Path:
    return Path(templates.__file__).parent / "installation/.gitignore.txt"


def shipped_library() -> Path:
    """Return the shipped directory of the shell library."""
    return _skeleton() / "core" / "lib"


def _skeleton() -> Path:
    """Return the directory of the shipped files: one in the package, or a checkout's root."""
    return Path(shipped(""))


def is_checkout(root: str) -> bool:
    """Return whether an installation is a git checkout of this program, made by install.sh.

    A team's repository may also be a Python project, so the function checks the project's name.
    """
    try:
        project = Path(root, "pyproject.toml").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False
    if f'name = "{OWN_DISTRIBUTION}"' not in project.splitlines():
        return False
    return os.path.exists(os.path.join(root, ".git"))


def has_repository(root: str) -> bool:
    """Return whether an installation is a clone or worktree of a git repository."""
    return os.path.lexists(os.path.join(root, ".git"))


def cli_json(program: str) -> bytes:
    """Return the content of the shipped cli.json, with `program` as its name."""
    content = Path(_skeleton(), CLI_JSON).read_bytes()
    if program == "cli":
        return content

    values = json.loads(content) | {"name": program}
    text = json.dumps(values, indent=2, ensure_ascii=False)
    return f"{text}\n".encode()


def add_missing(root: str, program: str, without: Collection[Path] = ()) -> int:
    """Write the files that an installation lacks; return their number. Raises OSError.

    cli.json is written last. If it exists already, the user may have removed examples, so none are
    written. The paths in `without` are not written.
    """
    made = 0
    is_new = not os.path.lexists(os.path.join(root, CLI_JSON))

    files = list(shipped_files())
    files.sort(key=lambda file: file.relative == CLI_JSON)
    for file in files:
        if file.relative in without:
            continue
        is_example = not file.is_own and file.relative != GITIGNORE
        if is_example and not is_new:
            continue

        path = os.path.join(root, file.relative)
        if os.path.lexists(path):
            continue

        content = file.original.read_bytes()
        if file.relative == CLI_JSON:
            content = cli_json(program)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_file(path, content, file.original.stat().st_mode & 0o777)
        made += 1

    _write_hashes(root, own_files(root))
    return made


def own_files(root: str) -> list[ShippedFile]:
    """Return the files that this program keeps up to date in an installation.

    Files that git tracks are left out, because they belong to the team. Files in a linked directory
    are also left out. Raises OperationError if git fails.
    """
    tracked = _tracked(root)
    files = []
    for file in shipped_files():
        if not file.is_own or file.relative in tracked:
            continue
        if is_real_dir(os.path.join(root, file.relative.parent)):
            files.append(file)
    return files


def _tracked(root: str) -> set[Path]:
    """Return the files below core/ that the installation's git repository tracks, if any."""
    if not has_repository(root):
        return set()

    git = Git(root, os.environ, _GIT_SECONDS)
    listed = os.fsdecode(git("ls-files", "-z", "core"))
    paths = listed.split("\0")
    return {Path(path) for path in paths}


def renew(root: str, warn: Callable[[str], object]) -> None:
    """Update the program's own files in an installation to this version.

    Files that the user changed are kept and reported to `warn`. Raises OSError or OperationError.
    """
    if is_checkout(root):
        return

    files = own_files(root)
    # First: an interruption must not leave a file without a checksum.
    _write_hashes(root, files)
    for file in files:
        path = os.path.join(root, file.relative)
        state = file.state_in(root)
        if state == "stale":
            write_file(path, file.original.read_bytes())
        elif state == "changed":
            why = "kept because you changed it; this version contains a different file"
            warn(f"{path}: {why}")


def _write_hashes(root: str, files: Iterable[ShippedFile]) -> None:
    """Record the checksums of `files`, so that later versions recognize the user's changes."""
    lines = _read_hashes(root)
    known = len(lines)
    for file in files:
        content = file.original.read_bytes()
        lines.add(file.checksum(content))

    if len(lines) == known:
        return

    path = os.path.join(root, HASHES)
    if not is_real_dir(os.path.dirname(path)):
        return
    if Path(HASHES) in _tracked(root):  # it belongs to the team
        return
    _write_lines(path, lines)


def _write_lines(path: str, lines: Iterable[str]) -> None:
    """Write the lines CHECKSUM PATH to the file `path`, in the order of their paths."""
    text = ""
    for line in sorted(lines, key=lambda line: line.split()[::-1]):
        text += f"{line}\n"
    write_file(path, text)


def has_damaged_hashes(root: str) -> bool:
    """Return whether the file with the checksums exists, but is not as it was written."""
    path = Path(root, HASHES)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return os.path.lexists(path)
    except (OSError, ValueError):
        return True

    if not text.endswith("\n"):
        return True
    return not all(map(_HASH_LINE.match, text.splitlines()))


def renew_hashes(root: str) -> None:
    """Write the checksums again, and keep those that can be read. Raises OSError."""
    valid = list(filter(_HASH_LINE.match, _read_hashes(root)))
    path = os.path.join(root, HASHES)
    if os.path.lexists(path):
        remove_path(path)
    if valid:
        _write_lines(path, valid)
    _write_hashes(root, own_files(root))


def _read_hashes(root: str) -> set[str]:
    try:
        text = Path(root, HASHES).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return set()
    return set(text.splitlines())

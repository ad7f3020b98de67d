"""The files that the package ships for installations; `renew` updates some of them."""

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from builtin_plugins.library.files.atomic import is_real_dir, write_file
from builtin_plugins.library.git import Git
from builtin_plugins.self_commands import templates
from host import UsageError, is_word
from host.files.paths import shipped
from host.hook_marker import OWN_DISTRIBUTION

IN_CORE = ("cli.json", "lib", "schema")
CLI_JSON, GITIGNORE = Path("core/cli.json"), Path(".gitignore")
TEAM_SOURCE = "core/lib/.source"  # records SOURCE of `self init --from` (not for git repositories)

_OWN = ("core/lib", "core/schema")
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
        return str(self.relative.parent) in _OWN

    def is_same_in(self, root: str) -> bool:
        """Return whether an installation has the file as this version ships it."""
        path = os.path.join(root, self.relative)
        if os.path.islink(path) or not os.path.isfile(path):
            return False
        return Path(path).read_bytes() == self.original.read_bytes()


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


def own_directories() -> list[str]:
    """Return the shipped directories whose files this program updates in an installation."""
    return [str(_skeleton() / path) for path in _OWN]


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

    return made


def different_files(root: str, *, tracked: bool = False) -> list[ShippedFile]:
    """Return the own files of this program that an installation lacks, or has in another form.

    Files that git tracks belong to the team: they are left out, or with `tracked`, only they are
    returned. Files in a missing or linked directory are left out, too. Raises OperationError if
    git fails.
    """
    of_team = _tracked(root)
    files = []
    for file in shipped_files():
        if not file.is_own or (file.relative in of_team) != tracked:
            continue
        is_ours = is_real_dir(os.path.join(root, file.relative.parent))
        if is_ours and not file.is_same_in(root):
            files.append(file)
    return files


def replaceable_files(root: str, program: str) -> set[str]:
    """Return the files in an installation that are not the user's.

    These are the program's own files, and the cli.json of an installation without another one.
    """
    files = {str(file.relative) for file in shipped_files() if file.is_own}
    with suppress(OSError):
        if Path(root, CLI_JSON).read_bytes() == cli_json(program):
            files.add(str(CLI_JSON))
    return files


def changed_files(root: str) -> list[Path]:
    """Return the paths of the program's own files that the user has changed, below `root`."""
    paths = [file.relative for file in different_files(root)]
    return [path for path in paths if os.path.lexists(os.path.join(root, path))]


def set_aside(root: str, paths: Iterable[Path], show: Callable[[str], object]) -> None:
    """Rename files to NAME.old, and report them in one line. Raises OSError.

    An earlier NAME.old stays: the next one is NAME.old.2.
    """
    moved = []
    for path in paths:
        old = f"{root}/{path}.old"
        count = 1
        while os.path.lexists(old):
            count += 1
            old = f"{root}/{path}.old.{count}"
        os.rename(os.path.join(root, path), old)
        moved.append(str(path))
    if moved:
        why = "differed from this program's own and are now NAME.old"
        show(f"{root}: {why}: {', '.join(moved)}")


def _tracked(root: str) -> set[Path]:
    """Return the files below core/ that the installation's git repository tracks, if any."""
    if not has_repository(root):
        return set()

    git = Git(root, os.environ, _GIT_SECONDS)
    listed = os.fsdecode(git("ls-files", "-z", "core"))
    paths = listed.split("\0")
    return {Path(path) for path in paths}


def renew(root: str, show: Callable[[str], object], *, replaces: bool = False) -> None:
    """Make the program's own files in an installation equal to those of this version.

    A file that differs is first renamed to NAME.old, which is reported to `show`, unless this
    `replaces` it. Raises OSError or OperationError.
    """
    files = different_files(root)
    if not replaces:
        set_aside(root, changed_files(root), show)
    for file in files:
        path = os.path.join(root, file.relative)
        write_file(path, file.original.read_bytes())

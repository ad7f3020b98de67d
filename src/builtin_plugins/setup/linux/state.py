"""Who made the files of a tool, and whether it is installed.

Only looks and never runs anything; cheap enough for a listing. A file that cannot be read raises
OSError: it is not taken for somebody else's.
"""

import os
import re
import stat
from enum import Enum

from builtin_plugins.setup.tool_settings import Places, variable
from builtin_plugins.store import STAGE, Store
from host import OperationError

MARK_DIRECTORY = ".cli-setup"  # in a version: what setup itself put there
MARK_FILE = "installed.json"
_LARGEST = 1 << 16  # bytes of a record or a menu entry
_VERSION = re.compile(r"[0-9a-f]{12}")


class Owner(Enum):
    """Who made a file or directory."""

    NOBODY = "nobody"  # missing, or an empty directory
    SETUP = "setup"
    FOREIGN = "foreign"


def store_of(places: Places) -> Store:
    """Return the versions of a tool."""

    def is_own(path: str) -> bool:
        is_version = _VERSION.fullmatch(os.path.basename(path)) is not None
        return is_version and read_mark(path).get("tool") == places.tool

    return Store(places.install_dir, os.path.join(places.install_dir, "current"), is_own)


def is_installed(places: Places) -> bool:
    """Return whether the link resolves to an executable in the install directory (CONTRACT 10)."""
    try:
        return os.path.islink(places.link) and is_program(places.install_dir, places.link)
    except ValueError:  # a path with a NUL
        return False


def owners(places: Places) -> tuple[tuple[str, str, Owner], ...]:
    """Return for each of a tool's places: path, suffix of its variable, owner."""
    directory = directory_owner(places)
    return (
        (places.install_dir, "INSTALL_DIR", directory),
        (places.link, "BIN_DIR", _link_owner(places, directory)),
        (places.desktop_file, "DESKTOP_FILE", _menu_owner(places)),
    )


def directory_owner(places: Places) -> Owner:
    """Return who made the install directory."""
    directory = places.install_dir
    if not os.path.lexists(directory):
        return Owner.NOBODY
    if os.path.islink(directory) or not os.path.isdir(directory):
        return Owner.FOREIGN
    names = os.listdir(directory)
    store = store_of(places)
    is_dangling = bool(store.current) and store.current not in names
    if store.versions() or is_dangling or any(name.startswith(STAGE) for name in names):
        return Owner.SETUP
    return Owner.FOREIGN if names else Owner.NOBODY


def _link_owner(places: Places, directory: Owner) -> Owner:
    if not os.path.lexists(places.link):
        return Owner.NOBODY
    if not os.path.islink(places.link):
        return Owner.FOREIGN
    target = os.path.normpath(os.path.join(places.bin_dir, os.readlink(places.link)))
    inside = target.startswith(places.install_dir + "/")
    return Owner.SETUP if inside and directory is not Owner.FOREIGN else Owner.FOREIGN


def _menu_owner(places: Places) -> Owner:
    if not os.path.lexists(places.desktop_file):
        return Owner.NOBODY
    own = menu_mark(places.tool) in (small_file(places.desktop_file) or "").splitlines()
    return Owner.SETUP if own else Owner.FOREIGN


def refuse_foreign(places: Places) -> None:
    """Raise OperationError if something that setup did not make is in the way."""
    for path, suffix, owner in owners(places):
        if owner is Owner.FOREIGN:
            raise OperationError(
                f"{path} exists and setup did not make it",
                f"move it away or set {variable(places.tool, suffix)}",
            )


def menu_mark(tool: str) -> str:
    """Return the line that marks a menu entry as setup's own."""
    return f"X-CLI-Setup={tool}"


def read_mark(version: str) -> dict[str, str]:
    """Return what setup recorded in the directory of a version; {} if it made no record there.

    Raises OperationError for a damaged record.
    """
    import json

    path = os.path.join(version, MARK_DIRECTORY, MARK_FILE)
    content = small_file(path)
    if content is None:
        return {}
    try:
        return {key: str(value) for key, value in json.loads(content).items()}
    except (ValueError, AttributeError):
        above = os.path.dirname(version)
        remedy = f"if setup made {above}, remove it: rm -r {above}"
        raise OperationError(f"{path} is damaged; nothing was changed", remedy) from None


def is_program(tree: str, inside: str) -> bool:
    """Return whether `inside` ends at an executable file that lies in `tree`."""
    real = inner_file(tree, inside)
    return bool(real) and os.access(real, os.X_OK)


def inner_file(tree: str, inside: str) -> str:
    """Return the real path of the file at `inside`, or "" if it is no file in `tree`."""
    real = os.path.realpath(os.path.join(tree, inside))
    if inside and real.startswith(os.path.realpath(tree) + "/") and os.path.isfile(real):
        return real
    return ""


def small_file(path: str) -> str | None:
    """Return the text of a small regular file; None if there is none. Raises OSError."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return None
    except (FileNotFoundError, NotADirectoryError):
        return None
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(path, "rb", opener=lambda name, _: os.open(name, flags)) as file:
        return file.read(_LARGEST).decode("utf-8", "replace")

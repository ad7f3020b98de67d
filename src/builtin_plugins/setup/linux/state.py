"""Whose the things of a tool are, and whether it is installed or prepared.

Only looks, never runs anything; cheap enough for a listing (CONTRACT: installed is
the symlink that resolves to an executable inside the install directory).
"""

import os
import stat
from contextlib import suppress
from enum import Enum

from builtin_plugins.setup.tool_settings import Places, variable
from host import OperationError

MARK_DIRECTORY = ".cli-setup"  # in the install directory: what setup itself put there
MARK_FILE = "installed.json"
_MARK_LIMIT = 1 << 16


class Owner(Enum):
    """Whose a file or directory is."""

    NOBODY = "nobody"  # not there, or an empty directory
    SETUP = "setup"
    FOREIGN = "foreign"


def is_installed(places: Places) -> bool:
    """Tell whether the link resolves to an executable inside the install directory."""
    return starts_inside(places, places.install_dir)


def starts_from_stage(places: Places) -> bool:
    """Tell whether a killed change left the command starting from the stage."""
    return starts_inside(places, places.stage)


def starts_inside(places: Places, directory: str) -> bool:
    """Tell whether the link resolves to an executable file inside `directory`."""
    try:
        return os.path.islink(places.link) and is_program(directory, places.link)
    except ValueError:  # a variable with a NUL is no path
        return False


def link_owner(places: Places) -> Owner:
    """Tell whose the thing at the link's place is: a link into a foreign directory is foreign."""
    if not os.path.lexists(places.link):
        return Owner.NOBODY
    if not os.path.islink(places.link):
        return Owner.FOREIGN
    target = os.path.normpath(os.path.join(places.bin_dir, os.readlink(places.link)))
    if target.startswith(places.stage + "/"):
        return Owner.SETUP
    inside = target.startswith(places.install_dir + "/")
    own = inside and directory_owner(places) is not Owner.FOREIGN
    return Owner.SETUP if own else Owner.FOREIGN


def directory_owner(places: Places) -> Owner:
    """Tell whose the install directory is; an empty one is nobody's."""
    if not os.path.lexists(places.install_dir):
        return Owner.NOBODY
    if os.path.islink(places.install_dir) or not os.path.isdir(places.install_dir):
        return Owner.FOREIGN
    if read_mark(places.install_dir).get("tool") == places.tool:
        return Owner.SETUP
    return Owner.FOREIGN if os.listdir(places.install_dir) else Owner.NOBODY


def menu_owner(places: Places) -> Owner:
    """Tell whose the menu entry is, by the line that setup writes into its own."""
    content = small_file(places.desktop_file)
    if content is None:
        return Owner.FOREIGN if os.path.lexists(places.desktop_file) else Owner.NOBODY
    own = menu_mark(places.tool) in content.splitlines()
    return Owner.SETUP if own else Owner.FOREIGN


def owned(places: Places) -> tuple[tuple[str, str, Owner], ...]:
    """Return the three things of a tool: path, suffix of the variable that names it, whose."""
    return (
        (places.install_dir, "INSTALL_DIR", directory_owner(places)),
        (places.link, "BIN_DIR", link_owner(places)),
        (places.desktop_file, "DESKTOP_FILE", menu_owner(places)),
    )


def refuse_foreign(places: Places) -> None:
    """Raise OperationError when something that setup did not make is in the way."""
    for path, suffix, owner in owned(places):
        if owner is Owner.FOREIGN:
            raise OperationError(
                f"{path} is there and setup did not make it",
                f"move it away or set {variable(places.tool, suffix)}",
            )


def menu_mark(tool: str) -> str:
    """Return the line by which a menu entry is known as setup's own."""
    return f"X-CLI-Setup={tool}"


def read_mark(directory: str) -> dict[str, str]:
    """Return what setup noted in an application directory of its own; {} in a foreign one."""
    import json

    content = small_file(os.path.join(directory, MARK_DIRECTORY, MARK_FILE))
    try:
        noted = json.loads(content) if content else {}
    except ValueError:
        return {}
    return {key: str(value) for key, value in noted.items()} if isinstance(noted, dict) else {}


def read_prepared(tree: str) -> dict[str, str]:
    """Return the notes of `tree`: launcher, menu; raises OperationError without usable ones."""
    noted = read_mark(tree)
    if not noted.get("menu") or not is_program(tree, noted.get("launcher", "")):
        raise OperationError(f"{tree}: not a prepared application")
    return noted


def is_program(tree: str, inside: str) -> bool:
    """Tell whether `inside` ends at an executable file that lies in `tree`."""
    real = inner_file(tree, inside)
    return bool(real) and os.access(real, os.X_OK)


def inner_file(tree: str, inside: str) -> str:
    """Return the real path of the file at `inside`, or "" when it is none in `tree`."""
    real = os.path.realpath(os.path.join(tree, inside))
    if inside and real.startswith(os.path.realpath(tree) + "/") and os.path.isfile(real):
        return real
    return ""


def small_file(path: str) -> str | None:
    """Return the text of a small regular file that is no link, else None."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with suppress(OSError), open(path, "rb", opener=lambda name, _: os.open(name, flags)) as file:
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            content = file.read(_MARK_LIMIT + 1)
            return content.decode("utf-8", "replace") if len(content) <= _MARK_LIMIT else None
    return None

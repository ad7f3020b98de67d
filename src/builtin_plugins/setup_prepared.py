"""What is noted inside an application directory that setup made: whose it is, how it starts."""

import json
import os
from dataclasses import dataclass

from builtin_plugins.setup_state import MARK_DIRECTORY, MARK_FILE, read_mark
from host.errors import OperationError
from host.escape import printable

_MENU_FILE = "menu.desktop"


@dataclass(frozen=True)
class Prepared:
    """A version that is ready: its launcher's path inside it, and its menu entry's text."""

    launcher: str
    menu: str


def note(tree: str, tool: str, launcher: str, menu: str) -> None:
    """Write the notes of `tree`, which make it setup's own; raises OSError."""
    noted = {"tool": tool, "launcher": launcher}
    for name, text in ((_MENU_FILE, menu), (MARK_FILE, json.dumps(noted, indent=2) + "\n")):
        path = os.path.join(tree, MARK_DIRECTORY, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
            os.fchmod(file.fileno(), 0o644)


def read_prepared(tree: str) -> Prepared:
    """Return what is noted in `tree`; raises OperationError when it is not usable."""
    launcher = read_mark(tree).get("launcher", "")
    try:
        with open(os.path.join(tree, MARK_DIRECTORY, _MENU_FILE), encoding="utf-8") as file:
            menu = file.read()
    except (OSError, ValueError):
        menu = ""
    if not menu or not is_program(tree, launcher):
        raise OperationError(f"{printable(tree)}: not a prepared application")
    return Prepared(launcher, menu)


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

"""Finding a program as `execvp` would, from an environment that is only a mapping."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"


def find_program(name: str, environ: "Mapping[str, str]") -> str | None:
    """Return the path of the executable `name` on PATH (a fixed one when unset), or None."""
    if "/" in name:
        return name if _is_executable(name) else None
    for directory in environ.get("PATH", _DEFAULT_PATH).split(":"):
        candidate = os.path.join(directory or ".", name)
        if _is_executable(candidate):
            return candidate
    return None


def _is_executable(path: str) -> bool:
    return os.access(path, os.X_OK) and os.path.isfile(path)

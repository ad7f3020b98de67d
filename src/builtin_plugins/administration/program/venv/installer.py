"""The installer of this program's environment: its pip, or uv if it has none.

`uv tool` and `uv venv` make environments without pip; the environments of pipx share one pip. Both
installers run without prompts, with a time limit and with the user's configuration.
"""

import importlib.util
import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from builtin_plugins.io.bounded_call import bounded_call
from host import OperationError, find_program, masked_text
from host.run.importing import complete_import_path
from host.run.installation import home

INSTALLERS = ("pip", "uv")

_HEAD, _TAIL = 200, 400  # characters shown from the start and end of a long error

# Variables that would make pip or uv install into another environment.
_ELSEWHERE = (
    *("PIP_PREFIX", "PIP_PYTHON", "PIP_ROOT", "PIP_TARGET", "PIP_USER"),
    *("UV_PYTHON", "UV_SYSTEM_PYTHON", "VIRTUAL_ENV"),
)


def has_pip() -> bool:
    """Return whether this program's environment has pip, its own or a shared one."""
    complete_import_path()
    spec = importlib.util.find_spec("pip")
    return spec is not None and spec.origin is not None


def find_uv(environ: Mapping[str, str]) -> str:
    """Return the path of uv, on PATH or in ~/.local/bin. Raises OperationError if it is missing."""
    usual = os.path.join(home(environ), ".local", "bin", "uv")
    uv = find_program("uv", environ) or find_program(usual, environ)
    if uv is None:
        what = f"{sys.prefix} has no pip, and uv is not on PATH"
        raise OperationError(what, f"install pip with: {sys.executable} -m ensurepip")
    return uv


class Installer(NamedTuple):
    """pip, or uv if there is no pip, as configured by the caller's environment `environ`.

    A call takes at most `seconds`. The called program inherits the descriptors `held`, so their
    file locks stay until it ends, even if this process is killed. All methods raise OperationError.
    """

    environ: Mapping[str, str]
    seconds: float
    held: tuple[int, ...] = ()

    def pip(self, *arguments: str, python: str = sys.executable) -> str:
        """Return the output of `python -m pip ARGUMENTS`."""
        pip = [python, "-I", "-m", "pip", "--no-input", "--disable-pip-version-check", "--no-color"]
        return self._run([*pip, *arguments], f"pip {arguments[0]}")

    def uv(self, *arguments: str, given: str = "") -> str:
        """Return the output of `uv ARGUMENTS`; `given` is written to its stdin."""
        called = f"uv {' '.join(arguments[: 2 if arguments[0] == 'pip' else 1])}"
        uv = [find_uv(self.environ), "--color", "never", "--no-progress"]
        return self._run([*uv, *arguments], called, given)

    def _run(self, command: Sequence[str], called: str, given: str = "") -> str:
        """Run a command of the installer, which ignores a project in the caller's directory.

        `given` is written to its stdin. Error messages name the command as `called`.
        """
        own = {name: value for name, value in self.environ.items() if name not in _ELSEWHERE}
        own |= {"PIP_NO_INPUT": "1", "PYTHONUTF8": "1"}
        stdin, held = given.encode(), self.held
        ended = bounded_call(
            command, own, self.seconds, called, given=stdin, directory=sys.prefix, held=held
        )
        text = ended.stdout.decode("utf-8", "replace")
        if ended.status:
            reason = _reason(f"{text}\n{ended.stderr.decode('utf-8', 'replace')}")
            raise OperationError(f"{called}: {masked_text(reason) or 'failed'}")
        return text


def _reason(output: str) -> str:
    """Return an installer's output as one line that starts at the first error or conflict."""
    found = re.search(r"(?im)^\s*(the conflict is caused by:|error: )", output)
    text = " ".join(output[found.start() if found else 0 :].split())
    text = text.removeprefix("ERROR: ").removeprefix("error: ")
    return text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]} … {text[-_TAIL:]}"

"""The installer of this program's environment: its pip, or uv where it has none.

`uv tool` and `uv venv` make environments without pip; those of pipx share one. Each is
called without prompts and within bounds, and honours what its user configured for it.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from builtin_plugins.io.bounded_call import bounded_call
from host import OperationError, find_program, masked_text
from host.run.importing import complete_import_path

INSTALLERS = ("pip", "uv")

_CONFLICT = re.compile(r"^The conflict is caused by:\n(?P<sides>(?:[ \t]+\S.*\n)+)", re.MULTILINE)
_HASHES = re.compile(r"Expected sha256 (?P<expected>\w+)\s+Got\s+(?P<found>\w+)")
_CAUSE = re.compile(r"(?:^\s*cause:|╰─▶)\s*(?P<text>.*?)(?:\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)
_UNSOLVED = "No solution found"  # its cause says all of it
_BUILD = re.compile(r"\xd7 (?P<what>[^\n]+?)\.?\n[^\xd7]*?(?P<last>[^\n]+)\n\s*\[end of output\]")

# What would send it to another place than the environment that it is to change.
_ELSEWHERE = frozenset(
    [
        *("PIP_PREFIX", "PIP_PYTHON", "PIP_ROOT", "PIP_TARGET", "PIP_USER"),
        *("UV_PYTHON", "UV_SYSTEM_PYTHON", "VIRTUAL_ENV"),
    ]
)


def has_pip() -> bool:
    """Tell whether this program's environment has a pip, its own or a shared one."""
    complete_import_path()
    spec = importlib.util.find_spec("pip")
    return spec is not None and spec.origin is not None


def find_uv(environ: Mapping[str, str]) -> str:
    """Return the path of uv: on PATH, else where its own installer puts it.

    Raises OperationError where there is none.
    """
    usual = os.path.join(environ.get("HOME", ""), ".local", "bin", "uv")
    uv = find_program("uv", environ) or find_program(usual, environ)
    if uv is None:
        raise OperationError(
            f"{sys.prefix} has no pip, and there is no uv on PATH",
            f"install pip with: {sys.executable} -m ensurepip",
        )
    return uv


class Installer(NamedTuple):
    """pip, or uv where there is none, as the caller's environment `environ` configures it.

    A call takes `seconds` at most. `held` are descriptors that it keeps open: what they lock
    stays locked until it ends, even when this process is killed. All raise OperationError.
    """

    environ: Mapping[str, str]
    seconds: float
    held: tuple[int, ...]

    def pip(self, *arguments: str, python: str = sys.executable) -> str:
        """Return what `python -m pip ARGUMENTS` printed."""
        pip = [python, "-I", "-m", "pip", "--no-input", "--disable-pip-version-check", "--no-color"]
        return self._run([*pip, *arguments], f"pip {arguments[0]}")

    def uv(self, *arguments: str, asked: str = "") -> str:
        """Return what `uv ARGUMENTS` printed, given `asked` as its input."""
        called = f"uv {' '.join(arguments[: 2 if arguments[0] == 'pip' else 1])}"
        uv = [find_uv(self.environ), "--color", "never", "--no-progress"]
        return self._run([*uv, *arguments], called, asked)

    def _run(self, command: Sequence[str], called: str, asked: str = "") -> str:
        """Run it in this program's environment, away from any project of the caller's."""
        own = {name: value for name, value in self.environ.items() if name not in _ELSEWHERE}
        try:
            ended = bounded_call(
                command,
                own | {"PIP_NO_INPUT": "1", "PYTHONUTF8": "1"},
                self.seconds,
                given=asked.encode(),
                directory=sys.prefix,
                held=self.held,
            )
        except TimeoutError:
            raise OperationError(
                f"{called} took longer than {self.seconds:g} seconds; nothing was changed"
            ) from None
        text = ended.stdout.decode("utf-8", "replace")
        if ended.returncode:
            reason = _reason(f"{text}\n{ended.stderr.decode('utf-8', 'replace')}")
            raise OperationError(f"{called}: {masked_text(reason)[:600]}")
        return text


def _reason(output: str) -> str:
    if conflict := _CONFLICT.search(output):
        sides = "; ".join(line.strip() for line in conflict["sides"].splitlines())
        return f"these cannot be met together: {sides}"
    if hashes := _HASHES.search(output):
        return f"the SHA-256 is {hashes['found']}, expected {hashes['expected']}"
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    told = [line.partition(": ")[2] for line in lines if line.lower().startswith("error: ")]
    if cause := _CAUSE.search(output):
        text = " ".join(cause["text"].split())
        return text if not told or told[0].startswith(_UNSOLVED) else f"{told[0]}: {text}"
    if build := _BUILD.search(output):
        return f"{build['what']}: {build['last'].strip()}"
    text = told[-1] if told else (lines[-1] if lines else "failed without a word")
    if told and "No matching distribution" in told[-1] and len(told) > 1:
        text = f"{told[-2]}; {told[-1]}"
    return text

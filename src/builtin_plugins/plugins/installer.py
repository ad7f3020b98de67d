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

from builtin_plugins.library.bounded_call import bounded_call
from host import OperationError, find_program, masked_text
from host.caller import home
from host.processes.importing import complete_import_path

_HEAD, _TAIL = 200, 400  # characters shown from the start and end of a long error

# Variables that would make pip or uv install elsewhere, or something else.
_ELSEWHERE = (
    *("PIP_DRY_RUN", "PIP_IGNORE_INSTALLED", "PIP_NO_DEPS", "PIP_PREFIX", "PIP_PYTHON"),
    *("PIP_REPORT", "PIP_REQUIREMENT", "PIP_ROOT", "PIP_TARGET", "PIP_UPGRADE"),
    *("UV_PYTHON", "UV_SYSTEM_PYTHON", "UV_TARGET", "UV_PREFIX", "VIRTUAL_ENV"),
)
# These override pip's configuration files, too. pip's "no" for an option is "0".
_SET = {
    "PIP_NO_INPUT": "1",
    "PIP_REQUIRE_HASHES": "0",
    "PIP_USER": "0",
    "PYTHONUTF8": "1",
}
# pip starts each build with `sys.executable`. "--only-binary" does not keep it from building what
# a package requires from an address (`needed @ https://…/needed.tar.gz`).
_PIP_WITHOUT_BUILDS = (
    "import runpy, sys; sys.executable = sys.argv.pop(1); "
    "runpy.run_module('pip', run_name='__main__', alter_sys=True)"
)


def has_pip() -> bool:
    """Return whether this program's environment has pip, its own or a shared one."""
    complete_import_path()
    spec = importlib.util.find_spec("pip")
    if spec is None:
        return False
    # A directory that a removal left behind is a package without an origin.
    return spec.origin is not None


def check_installer() -> None:
    """Raise OperationError if there is neither pip nor uv."""
    if not has_pip():
        find_uv(os.environ)


def find_uv(environ: Mapping[str, str]) -> str:
    """Return the path of uv, on PATH or in ~/.local/bin. Raises OperationError if it is missing."""
    usual = os.path.join(home(environ), ".local", "bin", "uv")
    for name in ("uv", usual):
        uv = find_program(name, environ)
        if uv is not None:
            return uv

    what = f"{sys.prefix} has no pip, and uv is not on PATH"
    remedy = f"install uv, or install pip with: {sys.executable} -m ensurepip"
    raise OperationError(what, remedy)


def find_false(environ: Mapping[str, str]) -> str:
    """Return the path of the program `false`, or else a path that cannot be executed."""
    # It is in /bin on Linux and in /usr/bin on macOS; some systems have it only on PATH.
    system: dict[str, str] = {}
    program = find_program("false", system) or find_program("false", environ)
    return program or os.devnull


class Answer(NamedTuple):
    """The output of an installer: stdout, or if it failed, stdout and stderr."""

    output: str
    failed: bool


class Installer(NamedTuple):
    """pip, or uv if there is no pip, as configured by the caller's environment `environ`.

    A call takes at most `seconds`. All methods raise OperationError.
    """

    environ: Mapping[str, str]
    seconds: float

    def pip(self, *arguments: str, python: str = sys.executable) -> str:
        """Return the output of `python -m pip ARGUMENTS`."""
        answer = self.try_pip(*arguments, python=python)
        return checked_output(answer, f"pip {arguments[0]}")

    def uv(self, *arguments: str, given: str = "") -> str:
        """Return the output of `uv ARGUMENTS`; `given` is written to its stdin."""
        answer = self.try_uv(*arguments, given=given)
        return checked_output(answer, _uv_command(arguments))

    def install(self, *arguments: str, python: str = sys.executable) -> None:
        """Run `pip install ARGUMENTS`, or uv's equivalent, for the environment of `python`."""
        if has_pip():
            self.pip("install", *arguments, python=python)
            return
        # pip compiles what it installs; uv does only on demand.
        options = ("--python", python, "--compile-bytecode")
        self.uv("pip", "install", *options, *arguments)

    def try_pip(
        self, *arguments: str, python: str = sys.executable, can_build: bool = True
    ) -> Answer:
        """Return the answer of `python -m pip ARGUMENTS`; raise no error if pip fails.

        Unless it `can_build`, pip fails when it is about to run code of a package.
        """
        start = ["-m", "pip"]
        if not can_build:
            start = ["-c", _PIP_WITHOUT_BUILDS, find_false(self.environ)]
        options = ("--no-input", "--disable-pip-version-check", "--no-color")
        command = [python, "-I", *start, *options, *arguments]
        return self._run(command, f"pip {arguments[0]}")

    def try_uv(self, *arguments: str, given: str = "") -> Answer:
        """Return the answer of `uv ARGUMENTS`; `given` is written to its stdin."""
        uv = [find_uv(self.environ), "--color", "never", "--no-progress"]
        return self._run([*uv, *arguments], _uv_command(arguments), given)

    def _run(self, command: Sequence[str], called: str, given: str = "") -> Answer:
        """Run a command of the installer, which ignores a project in the caller's directory.

        `given` is written to its stdin. Error messages name the command as `called`.
        """
        environ = {**self.environ, **_SET}
        for name in _ELSEWHERE:
            environ.pop(name, None)

        ended = bounded_call(
            command,
            environ,
            self.seconds,
            called,
            given=given.encode(),
            directory=sys.prefix,
        )

        text = ended.stdout.decode("utf-8", "replace")
        if ended.status:
            text = f"{text}\n{ended.stderr.decode('utf-8', 'replace')}"
        return Answer(text, failed=ended.status != 0)


def _uv_command(arguments: Sequence[str]) -> str:
    count = 2 if arguments[0] == "pip" else 1
    return f"uv {' '.join(arguments[:count])}"


def checked_output(answer: Answer, called: str) -> str:
    """Return the output of an answer. Raises OperationError if the installer failed."""
    if answer.failed:
        reason = shortened(answer.output) or "failed"
        raise OperationError(f"{called}: {reason}")
    return answer.output


def shortened(output: str) -> str:
    """Return an installer's output as one line that starts at the first error or conflict."""
    # Before it stand progress and warnings.
    start = re.search(r"(?im)^\s*(the conflict is caused by:|error: )", output)
    if start:
        output = output[start.start() :]
    text = " ".join(output.split())
    text = text.removeprefix("ERROR: ").removeprefix("error: ")

    text = masked_text(text)
    if len(text) <= _HEAD + _TAIL:
        return text
    return f"{text[:_HEAD]} … {text[-_TAIL:]}"

"""The installer of this program's environment: its pip, or uv if it has none.

`uv tool` and `uv venv` make environments without pip; the environments of pipx share one pip. Both
installers run without prompts, with a time limit, in the caller's directory, and with the caller's
configuration of where packages come from.
"""

import importlib.util
import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

from builtin_plugins.library.bounded_call import bounded_call
from host import OperationError, find_program, masked_text
from host.caller import home
from host.processes.importing import complete_import_path
from host.processes.required_programs import satisfies

# The caller's variables that say where packages come from, and how they are fetched. Any other
# PIP_ or UV_ variable could install elsewhere, something else, or what must not be built.
_PASSED = (
    *("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX", "PIP_FIND_LINKS"),
    *("PIP_CONSTRAINT", "PIP_BUILD_CONSTRAINT", "PIP_PRE", "PIP_UPLOADED_PRIOR_TO"),
    *("PIP_CONFIG_FILE", "PIP_KEYRING_PROVIDER", "PIP_CACHE_DIR", "PIP_NO_CACHE_DIR"),
    *("PIP_CERT", "PIP_CLIENT_CERT", "PIP_TRUSTED_HOST", "PIP_PROXY", "PIP_TIMEOUT"),
    *("PIP_DEFAULT_TIMEOUT", "PIP_RETRIES", "PIP_RESUME_RETRIES", "PIP_USE_FEATURE"),
    *("PIP_USE_DEPRECATED", "PIP_COMPILE", "PIP_NO_COMPILE", "PIP_NO_BUILD_ISOLATION"),
    *("UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_CONSTRAINT"),
    *("UV_BUILD_CONSTRAINT", "UV_PRERELEASE", "UV_EXCLUDE_NEWER", "UV_CONFIG_FILE"),
    *(
        "UV_NO_CONFIG",
        "UV_KEYRING_PROVIDER",
        "UV_CACHE_DIR",
        "UV_NO_CACHE",
        "UV_OFFLINE",
    ),
    *("UV_INSECURE_HOST", "UV_NATIVE_TLS", "UV_SYSTEM_CERTS", "UV_LINK_MODE"),
    *("UV_REQUEST_TIMEOUT", "UV_NO_BUILD_ISOLATION", "UV_COMPILE_BYTECODE"),
)
# UV_INDEX_URL, UV_INDEX_ACME_PASSWORD, UV_HTTP_TIMEOUT, UV_CONCURRENT_DOWNLOADS …
_PASSED_FAMILIES = ("UV_INDEX", "UV_HTTP_", "UV_CONCURRENT_")
# These override pip's configuration files, too. pip's "no" for an option is "0".
_SET = {
    "PIP_NO_INPUT": "1",
    "PIP_PROGRESS_BAR": "off",
    "PIP_REQUIRE_HASHES": "0",
    "PIP_USER": "0",
}
_OLDEST_UV = "0.11.15"
_NUMBER = re.compile(r"\d+(?:\.\d+)+")
_VERSION_CONTROL = ("git", "hg", "svn", "bzr")
# pip starts each build with `sys.executable`. "--only-binary" does not keep it from building what
# a package requires from an address (`needed @ https://…/needed.tar.gz`). pip before 26.1.2 writes
# a script where its name leads (CVE-2026-8643).
_PIP = """
import runpy, sys
from contextlib import suppress

sys.executable = sys.argv.pop(1)
with suppress(ImportError):
    from pip._vendor.distlib.scripts import ScriptMaker

    def make(maker, script, *rest, make=ScriptMaker.make):
        if "/" in script:
            sys.exit(f"the script {script} names a path")
        return make(maker, script, *rest)

    ScriptMaker.make = make
runpy.run_module("pip", run_name="__main__", alter_sys=True)
"""


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
    """How a call of an installer has ended.

    output    its stdout; of pip, also its stderr
    said      all lines that it printed, for a message
    failed    why it failed, such as "exit status 1", or ""
    seconds   how long it took
    called    the command for messages, such as "pip install"
    """

    output: str
    said: tuple[str, ...]
    failed: str
    seconds: float
    called: str


class InstallerError(OperationError):
    """An installer failed after `seconds`; `said` has its own words."""

    def __init__(self, subject: str, answer: Answer) -> None:
        what = f"{answer.called} for {subject}: {answer.failed}"
        if answer.said:
            what = f"{what}; it said:"
        super().__init__(what)
        self.said = answer.said
        self.seconds = answer.seconds


class Installer(NamedTuple):
    """pip, or uv if there is no pip, as configured by the caller's environment `environ`.

    It runs in the caller's directory. A call takes at most `seconds`, and its temporary files are
    in the directory `area`. All methods raise OperationError.
    """

    environ: Mapping[str, str]
    seconds: float
    area: str

    @property
    def name(self) -> str:
        return "pip" if has_pip() else "uv"

    def install(self, subject: str, *arguments: str, can_build: bool) -> None:
        """Run `pip install ARGUMENTS`, or uv's equivalent; errors name the `subject`.

        Unless it `can_build`, no code of a package is run.
        """
        if has_pip():
            answer = self.pip("install", *arguments, can_build=can_build)
        else:
            self.check_uv()
            command = ["pip", "install", "--python", sys.executable]
            # pip compiles what it installs; uv does only on demand. The option would win.
            if "UV_COMPILE_BYTECODE" not in self.environ:
                command.append("--compile-bytecode")
            answer = self.uv(*command, *arguments, can_build=can_build)
        checked_output(answer, subject)

    def pip(self, *arguments: str, can_build: bool) -> Answer:
        """Return the answer of `python -m pip ARGUMENTS`; raise no error if pip fails.

        Unless it `can_build`, pip fails when it is about to run code of a package.
        """
        builder = sys.executable if can_build else find_false(self.environ)
        options = ("--no-input", "--disable-pip-version-check", "--no-color")
        command = [sys.executable, "-I", "-c", _PIP, builder, *options, *arguments]
        environ = self._environment(can_build=can_build)
        # pip writes the reasons of a failure to both.
        return self._run(command, f"pip {arguments[0]}", environ, stderr="stdout")

    def uv(self, *arguments: str, can_build: bool, given: str = "") -> Answer:
        """Return the answer of `uv ARGUMENTS`; `given` is written to its stdin.

        Its options say what it may build; unless it `can_build`, it finds no version control.
        """
        command = [find_uv(self.environ), "--color", "never", "--no-progress"]
        # uv reads the settings of the nearest project: neither that of the caller's directory nor
        # one above this directory is asked.
        with open(os.path.join(self.area, "pyproject.toml"), "w") as project:
            project.write("[tool.uv]\n")
        command += ["--project", self.area]

        count = 2 if arguments[0] == "pip" else 1
        called = f"uv {' '.join(arguments[:count])}"
        environ = self._environment(can_build=can_build)
        return self._run([*command, *arguments], called, environ, given)

    def check_uv(self) -> None:
        """Raise OperationError for a uv that writes a script where its name leads."""
        printed = checked_output(self.uv("--version", can_build=False), "its version")
        version = _NUMBER.search(printed)
        if version is None or not satisfies(version[0], f">={_OLDEST_UV}"):
            what = f"{printed.strip()} could write the scripts of a package anywhere"
            raise OperationError(what, f"update uv to {_OLDEST_UV} or newer")

    def _environment(self, *, can_build: bool) -> dict[str, str]:
        """Return the environment of an installer; unless it `can_build`, without version control.

        A requirement could name a repository.
        """
        environ = {}
        for name, value in self.environ.items():
            is_setting = name.startswith(("PIP_", "UV_"))
            is_passed = name in _PASSED or name.startswith(_PASSED_FAMILIES)
            if is_passed or not is_setting:
                environ[name] = value
        environ |= _SET
        environ["TMPDIR"] = self.area

        if not can_build:
            path = self.environ.get("PATH", os.defpath)
            environ["PATH"] = f"{self._without_version_control()}:{path}"
        return environ

    def _without_version_control(self) -> str:
        """Return a directory for PATH with programs that fail in the place of version control."""
        directory = os.path.join(self.area, "no-version-control")
        os.makedirs(directory, exist_ok=True)
        for name in _VERSION_CONTROL:
            with suppress(FileExistsError):
                os.symlink(find_false(self.environ), os.path.join(directory, name))
        return directory

    def _run(
        self,
        command: Sequence[str],
        called: str,
        environ: Mapping[str, str],
        given: str = "",
        stderr: Literal["return", "stdout"] = "return",
    ) -> Answer:
        """Run a command of the installer, with `given` as its stdin."""
        start = time.monotonic()
        ended = bounded_call(
            command,
            environ,
            self.seconds,
            called,
            given=given.encode(),
            stderr=stderr,
        )
        seconds = time.monotonic() - start

        output = ended.stdout.decode("utf-8", "replace")
        errors = ended.stderr.decode("utf-8", "replace")
        said = _for_message(f"{output}\n{errors}")
        return Answer(output, said, ended.why, seconds, called)


def checked_output(answer: Answer, subject: str) -> str:
    """Return the output of an answer. Raises InstallerError if the installer failed."""
    if answer.failed:
        raise InstallerError(subject, answer)
    return answer.output


def _for_message(output: str) -> tuple[str, ...]:
    """Return the lines of an installer's output, without logins; of a traceback only the error."""
    lines = []
    in_traceback = False
    for line in output.splitlines():
        if line.startswith("Traceback (most recent call last):"):
            in_traceback = True
        elif in_traceback and line.startswith(" "):
            continue
        else:
            in_traceback = False
            if line.strip():
                lines.append(masked_text(line.rstrip()))
    return tuple(lines)

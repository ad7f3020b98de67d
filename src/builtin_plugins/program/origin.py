"""Where the program that runs comes from: a clone, an index, a package manager or a single file."""

import os
import shlex
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import importlib_metadata

import host
from builtin_plugins.library.bounded_call import bounded_call
from builtin_plugins.library.files.atomic import write_file
from builtin_plugins.program.shipped_files import is_checkout
from host import OperationError, find_program
from host.hook_marker import OWN_DISTRIBUTION
from host.processes.importing import complete_import_path

_COMMIT = "cli-host-commit"  # the file in a clone's environment with the commit it was made of
# the file with the path of the single file; see release/zipapp
_ARCHIVE = "cli-host-archive"
_SECONDS = 20.0  # for a question to a package manager

# A question "which package has this file", and the command that updates the package.
_MANAGERS = (
    (("dpkg-query", "--search"), "sudo apt-get install --only-upgrade {0}"),
    (("rpm", "--query", "--queryformat", "%{NAME}", "--file"), "sudo dnf upgrade {0}"),
    (("pacman", "--query", "--quiet", "--owns"), "sudo pacman -S {0}"),
    (("apk", "info", "--quiet", "--who-owns"), "sudo apk upgrade {0}"),
)
# A directory in the program's path, and the command that updates the program.
_STORES = {
    "/nix/store/": "nix profile upgrade cli-host",
    "/Cellar/": "brew upgrade cli-host",
}


def clone_of_program() -> str:
    """Return the clone whose .venv runs this program, made by install.sh, or ""."""
    clone, name = os.path.split(sys.prefix)
    if name == ".venv" and is_checkout(clone):
        return clone
    return ""


def installed_commit() -> str:
    """Return the commit from which the clone's environment was made, or "" if that is unknown."""
    with suppress(OSError, ValueError):
        return Path(sys.prefix, _COMMIT).read_text(encoding="ascii").strip()
    return ""


def record_commit(environment: str, commit: str) -> None:
    """Record that an environment of a clone was made from `commit`. Raises OSError."""
    write_file(os.path.join(environment, _COMMIT), f"{commit}\n")


def check_updatable(environ: Mapping[str, str], launcher: str) -> None:
    """Raise OperationError if this program cannot update itself; the error names what can.

    `launcher` is the path of the installation's launcher.
    """
    archive = archive_of_program()
    if archive:
        what = f"{archive}: a program in a single file cannot update itself"
        remedy = "replace it by the file of the newer version"
        if os.path.exists(launcher):
            command = shlex.join(["python3", archive, "self", "launcher", launcher])
            remedy += f", and run: {command}"
        raise OperationError(what, remedy)

    # A package manager knows no path through a link.
    file = os.path.realpath(host.__file__)
    installer = _installer_of_program()
    command = _command_of_owner(file, environ)
    if not command and installer == "conda":
        command = "conda update cli-host"
    if command:
        what = f"{file}: a package manager installed this program"
        raise OperationError(what, command)

    if installer not in ("pip", "uv"):
        what = f"{sys.prefix}: {installer} installed this program"
        raise OperationError(what, f"update it with {installer}")


def _installer_of_program() -> str:
    """Return the name of the installer that the program's metadata has, or "pip"."""
    complete_import_path()
    distribution = importlib_metadata.distribution(OWN_DISTRIBUTION)
    installer = distribution.read_text("INSTALLER")
    if not installer:
        return "pip"
    return installer.strip()


def archive_of_program() -> str:
    """Return the single file from which this program's environment was unpacked, or ""."""
    with suppress(OSError):
        content = Path(sys.prefix, _ARCHIVE).read_bytes()
        return os.fsdecode(content).removesuffix("\n")
    return ""


def _command_of_owner(path: str, environ: Mapping[str, str]) -> str:
    """Return the command of the package manager that installed the file at `path`, or ""."""
    for part, command in _STORES.items():
        if part in path:
            return command

    for question, command in _MANAGERS:
        manager = question[0]
        if find_program(manager, environ) is None:
            continue

        with suppress(OperationError, OSError):
            answer = bounded_call([*question, path], environ, _SECONDS, manager)
            if answer.status:
                continue
            # dpkg prints "PACKAGE: PATH"; the others print only the package.
            owner, _, _ = answer.stdout.decode("utf-8", "replace").partition(":")
            packages = owner.split()
            if packages:
                return command.format(packages[0])
    return ""

"""Who installed the program that runs, and which commands update and remove it."""

import json
import os
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import importlib_metadata

import host
from builtin_plugins.library.bounded_call import bounded_call
from builtin_plugins.program.launcher import environment, interpreter
from host import OperationError, find_program, masked_text
from host.hook_marker import OWN_DISTRIBUTION
from host.processes.importing import complete_import_path

Command = tuple[str, ...]

_COMMIT = "cli-host-commit"  # install.sh writes the commit of the clone to this file
# the file with the path of the single file; see release/zipapp
_ARCHIVE = "cli-host-archive"
_SECONDS = 20.0  # for a question to a package manager

# A question "which package has this file", and how the package is updated and removed.
_MANAGERS = (
    (
        ("dpkg-query", "--search"),
        "sudo apt-get install --only-upgrade",
        "sudo apt-get remove",
    ),
    (
        ("rpm", "--query", "--queryformat", "%{NAME}", "--file"),
        "sudo dnf upgrade",
        "sudo dnf remove",
    ),
    (("pacman", "--query", "--quiet", "--owns"), "sudo pacman -S", "sudo pacman -R"),
    (("apk", "info", "--quiet", "--who-owns"), "sudo apk upgrade", "sudo apk del"),
)
# A directory in the program's path, and how the program is updated and removed.
_STORES = {
    "/nix/store/": ("nix profile upgrade cli-host", "nix profile remove cli-host"),
    "/Cellar/": ("brew upgrade cli-host", "brew uninstall cli-host"),
}


class Origin(NamedTuple):
    """Who installed the program that runs.

    what       what was installed, and by whom, for messages
    update     the line for a shell that updates the program, or advice
    removal    the line for a shell that removes the program, or advice
    commands   the commands of `update` if `self update` may run them
    clone      the clone in which install.sh made the program's environment, or ""
    """

    what: str
    update: str
    removal: str
    commands: tuple[Command, ...] = ()
    clone: str = ""


def origin_of_program(environ: Mapping[str, str], launcher: str) -> Origin:
    """Return who installed the program that runs. `launcher` is that of the installation.

    Each installer leaves its own mark: the path of the single file, the list of a package
    manager, the receipt of uv or pipx, and the metadata of the distribution, in which pip and uv
    record their name and the address (PEP 376, PEP 610).
    """
    archive = _single_file()
    if archive:
        return _of_single_file(archive, launcher)

    clone = _clone()
    if clone:
        return _of_clone(clone)

    # A package manager knows no path through a link.
    file = os.path.realpath(host.__file__)
    owner = _owner(file, environ)
    if owner:
        update, removal = owner
        what = f"{file}: a package manager installed this program"
        return Origin(what, update, removal)

    # One tool may contain this program for another one, so its folder has the tool's name.
    name = os.path.basename(environment())
    if os.path.exists(os.path.join(environment(), "uv-receipt.toml")):
        tool = ("uv", "tool")
        return _of_installer("uv", (*tool, "upgrade", name), (*tool, "uninstall", name))
    if os.path.exists(os.path.join(environment(), "pipx_metadata.json")):
        return _of_installer(
            "pipx", ("pipx", "upgrade", name), ("pipx", "uninstall", name)
        )
    return _of_environment()


def _of_single_file(archive: str, launcher: str) -> Origin:
    what = f"{archive}: a program in a single file cannot update itself"
    update = "replace it by the file of the newer version"
    if os.path.exists(launcher):
        command = shlex.join(("python3", archive, "self", "launcher", launcher))
        update += f", and run: {command}"
    return Origin(what, update, shlex.join(("rm", "-r", archive, environment())))


def _of_clone(clone: str) -> Origin:
    what = f"{clone}: install.sh installed this program"
    pull = ("git", "-C", clone, "pull", "--ff-only")
    install = ("bash", os.path.join(clone, "install.sh"))
    origin = _of_installer("", install, (*install, "--uninstall"))
    commands = (pull, install)
    update = " && ".join(map(shlex.join, commands))
    return Origin(what, update, origin.removal, commands, clone)


def _of_installer(installer: str, update: Command, removal: Command) -> Origin:
    what = f"{environment()}: {installer} installed this program"
    return Origin(what, shlex.join(update), shlex.join(removal), (update,))


def _of_environment() -> Origin:
    """Return the origin that the distribution's own metadata has."""
    python = interpreter()
    installer = _metadata("INSTALLER").strip() or "pip"
    if installer == "conda":
        what = f"{environment()}: conda installed this program"
        name = OWN_DISTRIBUTION
        return Origin(what, f"conda update {name}", f"conda remove {name}")
    if installer == "uv":
        # Not with the settings of the caller's directory, which may name another index.
        place = ("--project", environment())
        install: Command = ("uv", "pip", "install", *place, "--python", python)
        removal: Command = ("uv", "pip", "uninstall", "--python", python)
    elif installer == "pip":
        # -I: not with a module pip or types of the caller's directory
        pip = (python, "-I", "-m", "pip")
        install = (*pip, "install")
        removal = (*pip, "uninstall")
    else:
        what = f"{environment()}: {installer} installed this program"
        advice = f"it with {installer}"
        return Origin(what, f"update {advice}", f"remove {advice}")

    install = (*install, "--upgrade")
    origin = _of_installer(
        installer, (*install, OWN_DISTRIBUTION), (*removal, OWN_DISTRIBUTION)
    )
    address = masked_text(_address())
    if not address:
        return origin
    # The index may have another program of this name.
    what = f"{address}: this program was installed from there"
    wanted = f"{OWN_DISTRIBUTION} @ {address}"
    again = shlex.join((*install, "--force-reinstall", wanted))
    return Origin(what, again, origin.removal)


def _metadata(name: str) -> str:
    """Return a file of this program's metadata, or "" if it is missing."""
    complete_import_path()
    with suppress(importlib_metadata.PackageNotFoundError):
        distribution = importlib_metadata.distribution(OWN_DISTRIBUTION)
        return distribution.read_text(name) or ""
    return ""


def _address() -> str:
    """Return the address from which pip or uv installed this program, or "" for an index."""
    with suppress(ValueError):
        record = json.loads(_metadata("direct_url.json") or "{}")
        if isinstance(record, dict):
            return str(record.get("url", ""))
    return ""


def _clone() -> str:
    """Return the clone whose install.sh made the environment of this program, or "".

    A user's repository may have an environment `.venv`, too, with this program in it. So the
    record of pip decides, and never a file of the clone: git may be about to rewrite that.
    """
    clone, name = os.path.split(environment())
    if name != ".venv" or not os.path.lexists(os.path.join(clone, ".git")):
        return ""

    address = urlsplit(_address())
    with suppress(OSError, ValueError):
        if address.scheme == "file" and os.path.samefile(unquote(address.path), clone):
            return clone
    return ""


def installed_commit() -> str:
    """Return the commit from which the clone's environment was made, or "" if that is unknown."""
    with suppress(OSError, ValueError):
        return Path(environment(), _COMMIT).read_text(encoding="ascii").strip()
    return ""


def _single_file() -> str:
    """Return the single file from which this program's environment was unpacked, or ""."""
    with suppress(OSError):
        content = Path(environment(), _ARCHIVE).read_bytes()
        return os.fsdecode(content).removesuffix("\n")
    return ""


def _owner(path: str, environ: Mapping[str, str]) -> tuple[str, str] | None:
    """Return how the package manager that installed the file at `path` updates and removes it."""
    for part, (update, removal) in _STORES.items():
        if part in path:
            return update, removal

    for question, update, removal in _MANAGERS:
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
                return f"{update} {packages[0]}", f"{removal} {packages[0]}"
    return None

"""Install, upgrade and uninstall on macOS: Homebrew does it, as a cask."""

import os
import shlex
import subprocess
from collections.abc import Mapping

from builtin_plugins.io.files.atomic import write_file
from builtin_plugins.io.progress import Reporter
from builtin_plugins.setup.tool_settings import Settings, home, variable
from host import OperationError, find_program

_PREFIXES = ("/opt/homebrew", "/usr/local")
_MARK = "# made by setup for the cask "


def is_installed(cask: str, environ: Mapping[str, str]) -> bool:
    """Return whether the cask's directory exists; runs nothing."""
    name = cask.rpartition("/")[2]
    return any(os.path.isdir(os.path.join(p, "Caskroom", name)) for p in _prefixes(environ))


def installed_as(settings: Settings) -> str:
    """Return what is installed, "" for nothing; raises OperationError without Homebrew."""
    _find_brew(settings.environ)
    return f"cask {settings.cask}" if is_installed(settings.cask, settings.environ) else ""


def install(settings: Settings, reporter: Reporter) -> str:
    """Let brew install or upgrade the cask, and return what is installed; raises OperationError."""
    brew = _find_brew(settings.environ)
    action = "upgrade" if is_installed(settings.cask, settings.environ) else "install"
    _run(brew, action, settings.cask, settings.environ)
    _provide_command(settings, brew, reporter)
    return f"cask {settings.cask}"


def uninstall(settings: Settings, _: Reporter) -> bool:
    """Let brew remove the cask, without --zap: data stays. Return whether it was there."""
    brew = _find_brew(settings.environ)
    there = is_installed(settings.cask, settings.environ)
    if there:
        _run(brew, "uninstall", settings.cask, settings.environ)
    command = _command_path(settings, brew)
    if _is_own(command):
        os.unlink(command)
    return there


def _find_brew(environ: Mapping[str, str]) -> str:
    usual = [os.path.join(prefix, "bin", "brew") for prefix in _prefixes(environ)]
    for one in ("brew", *usual):
        if brew := find_program(one, environ):
            return brew
    raise OperationError("Homebrew is not installed", "see https://brew.sh, then try again")


def _prefixes(environ: Mapping[str, str]) -> list[str]:
    """Return where Homebrew may be: HOMEBREW_PREFIX, else beside brew and the usual places."""
    own = environ.get("HOMEBREW_PREFIX", "")
    if own:
        return [own]
    brew = find_program("brew", environ)
    beside = [os.path.dirname(os.path.dirname(os.path.abspath(brew)))] if brew else []
    return list(dict.fromkeys([*beside, *_PREFIXES]))


def _run(brew: str, action: str, cask: str, environ: Mapping[str, str]) -> None:
    """Run brew with its output, which is progress, on stderr; raises OperationError, OSError."""
    done = subprocess.run([brew, action, "--cask", cask], env=dict(environ), stdout=2, check=False)
    if done.returncode:
        raise OperationError(f"brew {action} --cask {cask} failed with status {done.returncode}")


def _provide_command(settings: Settings, brew: str, reporter: Reporter) -> None:
    """Put the tool's word on the PATH, unless the cask brought a command of its own.

    A script rather than a link: an application finds its frameworks only if it is started by its
    path inside the bundle.
    """
    command = _command_path(settings, brew)
    if os.path.lexists(command) and not _is_own(command):
        return
    program = _find_program(settings.name, settings.environ)
    if not program:
        reporter.warn(f"no {settings.name}.app found, so there is no command for it")
        return
    try:
        os.makedirs(os.path.dirname(command), exist_ok=True)
        text = f'#!/bin/sh\n{_MARK}{settings.cask}\nexec {shlex.quote(program)} "$@"\n'
        write_file(command, text, 0o755)
    except OSError as failure:
        reporter.warn(f"{command}: {failure.strerror}; {settings.name} has no command")


def _command_path(settings: Settings, brew: str) -> str:
    """Return where the command goes: the chosen BIN_DIR, else beside brew."""
    places = settings.places
    chosen = settings.environ.get(variable(places.tool, "BIN_DIR"))
    return os.path.join(chosen or os.path.dirname(os.path.abspath(brew)), places.tool)


def _find_program(name: str, environ: Mapping[str, str]) -> str:
    for applications in ("/Applications", os.path.join(home(environ), "Applications")):
        program = os.path.join(applications, f"{name}.app", "Contents", "MacOS", name)
        if os.path.isfile(program) and os.access(program, os.X_OK):
            return program
    return ""


def _is_own(command: str) -> bool:
    if os.path.islink(command) or not os.path.isfile(command):
        return False
    with open(command, "rb") as file:
        return file.read(256).partition(b"\n")[2].startswith(_MARK.encode())

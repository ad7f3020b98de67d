"""Install, upgrade and uninstall on macOS, as a Homebrew cask."""

import os
import shlex
import subprocess
from collections.abc import Mapping

from builtin_plugins.io.files.atomic import write_file
from builtin_plugins.setup.tool_settings import ToolSettings, variable
from host import Messages, OperationError, find_program

_BREWS = ("brew", "/opt/homebrew/bin/brew", "/usr/local/bin/brew")
_MARK = "# made by setup for the cask "


def is_installed(settings: ToolSettings) -> bool:
    """Return whether the cask's directory exists; no program is run."""
    brew = _find_brew(settings.environ)
    name = os.path.basename(settings.values["HOMEBREW_CASK"])
    prefix = os.path.dirname(os.path.dirname(os.path.abspath(brew)))
    return bool(brew) and os.path.isdir(os.path.join(prefix, "Caskroom", name))


def installed_as(settings: ToolSettings) -> str:
    """Return "cask NAME" if the cask is installed, else "".

    Raises OperationError if brew is missing.
    """
    if not _find_brew(settings.environ):
        raise OperationError(
            "Homebrew is not installed", "see https://brew.sh, then try again"
        )
    return f"cask {settings.values['HOMEBREW_CASK']}" if is_installed(settings) else ""


def install(settings: ToolSettings, messages: Messages) -> str:
    """Install or upgrade the cask; return "cask NAME". Raises OperationError."""
    _run_brew("upgrade" if is_installed(settings) else "install", settings)
    _provide_command(settings, messages)
    return installed_as(settings)


def uninstall(settings: ToolSettings, _: Messages) -> bool:
    """Uninstall the cask, but keep user data (no --zap); return whether the cask was installed."""
    is_installed = bool(installed_as(settings))
    if is_installed:
        _run_brew("uninstall", settings)
    if _is_own(_command_path(settings)):
        os.unlink(_command_path(settings))
    return is_installed


def _find_brew(environ: Mapping[str, str]) -> str:
    """Return the path of brew, or "" if it is not found."""
    return next(filter(None, (find_program(brew, environ) for brew in _BREWS)), "")


def _run_brew(action: str, settings: ToolSettings) -> None:
    """Run brew with its progress output on stderr. Raises OperationError or OSError."""
    command = [action, "--cask", settings.values["HOMEBREW_CASK"]]
    brew, environ = _find_brew(settings.environ), dict(settings.environ)
    done = subprocess.run([brew, *command], env=environ, stdout=2, check=False)
    if done.returncode:
        raise OperationError(
            f"brew {' '.join(command)} failed with status {done.returncode}"
        )


def _provide_command(settings: ToolSettings, messages: Messages) -> None:
    """Create a command with the tool's name, unless the cask installed one.

    The command is a script, not a link, because an application finds its frameworks only if it is
    started by its path inside the bundle.
    """
    command, name = _command_path(settings), settings.name
    if os.path.lexists(command) and not _is_own(command):
        return
    homes = ("/", settings.environ.get("HOME", "/"))
    inside = f"Applications/{name}.app/Contents/MacOS/{name}"
    programs = [os.path.join(home, inside) for home in homes]
    program = next(
        (program_path for program_path in programs if os.access(program_path, os.X_OK)),
        "",
    )
    if not program:
        messages.warn(f"{name}.app was not found, so no command was created for it")
        return
    text = f'#!/bin/sh\n{_MARK}{settings.tool}\nexec {shlex.quote(program)} "$@"\n'
    os.makedirs(os.path.dirname(command), exist_ok=True)
    write_file(command, text, 0o755)


def _command_path(settings: ToolSettings) -> str:
    """Return the path for the command: in the chosen BIN_DIR or, by default, beside brew."""
    chosen = settings.environ.get(variable(settings.tool, "BIN_DIR"))
    beside = os.path.dirname(os.path.abspath(_find_brew(settings.environ)))
    return os.path.join(chosen or beside, settings.tool)


def _is_own(command: str) -> bool:
    if os.path.islink(command) or not os.path.isfile(command):
        return False
    with open(command, "rb") as file:
        return _MARK.encode() in file.read(256)

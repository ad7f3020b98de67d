"""Install, upgrade and uninstall on macOS, as a Homebrew cask."""

import os
import shlex
import subprocess
from collections.abc import Mapping

from builtin_plugins.library.files.atomic import is_real_file, write_file
from builtin_plugins.setup.tool_settings import ToolSettings, variable
from host import Messages, OperationError, find_program

_BREWS = ("brew", "/opt/homebrew/bin/brew", "/usr/local/bin/brew")
_MARK = "# made by setup for the cask "


def is_installed(settings: ToolSettings) -> bool:
    """Return whether the cask's directory exists; no program is run."""
    brew = _find_brew(settings.environ)
    if not brew:
        return False

    # brew is in PREFIX/bin. A cask of a tap is called OWNER/TAP/NAME.
    bin_dir = os.path.dirname(os.path.abspath(brew))
    prefix = os.path.dirname(bin_dir)
    name = os.path.basename(settings.variables["HOMEBREW_CASK"])
    cask = os.path.join(prefix, "Caskroom", name)
    return os.path.isdir(cask)


def installed_as(settings: ToolSettings) -> str:
    """Return "cask NAME" if the cask is installed, else "".

    Raises OperationError if brew is missing.
    """
    if not _find_brew(settings.environ):
        raise OperationError(
            "Homebrew is not installed", "see https://brew.sh, then try again"
        )

    if not is_installed(settings):
        return ""
    return f"cask {settings.variables['HOMEBREW_CASK']}"


def install(settings: ToolSettings, messages: Messages) -> str:
    """Install or upgrade the cask; return "cask NAME". Raises OperationError."""
    action = "install"
    if is_installed(settings):
        action = "upgrade"
    _run_brew(action, settings)
    _provide_command(settings, messages)
    return installed_as(settings)


def uninstall(settings: ToolSettings, _: Messages) -> bool:
    """Uninstall the cask, but keep user data (no --zap); return whether the cask was installed."""
    was_installed = installed_as(settings) != ""
    if was_installed:
        _run_brew("uninstall", settings)

    command = _command_path(settings)
    if _is_own(command):
        os.unlink(command)
    return was_installed


def _find_brew(environ: Mapping[str, str]) -> str:
    """Return the path of brew, or "" if it is not found."""
    for name in _BREWS:
        path = find_program(name, environ)
        if path:
            return path
    return ""


def _run_brew(action: str, settings: ToolSettings) -> None:
    """Run brew with its progress output on stderr. Raises OperationError or OSError."""
    words = [action, "--cask", settings.variables["HOMEBREW_CASK"]]
    brew = _find_brew(settings.environ)
    environ = dict(settings.environ)

    completed = subprocess.run([brew, *words], env=environ, stdout=2, check=False)
    status = completed.returncode
    if status:
        raise OperationError(f"brew {' '.join(words)} failed with status {status}")


def _provide_command(settings: ToolSettings, messages: Messages) -> None:
    """Create a command with the tool's name, unless the cask installed one.

    The command is a script, not a link, because an application finds its frameworks only if it is
    started by its path inside the bundle.
    """
    command = _command_path(settings)
    if os.path.lexists(command) and not _is_own(command):
        return

    program = _application_program(settings)
    if not program:
        messages.warn(
            f"{settings.name}.app was not found, so no command was created for it"
        )
        return

    text = f'#!/bin/sh\n{_MARK}{settings.tool}\nexec {shlex.quote(program)} "$@"\n'
    folder = os.path.dirname(command)
    os.makedirs(folder, exist_ok=True)
    write_file(command, text, 0o755)


def _application_program(settings: ToolSettings) -> str:
    """Return the path of the program inside the application's bundle, or "" if there is none."""
    name = settings.name
    inside = f"Applications/{name}.app/Contents/MacOS/{name}"
    # A cask is in /Applications or, with brew's option --appdir, often in ~/Applications.
    for home in ("/", settings.environ.get("HOME", "/")):
        path = os.path.join(home, inside)
        if os.access(path, os.X_OK):
            return path
    return ""


def _command_path(settings: ToolSettings) -> str:
    """Return the path for the command: in the chosen BIN_DIR or, by default, beside brew."""
    name = variable(settings.tool, "BIN_DIR")
    directory = settings.environ.get(name)
    if not directory:
        brew = os.path.abspath(_find_brew(settings.environ))
        directory = os.path.dirname(brew)
    return os.path.join(directory, settings.tool)


def _is_own(command: str) -> bool:
    """Return whether setup made the script at the path `command`."""
    if not is_real_file(command):
        return False

    with open(command, "rb") as file:
        beginning = file.read(256)
    return _MARK.encode() in beginning

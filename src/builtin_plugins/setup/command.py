"""`setup <tool>`: install, upgrade or uninstall a desktop application (SPEC 4.3)."""

import argparse
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import NoReturn

from builtin_plugins.library.files.undo import os_errors_explained
from builtin_plugins.library.progress import QuietMessages
from builtin_plugins.setup import macos
from builtin_plugins.setup.linux import install as linux
from builtin_plugins.setup.tool_settings import ToolSettings
from host import Messages, OperationError, Program, UsageError


def run(arguments: Sequence[str], environ: Mapping[str, str], platform: str) -> int:
    """Perform the action that the options select, with the variables in `environ`; return 0.

    `platform` is a value of `sys.platform`. Raises HostError.
    """
    program = Program.current(environ)
    options = _parse(arguments)
    if options.help:
        return program.run(("help", *program.words)).returncode

    name = program.find(program.words).definition.name
    tool = program.words[-1]
    settings = ToolSettings.read(tool, name, environ)
    settings.check()

    called = " ".join([program.name, *program.words])
    messages = Messages(called, environ)
    if options.quiet:
        messages = QuietMessages(called, environ)
    messages.debugging |= options.verbose

    system = macos if platform == "darwin" else linux
    with os_errors_explained():
        state = _change(system, settings, options, messages)
        messages.line(f"{name} {state}")
    return 0


def _change(
    system: ModuleType,
    settings: ToolSettings,
    options: argparse.Namespace,
    messages: Messages,
) -> str:
    """Perform the action that the options select; return a description of the tool's new state."""
    if options.uninstall:
        if system.uninstall(settings, messages):
            return "is uninstalled; your own data is kept"
        return "is not installed"

    present = system.installed_as(settings)
    if options.upgrade:
        if not present:
            raise OperationError(f"{settings.name} is not installed")
        place = system.install(settings, messages)
        return f"is upgraded: {place}"

    if present:
        return f"is already installed ({present}); to upgrade it, add --upgrade"
    place = system.install(settings, messages)
    return f"is installed: {place}"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the options of `setup`, even if the definition has no `args`. Raises UsageError."""
    parser = _Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("-h", "--help", action="store_true")

    action = parser.add_mutually_exclusive_group()
    action.add_argument("-u", "--upgrade", action="store_true")
    action.add_argument("--uninstall", action="store_true")

    amount = parser.add_mutually_exclusive_group()
    amount.add_argument("-v", "--verbose", action="store_true")
    amount.add_argument("-q", "--quiet", action="store_true")

    return parser.parse_args(arguments)

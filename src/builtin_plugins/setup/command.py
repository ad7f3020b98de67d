"""`setup <tool>`: install, upgrade or uninstall a desktop application (SPEC 4.3)."""

import argparse
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import NoReturn

from builtin_plugins.io.files.undo import os_errors_explained
from builtin_plugins.io.progress import QuietMessages
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
    settings = ToolSettings.read(program.words[-1], name, environ)
    settings.check()
    system = macos if platform == "darwin" else linux
    called = " ".join([program.name, *program.words])
    messages = (QuietMessages if options.quiet else Messages)(called, environ)
    messages.debugging |= options.verbose
    with os_errors_explained():
        messages.line(f"{name} {_change(system, settings, options, messages)}")
    return 0


def _change(
    system: ModuleType,
    settings: ToolSettings,
    options: argparse.Namespace,
    messages: Messages,
) -> str:
    """Perform the action that the options select; return a description of the tool's new state."""
    if options.uninstall:
        removed = system.uninstall(settings, messages)
        return (
            "is uninstalled; your own data is kept" if removed else "is not installed"
        )
    present = system.installed_as(settings)
    if options.upgrade and not present:
        raise OperationError(f"{settings.name} is not installed")
    if present and not options.upgrade:
        return f"is already installed ({present}); to upgrade it, add --upgrade"
    done = "upgraded" if options.upgrade else "installed"
    return f"is {done}: {system.install(settings, messages)}"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the options of `setup`, even if the definition has no `args`. Raises UsageError."""
    parser = _Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("-h", "--help", action="store_true")
    actions = (("-u", "--upgrade"), ("--uninstall",))
    amounts = (("-v", "--verbose"), ("-q", "--quiet"))
    for options in (actions, amounts):
        group = parser.add_mutually_exclusive_group()
        for spellings in options:
            group.add_argument(*spellings, action="store_true")
    return parser.parse_args(arguments)

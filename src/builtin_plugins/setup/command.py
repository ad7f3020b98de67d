"""`setup <tool>`: install, upgrade or uninstall a desktop application (SPEC 4.3)."""

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType

import click

from builtin_plugins.fetch.progress import Reporter
from builtin_plugins.setup import macos
from builtin_plugins.setup.help import help_text
from builtin_plugins.setup.linux import install as linux
from builtin_plugins.setup.settings import read_settings
from builtin_plugins.setup.tool import Tool, find_tool
from host.errors import CannotStartError, UsageError
from host.run.text import printable


def main(arguments: Sequence[str]) -> int:
    """Do what the options say and return 0; raises HostError when it cannot be done."""
    try:
        return run(arguments, os.environ, sys.platform)
    except KeyboardInterrupt:  # everything is tidied up; now end as Ctrl-C ends a program
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
        return 130


def run(arguments: Sequence[str], environ: Mapping[str, str], platform: str) -> int:
    """As `main`, for the merged environment `environ` on `platform` (as `sys.platform`)."""
    tool = find_tool(environ)
    label = _label(tool, environ)
    command = _command(tool, label, environ, platform)
    try:
        command.main(list(arguments), prog_name=label, standalone_mode=False)
    except click.UsageError as failure:
        raise UsageError(printable(failure.format_message())) from None
    except click.Abort:
        raise KeyboardInterrupt from None
    return 0


def _label(tool: Tool, environ: Mapping[str, str]) -> str:
    """Return the words that started this: the host gives them as its runner's first argument."""
    if os.path.basename(sys.argv[0]) == "python_entrypoint.py" and len(sys.argv) > 1:
        return sys.argv[1]
    return f"cli {environ.get('COMMAND_CATEGORY', 'setup')} {tool.word}"


def _command(tool: Tool, label: str, environ: Mapping[str, str], platform: str) -> click.Command:
    @click.command(add_help_option=False)
    @click.option("-h", "--help", "wants_help", is_flag=True)
    @click.option("-u", "--upgrade", is_flag=True)
    @click.option("--uninstall", is_flag=True)
    @click.option("-v", "--verbose", is_flag=True)
    @click.option("-q", "--quiet", is_flag=True)
    def command(
        wants_help: bool,
        upgrade: bool,
        uninstall: bool,
        verbose: bool,
        quiet: bool,
    ) -> None:
        if quiet and verbose:
            raise click.UsageError("--quiet and --verbose exclude each other")
        if upgrade and uninstall:
            raise click.UsageError("--upgrade and --uninstall exclude each other")
        if wants_help:
            click.echo(help_text(label, tool, environ, platform))
            return
        system = _system(tool, platform)
        settings = read_settings(tool.word, tool.name, environ)
        debug = environ.get("DEBUG", "").lower() in ("true", "1", "on")
        reporter = Reporter(label, quiet, verbose or debug, environ)
        if uninstall:
            system.uninstall(settings, environ, reporter)
        else:
            system.install(settings, environ, reporter, upgrade=upgrade)

    return command


def _system(tool: Tool, platform: str) -> ModuleType:
    """Return the module that does the work on `platform`; raises CannotStartError."""
    for beginning, name, module in (
        ("linux", "linux", linux),
        ("darwin", "mac", macos),
    ):
        if platform.startswith(beginning) and (not tool.systems or name in tool.systems):
            return module
    raise CannotStartError(f"{printable(tool.name)} cannot be set up on {printable(platform)}")

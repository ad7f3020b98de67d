"""`setup <tool>`: install, upgrade or uninstall a desktop application (SPEC 4.3)."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType

import click

from builtin_plugins.fetch.addresses import shown
from builtin_plugins.fetch.progress import Reporter
from builtin_plugins.setup import macos
from builtin_plugins.setup.endings import tidily
from builtin_plugins.setup.linux import install as linux
from builtin_plugins.setup.places import Places, variable
from builtin_plugins.setup.tool_settings import DEFAULTS, MEANINGS, read_settings, user_directories
from host import (
    CannotStartError,
    HostError,
    OperationError,
    Program,
    Terminal,
    UsageError,
    Variable,
    printable,
)
from host.cli import styles
from host.cli.output import Output
from host.cli.page import Page
from host.run.text import Messages

_OPTIONS = (
    ("", "install"),
    ("-u, --upgrade", "bring the latest version; your data and settings stay"),
    ("--uninstall", "remove the application, its command and its menu entry"),
    ("-v, --verbose", "tell more, to find a fault"),
    ("-q, --quiet", "tell only what went wrong"),
    ("-h, --help", "show this page"),
)


@dataclass(frozen=True)
class Tool:
    """A tool: `word` as on the command line, its display name, description and systems.

    `label` is what starts it on a command line, without options. `variables` are those
    of this run, with their sources; none outside an installation.
    """

    word: str
    label: str
    name: str
    description: str = ""
    systems: tuple[str, ...] = ()
    variables: Mapping[str, Variable] = field(default_factory=dict)


def main(arguments: Sequence[str]) -> int:
    """Do what the options say and return 0; raises HostError when it cannot be done."""
    return tidily(lambda: run(arguments, os.environ, sys.platform))


def run(arguments: Sequence[str], environ: Mapping[str, str], platform: str) -> int:
    """As `main`, for the merged environment `environ` on `platform` (as `sys.platform`)."""
    tool = _find_tool(environ)
    command = _command(tool, environ, platform)
    try:
        command.main(list(arguments), prog_name=tool.label, standalone_mode=False)
    except click.UsageError as failure:
        raise UsageError(failure.format_message()) from None
    except click.Abort:
        raise KeyboardInterrupt from None
    return 0


def _find_tool(environ: Mapping[str, str]) -> Tool:
    """Return the tool that COMMAND_NAME names; raises OperationError when nothing does."""
    word = environ.get("COMMAND_NAME", "")
    if not word:
        raise OperationError("COMMAND_NAME is not set", "start it as a command")
    try:
        program = Program.current(environ)
        definition = program.find(program.words).definition
        variables = program.environment(program.words)
    except HostError:
        label = f"cli {environ.get('COMMAND_CATEGORY', 'setup')} {word}"
        return Tool(word, label, word.title())
    label = " ".join([program.name, *program.words])
    return Tool(word, label, definition.name, definition.description, definition.os, variables)


def _command(tool: Tool, environ: Mapping[str, str], platform: str) -> click.Command:
    @click.command(add_help_option=False)
    @click.option("-h", "--help", "wants_help", is_flag=True)
    @click.option("-u", "--upgrade", is_flag=True)
    @click.option("--uninstall", is_flag=True)
    @click.option("-v", "--verbose", is_flag=True)
    @click.option("-q", "--quiet", is_flag=True)
    def command(
        wants_help: bool, upgrade: bool, uninstall: bool, verbose: bool, quiet: bool
    ) -> None:
        if quiet and verbose:
            raise click.UsageError("--quiet and --verbose exclude each other")
        if upgrade and uninstall:
            raise click.UsageError("--upgrade and --uninstall exclude each other")
        if wants_help:
            output = Output(environ, Messages(tool.label, environ))
            output.show(_help_page(tool, environ, platform, output.terminal))
            return
        system = _system(tool, platform)
        settings = read_settings(tool.word, tool.name, _with_callers_path(tool, environ))
        reporter = Reporter(tool.label, quiet, verbose, environ)
        if uninstall:
            system.uninstall(settings, reporter)
        else:
            system.install(settings, reporter, upgrade=upgrade)

    return command


def _with_callers_path(tool: Tool, environ: Mapping[str, str]) -> dict[str, str]:
    """Return `environ` with the caller's PATH: what is started (sudo, brew) no source chooses."""
    own = dict(environ)
    if _source(tool, "PATH"):
        del own["PATH"]  # the system's serves
    return own


def _source(tool: Tool, name: str) -> str:
    """Return the source that gives a variable its value, "" for the caller or none."""
    known = tool.variables.get(name)
    return known.source if known and known.rank > 1 else ""


def _system(tool: Tool, platform: str) -> ModuleType:
    """Return the module that does the work on `platform`; raises CannotStartError."""
    for beginning, name, module in (
        ("linux", "linux", linux),
        ("darwin", "mac", macos),
    ):
        if platform.startswith(beginning) and (not tool.systems or name in tool.systems):
            return module
    raise CannotStartError(f"{tool.name} cannot be set up on {platform}")


def _help_page(tool: Tool, environ: Mapping[str, str], platform: str, terminal: Terminal) -> str:
    """Return the help page: options, variables as they stand, files touched."""
    page = Page(terminal)
    page.title(tool.name)
    page.paragraph(tool.description or f"Install, upgrade or uninstall {tool.name}")
    page.usage(f"{tool.label} [OPTION]")
    page.table("Options", [(option or "(no option)", text) for option, text in _OPTIONS])
    page.lines("Variables", [*_variables(tool, environ, terminal)])
    page.table("Files", _files(tool, environ, platform))
    return page.text()


def _variables(tool: Tool, environ: Mapping[str, str], terminal: Terminal) -> Iterator[str]:
    """Yield lines of the variables, each with its value and source; addresses without secrets."""
    places = Places.read(tool.word, {})
    usual = {
        "INSTALL_DIR": places.install_dir,
        "BIN_DIR": places.bin_dir,
        "DESKTOP_FILE": places.desktop_file,
        "HOMEBREW_CASK": tool.word.lower(),
        "LAUNCHER": f"{tool.name}, {tool.word} or bin/{tool.word}",
        **DEFAULTS,
    }
    root = f"{environ.get('CLI_DIR', '')}/"
    column = max(len(variable(tool.word, suffix)) for suffix in MEANINGS) + 2
    for suffix, meaning in MEANINGS.items():
        name = variable(tool.word, suffix)
        value, source = usual.get(suffix, ""), "default"
        if name in environ:
            value = environ[name]
            source = _source(tool, name).removeprefix(root) or "your environment"
        if source.endswith(f"/command.json: envs.{name}"):
            source = "envs"
        text = shown(value) if suffix.endswith("_URL") and value else value
        yield f"{styles.styled(name, styles.NAME, terminal)}{' ' * (column - len(name))}{meaning}"
        yield f"{' ' * column}{printable(text) or '(none)'}  ← {printable(source)}"


def _files(tool: Tool, environ: Mapping[str, str], platform: str) -> list[tuple[str, str]]:
    kept = [
        (str(path), "your data: never touched") for path in user_directories(tool.name, environ)
    ]
    if platform == "darwin":
        return [(f"the Homebrew cask, and a command {tool.word} beside brew", ""), *kept]
    places = Places.read(tool.word, environ)
    return [
        (places.install_dir, "the application"),
        (places.link, "link that starts it"),
        (places.desktop_file, "menu entry"),
        (places.stage, "while a change is prepared"),
        *kept,
    ]

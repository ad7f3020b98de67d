"""`setup <tool>`: install, upgrade or uninstall a desktop application (SPEC 4.3)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType

from builtin_plugins.io.addresses import shown
from builtin_plugins.io.files.undo import explained
from builtin_plugins.io.progress import Reporter
from builtin_plugins.io.self_options import argument
from builtin_plugins.setup import macos
from builtin_plugins.setup.hooks import ENTRYPOINT
from builtin_plugins.setup.linux import install as linux
from builtin_plugins.setup.tool_settings import (
    VARIABLES,
    Places,
    Settings,
    read_settings,
    user_directories,
    usual,
    variable,
)
from host import (
    Argument,
    CannotStartError,
    HostError,
    Messages,
    OperationError,
    Page,
    Program,
    Terminal,
    UsageError,
    Variable,
    printable,
)
from host.cli.stdout import Output
from host.run.definition import parse_declared
from host.run.given_arguments import texts

_UPGRADE, _UNINSTALL, _VERBOSE, _QUIET = "--upgrade", "--uninstall", "--verbose", "--quiet"
_OPTIONS = [
    argument(_UPGRADE, "bring the latest version; your data and settings stay", short="-u"),
    argument(_UNINSTALL, "remove the application, its command and its menu entry"),
    argument(_VERBOSE, "tell more, to find a fault", short="-v"),
    argument(_QUIET, "tell only what went wrong", short="-q"),
]


@dataclass(frozen=True)
class Tool:
    """A tool: `word` as on the command line, its display name and description.

    `label` is what starts it on a command line, without options. `variables` are those
    of this run, with their sources; none outside an installation.
    """

    word: str
    label: str
    name: str
    description: str = ""
    variables: Mapping[str, Variable] = field(default_factory=dict)


def run(arguments: Sequence[str], environ: Mapping[str, str], platform: str) -> int:
    """Do what the options say, for the merged environment `environ` on `platform`; return 0.

    `platform` is as `sys.platform`. Raises HostError when it cannot be done.
    """
    tool = _find_tool(environ)
    if list(arguments) in (["--help"], ["-h"]):
        output = Output(environ, Messages(tool.label, environ))
        output.show(_help_page(tool, environ, platform, output.terminal))
        return 0
    given = _given(tool, arguments)
    system = {"linux": linux, "darwin": macos}.get(platform)
    if system is None:
        raise CannotStartError(f"{tool.name} cannot be set up on {platform}")
    settings = read_settings(tool.word, tool.name, _with_callers_path(tool, environ))
    reporter = Reporter(tool.label, _QUIET in given, _VERBOSE in given, environ)
    with explained():
        if _UNINSTALL in given:
            there = system.take_away(settings, reporter)
            state = "is uninstalled; your own data stays" if there else "is not installed"
            reporter.info(f"{tool.name} {state}")
        else:
            _install(system, settings, reporter, upgrade=_UPGRADE in given)
    return 0


def _install(system: ModuleType, settings: Settings, reporter: Reporter, *, upgrade: bool) -> None:
    """Install what is not there, or upgrade what is; raises OperationError, OSError."""
    name, there = settings.name, system.installed_as(settings)
    if there and not upgrade:
        reporter.info(f"{name} is installed already ({there}); --upgrade brings the latest version")
        return
    if upgrade and not there:
        raise OperationError(f"{name} is not installed")
    there = system.put_in_place(settings, reporter)
    reporter.info(f"{name} is {'upgraded' if upgrade else 'installed'}: {there}")


def _given(tool: Tool, arguments: Sequence[str]) -> Collection[str]:
    """Return the options that are given, by their long names; raises UsageError."""
    program, _, words = tool.label.partition(" ")
    try:
        given = texts(_declared(), arguments, program, words.split())
    except UsageError as failure:  # the words stand before every message of this command
        raise UsageError(failure.problem.text, failure.remedy) from None
    for one, other in ((_QUIET, _VERBOSE), (_UPGRADE, _UNINSTALL)):
        if one in given and other in given:
            raise UsageError(f"{one} and {other} exclude each other")
    return given


def _declared() -> tuple[Argument, ...]:
    """Return the options, declared as those of any command."""
    fields = {"name": "", "description": "", "entrypoint": ENTRYPOINT, "args": _OPTIONS}
    return parse_declared("setup", fields).args


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
    return Tool(word, label, definition.name, definition.description, variables)


def _with_callers_path(tool: Tool, environ: Mapping[str, str]) -> dict[str, str]:
    """Return `environ` with the caller's PATH: what is started (sudo, brew) no source chooses."""
    chosen = ("PATH",) if _source(tool, "PATH") else ()  # then the system's serves
    return {name: value for name, value in environ.items() if name not in chosen}


def _source(tool: Tool, name: str) -> str:
    """Return the source that gives a variable its value, "" for the caller or none."""
    known = tool.variables.get(name)
    return known.source if known and known.rank > 1 else ""


def _help_page(tool: Tool, environ: Mapping[str, str], platform: str, terminal: Terminal) -> str:
    """Return the help page: options, variables as they stand, files touched."""
    page, options = Page(terminal), _declared()
    page.title(tool.name)
    page.paragraph(tool.description or f"Install, upgrade or uninstall {tool.name}")
    page.paragraph("Without an option it is installed.")
    page.usage(" ".join([tool.label, *(one.usage for one in options)]))
    page.arguments(options)
    page.lines("Variables", [*_variables(tool, environ, terminal)])
    page.table("Files", _files(tool, environ, platform))
    return page.text()


def _variables(tool: Tool, environ: Mapping[str, str], terminal: Terminal) -> Iterator[str]:
    """Yield lines of the variables, each with its value and source; addresses without secrets."""
    root = f"{environ.get('CLI_DIR', '')}/"
    column = max(len(variable(tool.word, suffix)) for suffix in VARIABLES) + 2
    for suffix, (meaning, _) in VARIABLES.items():
        name = variable(tool.word, suffix)
        value, source = usual(tool.word, suffix), "default"
        if name in environ:
            value = environ[name]
            source = _source(tool, name).removeprefix(root) or "your environment"
        elif suffix == "LAUNCHER":
            value = f"{tool.name}, {tool.word} or bin/{tool.word}"
        if source.endswith(f"/command.json: envs.{name}"):
            source = "envs"
        text = shown(value) if suffix.endswith("_URL") and value else value
        yield f"{terminal.styled(name, 'name')}{' ' * (column - len(name))}{meaning}"
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

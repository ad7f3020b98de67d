"""A located command → the merged environment and the program to become (SPEC 3)."""

import posix
import sys

from host.errors import (
    CannotStartError,
    DefinitionError,
    InstallationError,
    Problem,
    SourceError,
)
from host.run.definition import SYSTEM_OS, Definition
from host.run.layers import Layers, Reading
from host.run.nested import RUN, run_variable
from host.run.paths import dirname, is_file, join, why_outside
from host.run.process import Exec, asks_help, start_of
from host.run.text import Messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from host.run.catalog import Match
    from host.run.installation import OpenInstallation
    from host.run.lock import Lock

_LIBRARY_MARK = "CLI_HOST_INIT"
# What a new interpreter does for a command in Python; -m would import `runpy` first.
PYTHON_COMMAND = (
    "import sys; from host.run.python_entrypoint import main; sys.exit(main(sys.argv[1:]))"
)


def plan_run(
    found: "Match",
    words: "Sequence[str]",
    installation: "OpenInstallation",
    lock: "Lock",
    environ: dict[str, str],
    messages: Messages,
) -> "Exec | None":
    """Return the process to become, or None when the words ask for a listing or a help page."""
    args = words[len(found.words) :]
    definition = found.definition
    if definition is None or not definition.entrypoint:
        return None
    for warning in definition.warnings:
        messages.warn(warning)

    if found.kind == "category" and (not args or asks_help(args[:1]) or args[0][:1] != "-"):
        return None
    helps = asks_help(args)
    if helps and not definition.compatible:
        return None  # its page can be read anywhere
    file = check_runnable(found.words, definition)
    if helps:
        from host.run.script_help import script_gets_help

        if not script_gets_help(definition, file):
            return None
    given = None
    if definition.args:
        from host.run.given_arguments import given_variables

        given = given_variables(definition.args, args, messages.program, found.words)
    layers = layers_of(found.words, definition, installation, lock, environ, messages, given)
    check_required(definition, layers)
    return exec_of(messages.program, found.words, definition, file, args, layers.environment())


def question(found: "Match", words: "Sequence[str]") -> str:
    """Return what is to be asked before this run, "" for nothing."""
    args = words[len(found.words) :]
    if found.definition is None or asks_help(args):
        return ""
    return found.definition.confirm


def layers_of(
    words: tuple[str, ...],
    definition: Definition,
    installation: "OpenInstallation",
    lock: "Lock",
    environ: "Mapping[str, str]",
    messages: Messages,
    given: "Mapping[str, str] | None" = None,
    *,
    reading: "type[Reading]" = Reading,
) -> Layers:
    """Return what all sources say for one command, in load order; raises SourceError.

    `environ` is the caller's; `given` are the variables of the declared arguments, by default
    those of a command line without words. Nothing overrides these and those that describe
    the run. A Python command with `"sources": false` has no sources.
    """
    system = {name: value for name, value in environ.items() if name != RUN}
    if definition.args:
        from host.run.given_arguments import variables, without

        system = without(definition.args, system)
        given = variables(definition.args) if given is None else given

    def describe(values: "Mapping[str, str]") -> str:
        return run_variable(environ, installation.layout, values)

    layers = Layers(system, installation.run_variables(words), given or {}, describe)
    reader = reading(words, definition, layers, messages)
    for source in lock.sources if definition.sources else ():
        reader.read(source)
    return layers


def check_runnable(words: "Sequence[str]", definition: Definition) -> str:
    """Return the path of the entrypoint's file, "" for a Python reference.

    Raises CannotStartError on another system than the definition's `os`,
    DefinitionError when the entrypoint leaves the command's directory.
    """
    if not definition.compatible:
        what = f"runs on {' and '.join(definition.os)} only; this is {SYSTEM_OS}"
        foreign = definition.foreign_systems()
        raise CannotStartError("; ".join(map(str, (Problem(" ".join(words), what), *foreign))))
    if definition.in_python:
        return ""
    file = join(definition.directory, definition.entrypoint)
    outside = why_outside(definition.directory, definition.entrypoint)
    if outside:
        raise DefinitionError(Problem(definition.file, outside, key="entrypoint"))
    return file


def check_required(definition: Definition, layers: Layers) -> None:
    """Raise SourceError when a name in `required_envs` is unset or empty."""
    missing = [name for name in definition.required_envs if not layers.get(name)]
    empty = [name for name in missing if name in layers.system]  # nothing else counts there
    unset = [name for name in missing if name not in layers.system]
    faults = []
    if unset:
        gone = f"; {', '.join(layers.missing)} is not there" if layers.missing else ""
        what = f"{', '.join(unset)} must be set{gone}"
        faults.append((what, where_to_set(unset)))
    if empty:
        them, are = ("it", "is") if len(empty) == 1 else ("them", "are")
        before = f"{are} empty in your environment, which goes before every other source"
        remedy = f"give {them} a value there, or unset {them}"
        faults.append((f"{', '.join(empty)} {before}", remedy))
    if len(faults) == 1:
        raise SourceError(Problem(definition.file, *faults[0]))
    if faults:  # each has to stand beside its remedy
        raise SourceError(Problem(definition.file, "; ".join(map("; ".join, faults))))


def where_to_set(names: "Sequence[str]") -> str:
    """Say what to do about variables that must be set."""
    them = "it" if len(names) == 1 else "them"
    return f"export {them}, or set {them} in config/settings.conf, a file of env_files, or envs"


def exec_of(
    program: str,
    words: "Sequence[str]",
    definition: Definition,
    file: str,
    args: "Sequence[str]",
    environment: "Mapping[str, str]",
) -> Exec:
    """Return the process to become: `file`, or the Python reference when it is ""."""
    if not file:
        from host.run.interrupts import UNBLOCK, interrupt_is_blocked

        label = " ".join([program, *words])
        holds_interrupt = not interrupt_is_blocked()
        argv = [
            sys.executable,
            f"-IX{UNBLOCK}" if holds_interrupt else "-I",
            "-c",
            PYTHON_COMMAND,
            label,
            definition.entrypoint,
        ]
        return Exec(sys.executable, [*argv, *args], environment, holds_interrupt=holds_interrupt)
    start = start_of(file, environment)
    env = dict(environment)
    if start.loads_library and (library := _library(env["LIB_DIR"])):
        given = env.get("BASH_ENV")
        env["BASH_ENV"] = _as_bash_env(library)
        kept = "u" if given is None else f"s{given}"
        name = "" if ":" in program else program
        env[_LIBRARY_MARK] = f"{posix.getpid()}:{name}:{kept}"
    return Exec(start.program, [*start.argv, *args], env)


def _library(lib_dir: str) -> str:
    """Return the file that loads the core library: the installation's, else the shipped one."""
    if _is_readable(own := join(lib_dir, "init.sh")):
        return own
    package = dirname(dirname(__file__))
    homes = (f"{package}/skeleton", dirname(dirname(package)))  # or a checkout
    shipped = [f"{home}/core/lib/init.sh" for home in homes]
    return next(filter(_is_readable, shipped), "")


def _as_bash_env(path: str) -> str:
    """Return what BASH_ENV must hold for bash to read `path`: it expands the value."""
    text = "".join(f"\\{one}" if one in '\\$`"' else one for one in path)
    return text.replace("\1", "\1\1")  # bash's own mark before a byte that is text


def _is_readable(library: str) -> bool:
    """Tell whether a library is there; raises InstallationError when it cannot be read."""
    if not posix.access(library, posix.F_OK):
        return False
    if not is_file(library):  # bash would wait for a FIFO
        raise InstallationError(f"{library}: not a regular file")
    if not posix.access(library, posix.R_OK):
        raise InstallationError(f"{library}: cannot be read")
    return True

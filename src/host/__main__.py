"""`main` replaces this process with the command to run; `host.cli` handles everything else."""

import _signal  # `signal` imports `enum`, which is slow
import gc
import posix
import sys

if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    # Ctrl-C ends the process; code that must clean up turns SIGINT into an exception again.
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
if gc.isenabled():
    gc.disable()  # too short-lived for garbage collection; a command in Python has its own process

from host.errors import HostError, OperationError
from host.run import process
from host.run.definition import check_runnable
from host.run.environment import REPORT, SourceReader, layers_of
from host.run.installation import find_layout, open_installation, program_name
from host.run.lock import read_lock
from host.run.text import Messages, asks_help, decode, encode, is_on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from host.run.catalog import Match
    from host.run.definition import Definition
    from host.run.environment import Layers
    from host.run.installation import OpenInstallation
    from host.run.lock import Lock


def main() -> int:
    """Run the command line; return the exit status unless a command replaces this process."""
    process.reserve_standard_descriptors()
    process.restore_signals()
    environ = {decode(name): decode(value) for name, value in process.caller_environment().items()}
    argv = process.caller_words()
    messages = Messages(program_name(argv[0]), environ)
    try:
        return leave(dispatch(argv, environ, messages))
    except HostError as error:
        messages.error(error.what, error.remedy, error.suggestions)
        return error.status
    except KeyboardInterrupt:
        from host.run.interrupts import die_of

        return die_of(_signal.SIGINT)
    except Exception as failure:
        if messages.debugging:
            raise
        what = f"internal error: {type(failure).__name__}: {failure}"
        messages.error(what, "for details, set DEBUG=1")
        return HostError.status


def leave(status: int) -> int:
    """End the process without interpreter teardown, a tenth of the time of a Tab completion.

    The caller has written all output. Functions registered with `atexit` still run.
    """
    import atexit

    if not atexit._ncallbacks():  # noqa: SLF001 - has no public equivalent
        posix._exit(status)  # noqa: SLF001 - it is os._exit
    return status


def dispatch(argv: "Sequence[str]", environ: dict[str, str], messages: Messages) -> int:
    """Execute the command that `argv` names, or let `host.cli` handle the words."""
    layout = find_layout(argv[0], environ)
    words, switches = argv[1:], frozenset[str]()
    options = start = None
    if words and words[0].startswith("-") and words[0] != "--complete":
        from host.cli.global_options import GlobalOptions

        options = GlobalOptions()
        options.read(words, messages)
        words, switches = options.words, options.switches
    safe = is_on(environ.get("CLI_SAFE")) or "--safe" in switches
    assume_yes = is_on(environ.get("CLI_YES")) or "--yes" in switches
    may_ask = not (is_on(environ.get("CLI_NO_INPUT")) or "--no-input" in switches)
    if words and words[0] not in ("self", "help") and not (options and options.wants_answer):
        installation = open_installation(layout, environ)
        lock = None if safe else read_lock(installation.locks, installation.key)
        if lock is None:
            from host.cli.session import Session

            lock = Session(layout, environ, messages, safe=safe).refresh_lock()
        start = (installation, lock)
        if words[0] == "--complete":
            from host.cli.completion import reply

            posix.write(1, encode(reply(words[1:], *start)))
            return 0
        replacement = prepare_run(words, *start, messages, may_ask=may_ask, assume_yes=assume_yes)
        if replacement is not None:
            messages.debug(f"starting {replacement.path}")
            raise process.execute(replacement)  # returns only if the system refuses
    from host.cli.dispatch import run_cli
    from host.cli.global_options import GlobalOptions
    from host.cli.session import Session

    session = Session(layout, environ, messages, safe=safe, assume_yes=assume_yes, start=start)
    return run_cli(session, options or GlobalOptions(tuple(words)))


def prepare_run(
    words: "Sequence[str]",
    installation: "OpenInstallation",
    lock: "Lock",
    messages: Messages,
    *,
    may_ask: bool,
    assume_yes: bool,
) -> "process.Exec | None":
    """Return the process to execute, or None if the words ask for a listing or a help page.

    The order: find the command, check that it may run here (system, trust), parse the arguments,
    read the variables, check the required variables and programs, resolve the secrets, plan the
    process, ask for confirmation.
    """
    from host.run.catalog import Catalog

    catalog = Catalog(lock, around=installation.around)
    found = catalog.find(words)
    if len(found.words) == len(words):
        found = catalog.default(found)
    definition, args = found.definition, words[len(found.words) :]
    if definition is None or not _names_run(found, definition, args):
        return None
    messages.warn(*definition.warnings)
    file = check_runnable(found.words, definition)
    environ = installation.caller
    program, given, helps = messages.program, None, asks_help(args)
    if helps and not _script_gets_help(definition, file):
        return None
    _require_trust(found.words, definition, program, may_ask=may_ask)
    if definition.args:
        args, given = _parse_arguments(found, definition, args, program, environ, may_ask=may_ask)
    layers = layers_of(found.words, definition, installation, environ, given)
    reader = SourceReader(found.words, definition, layers, messages, lock.schemes, True, may_ask)
    reader.read_all(lock.sources)
    _check_required(reader, definition.secrets)  # fails before any provider is called
    if definition.requires:
        from host.run.requirements import check_programs

        versions, environment = installation.cache_path("versions"), layers.environment()
        check_programs(definition.requires, found.words, program, environment, catalog, versions)
    if definition.secrets:
        reader.read_secrets()
        _check_required(reader)
    exported = layers.environment()
    if REPORT in environ:
        _report(layers, exported, environ[REPORT])
    if file:
        replacement = process.exec_of(file, args, exported, program)
    else:
        called = " ".join([program, *found.words])
        replacement = process.python_exec([called, definition.entrypoint, *args], exported)
    if definition.confirm and not assume_yes and not helps:
        from host.run.questions import confirm

        confirm(definition.confirm, program, found.words, may_ask=may_ask)
    return replacement


def _parse_arguments(
    found: "Match",
    definition: "Definition",
    args: "Sequence[str]",
    program: str,
    environ: "Mapping[str, str]",
    *,
    may_ask: bool,
) -> "tuple[Sequence[str], dict[str, str]]":
    """Return the arguments and their variables; prompt for required arguments that are missing."""
    from host.run.argument_parser import MissingArgumentsError, parse

    try:
        return args, parse(definition.args, args, program, found.words, environ).variables()
    except MissingArgumentsError as missing:
        from host.cli.prompt import ask_missing

        return ask_missing(missing, definition, args, environ, may_ask=may_ask)


def _check_required(reader: SourceReader, pending: "Collection[str]" = ()) -> None:
    if reader.definition.required_envs:
        from host.run.required_variables import check_required

        check_required(reader.definition, reader.layers, pending)


def _report(layers: "Layers", exported: "Mapping[str, str]", descriptor: str) -> None:
    """Write the run's environment and all overridden values to the file `descriptor`.

    A caller reads this report to mask secrets. Each variable is written as NAME=value and a NUL.
    One more NUL ends the report. Raises OperationError if `descriptor` is not open.
    """
    lost = [(one.name, one.value) for ranked in layers.offered.values() for one in ranked]
    text = "".join([f"{name}={value}\0" for name, value in (*exported.items(), *lost)])
    try:
        with open(int(descriptor), "wb") as pipe:
            pipe.write(encode(f"{text}\0"))
    except (OSError, ValueError):
        what = f"{REPORT}={descriptor} is not an open file descriptor"
        raise OperationError(what, f"run: unset {REPORT}") from None


def _names_run(found: "Match", definition: "Definition", args: "Sequence[str]") -> bool:
    """Return whether the words can run an entrypoint; if not, a listing or a help page is shown.

    A category's own entrypoint runs only if an option other than `--help` follows.
    """
    is_option = bool(args) and args[0].startswith("-") and not asks_help(args[:1])
    if not definition.entrypoint or (found.kind == "category" and not is_option):
        return False
    return definition.compatible or not asks_help(args)  # help is shown on every system


def _is_trusted(definition: "Definition") -> bool:
    if definition.project is None:
        return True
    from host.run.trust import is_trusted

    return is_trusted(definition)


def _script_gets_help(definition: "Definition", file: str) -> bool:
    """Return whether to pass `--help` to the script; an untrusted script is not searched for it."""
    from host.run.script_help import script_gets_help

    return bool(definition.help or _is_trusted(definition)) and script_gets_help(definition, file)


def _require_trust(
    words: "Sequence[str]", definition: "Definition", program: str, *, may_ask: bool
) -> None:
    """Ask whether to trust an untrusted project; raises NotConfirmedError if the user refuses."""
    project = definition.project
    if project is not None and not _is_trusted(definition):
        from host.cli.ask_trust import ask_trust

        ask_trust(words, project, definition.file, program, may_ask=may_ask)


if __name__ == "__main__":
    sys.exit(main())

"""Find the installation, plan the run and execute it; `host.cli` handles everything else."""

import _signal  # `signal` imports `enum`, which is slow
import gc
import posix
import sys

if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    # Ctrl-C ends the process; code that must clean up turns SIGINT into an exception again.
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
if gc.isenabled():
    gc.disable()  # too short-lived for garbage collection; a command in Python has its own process

from host.errors import HostError, UsageError
from host.run import process
from host.run.caller import allows_questions, caller_environment, caller_words, is_on
from host.run.environment import REPORT
from host.run.installation import open_installation
from host.run.layout import find_layout, program_name
from host.run.lock import read_lock
from host.run.messages import Messages
from host.run.plan import Questions, Run, find_run
from host.run.process import Exec
from host.run.text import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from host.cli.global_options import GlobalOptions
    from host.run.argument_parser import MissingArgumentsError
    from host.run.definition import Definition
    from host.run.installation import OpenInstallation
    from host.run.lock import Lock


def main() -> int:
    """Run the command line; return the exit status unless a command replaces this process."""
    process.reserve_standard_descriptors()
    process.restore_signals()
    environ = {decode(name): decode(value) for name, value in caller_environment().items()}
    argv = caller_words()
    messages = Messages(program_name(argv[0]), environ)
    try:
        return leave(dispatch(argv, environ, messages))
    except HostError as error:
        for problem in error.others:
            messages.error(problem.what)
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
    atexit = sys.modules.get("atexit")  # without it, no function can be registered
    if atexit is None or not atexit._ncallbacks():  # noqa: SLF001 - has no public equivalent
        posix._exit(status)  # noqa: SLF001 - it is os._exit
    return status


def dispatch(argv: "Sequence[str]", environ: dict[str, str], messages: Messages) -> int:
    """Execute the command that `argv` names, or let `host.cli` handle the words."""
    layout = find_layout(argv[0], environ)
    words = argv[1:]
    shell_file = ""
    if words and words[0] == "--shell-file":
        shell_file = _shell_file(words)
        words = words[2:]

    options: "GlobalOptions | None" = None
    switches: frozenset[str] = frozenset()
    if words and words[0].startswith("-") and words[0] != "--complete":
        from host.cli.global_options import GlobalOptions

        options = GlobalOptions()
        options.read(words, messages)
        words = options.words
        switches = options.switches
    safe = is_on(environ.get("CLI_SAFE")) or "--safe" in switches
    assume_yes = is_on(environ.get("CLI_YES")) or "--yes" in switches
    may_ask = allows_questions(environ, no_input="--no-input" in switches)

    start = None
    if words and words[0] not in ("self", "help") and not (options and options.wants_answer):
        installation = open_installation(layout, environ)
        lock = _current_lock(installation, messages, safe=safe)
        start = (installation, lock)
        if words[0] == "--complete":
            from host.cli.completion import reply

            posix.write(1, encode(reply(words[1:], installation, lock)))
            return 0
        from host.run.catalog import Catalog

        run = find_run(
            words,
            installation,
            Catalog(lock, around=installation.around),
            messages.warn,
            UserQuestions(may_ask=may_ask, assume_yes=assume_yes),
            acts=True,
            shell_file=shell_file,
        )
        if run is not None:
            return execute(run, messages)

    from host.cli.dispatch import run_cli
    from host.cli.global_options import GlobalOptions
    from host.cli.session import Session

    explains = options is not None and options.explain and not (options.help or options.version)
    session = Session(
        layout,
        environ,
        messages,
        safe=safe,
        assume_yes=assume_yes,
        may_ask=may_ask,
        shell_file=shell_file,
        start=start,
        writes_index=not explains,
    )
    if explains and options is not None:
        from host.explain import explain

        return explain(session, options)
    return run_cli(session, options or GlobalOptions(tuple(words)))


def _current_lock(installation: "OpenInstallation", messages: Messages, *, safe: bool) -> "Lock":
    """Return the lock; if there is none, or in safe mode, make one from the plugins."""
    lock = None if safe else read_lock(installation.locks, installation.key)
    if lock is not None:
        return lock
    from host.cli.session import Session

    return Session(installation.layout, installation.environ, messages, safe=safe).refresh_lock()


def execute(run: Run, messages: Messages) -> int:
    """Become the command of a run, or wait for it if a file or plugin asks for more than a run.

    Raises HostError if the command must not run, or if the system refuses to start it.
    """
    replacement = make_ready(run, messages)
    messages.debug(f"starting {replacement.path}")
    if run.is_supervised:
        from host.supervised.start import demands_of, start_supervised

        demands = demands_of(run)
        if demands is not None:
            return start_supervised(run, demands, replacement, messages)
    raise process.execute(replacement)  # returns only if the system refuses


def make_ready(run: Run, messages: Messages) -> Exec:
    """Take all steps of a run and ask for confirmation; return the process to execute."""
    for step in run.steps:
        step()
    if messages.debugging:
        for line in run.layers.ignored():
            messages.debug(line)
    descriptor = run.caller.get(REPORT)
    if descriptor is not None:
        from host.run.report import report_variables

        report_variables(run.layers, descriptor)
    replacement = run.process()
    if run.question and not run.questions.assume_yes:
        from host.run.questions import confirm

        confirm(run.question, run.program, run.words, may_ask=run.questions.may_ask)
    if run.definition.shell:
        from host.run.shell_file import make_shell_file

        make_shell_file(run.shell_file)
    return replacement


def _shell_file(words: "Sequence[str]") -> str:
    """Return the value of `--shell-file`, which the shell function passes before all words."""
    path = words[1] if len(words) > 1 else ""
    if not path.startswith("/"):
        raise UsageError(f"--shell-file: expected an absolute path; found {path or 'nothing'}")
    return path


class UserQuestions(Questions):
    """Asks the user on the terminal, unless `may_ask` is false."""

    def __init__(self, *, may_ask: bool, assume_yes: bool) -> None:
        self.may_ask = may_ask
        self.assume_yes = assume_yes

    def trust(self, run: Run, words: tuple[str, ...], definition: "Definition") -> None:
        from host.cli.ask_trust import ask_trust

        if definition.project is not None:
            written = definition.written
            ask_trust(words, definition.project, written, run.program, may_ask=self.may_ask)

    def arguments(
        self, run: Run, missing: "MissingArgumentsError"
    ) -> "tuple[Sequence[str], Mapping[str, str]]":
        from host.cli.prompt import ask_missing

        return ask_missing(missing, run.definition, run.arguments, run.caller, may_ask=self.may_ask)


if __name__ == "__main__":
    sys.exit(main())

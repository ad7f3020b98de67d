"""Find the installation, plan the run and execute it; `host.dispatch` handles everything else."""

import _signal  # `signal` imports `enum`, which is slow
import gc
import posix
import sys

if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    # Ctrl-C ends the process; code that must clean up turns SIGINT into an exception again.
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
if gc.isenabled():
    gc.disable()  # too short-lived for garbage collection; a command in Python has its own process

# The folders of this package. Their `__init__.py` have only a docstring, and a run would spend an
# eighth of its system calls on finding and reading them, so their modules are made here.
ROOMS = (
    *(
        "arguments",
        "asking",
        "catalog",
        "click",
        "dispatch",
        "files",
        "headers",
        "launch",
    ),
    *("lock", "pages", "processes", "projects", "session", "tab", "variables"),
)


def _make_packages() -> None:
    host = sys.modules["host"]
    for room in ROOMS:
        package = type(sys)(f"host.{room}")
        package.__path__ = [f"{host.__path__[0]}/{room}"]
        sys.modules[package.__name__] = package
        setattr(host, room, package)


if not any(f"host.{room}" in sys.modules for room in ROOMS):
    _make_packages()

from host.caller import (
    RUN,
    allows_questions,
    caller_environment,
    caller_words,
    is_on,
)
from host.errors import HostError, UsageError
from host.installation import find_layout, open_installation, program_name
from host.lock.lock import read_lock
from host.messages import Messages
from host.processes import process
from host.record_base import Record
from host.text import decode, encode
from host.words import RESERVED_WORDS, ends_in_help

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from host.global_options import GlobalOptions
    from host.installation import Layout, OpenInstallation
    from host.lock.lock import Lock

COMPLETE = "--complete"  # what a shell's completion passes before the words of its line


def main() -> int:
    """Run the command line; return the exit status unless a command replaces this process."""
    process.reserve_standard_descriptors()
    process.restore_signals()

    environ = {}
    for name, value in caller_environment().items():
        environ[decode(name)] = decode(value)
    argv = caller_words()
    messages = Messages(program_name(argv[0]), environ)
    try:
        return leave(dispatch(argv, environ, messages))
    except HostError as error:
        for problem in error.others:
            messages.error(problem.what)
        messages.error(error.what, error.remedy, error.suggestions, error.said)
        return error.status
    except KeyboardInterrupt:
        from host.processes.own_interrupts import die_of

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


class Request(Record):
    """What the caller asks for: the command line, read as far as its global options.

    words        the words after the global options
    options      the global options, or None if there are none
    shell_file   the value of `--shell-file`, or ""
    safe         whether no third-party Python may run
    assume_yes   whether the user agreed in advance to what a command asks
    no_input     whether --no-input forbids questions
    environ      the caller's environment
    """

    words: "Sequence[str]"
    options: "GlobalOptions | None"
    shell_file: str
    safe: bool
    assume_yes: bool
    no_input: bool
    environ: "Mapping[str, str]"

    @property
    def may_ask(self) -> bool:
        """Whether nothing forbids questions. Tab asks none, and does not need the answer."""
        return allows_questions(self.environ, no_input=self.no_input)

    @property
    def may_run(self) -> bool:
        """Whether the words may name a command that replaces this process, or complete one."""
        if self.options is not None and self.options.wants_answer:
            return False
        return len(self.words) > 0 and self.words[0] not in RESERVED_WORDS


def read_request(
    words: "Sequence[str]", environ: "Mapping[str, str]", messages: Messages
) -> Request:
    """Read the words of the command line. Raises UsageError for a mistake in an option."""
    shell_file = ""
    if words and words[0] == "--shell-file":  # the shell function passes it first
        shell_file = _shell_file(words)
        words = words[2:]

    options: "GlobalOptions | None" = None
    switches: frozenset[str] = frozenset()
    if words and words[0].startswith("-") and words[0] != COMPLETE:
        from host.global_options import read_options

        options = read_options(words, messages)
        words = options.words
        switches = options.switches
    return Request(
        words=words,
        options=options,
        shell_file=shell_file,
        safe=is_on(environ.get("CLI_SAFE")) or "--safe" in switches,
        assume_yes=is_on(environ.get("CLI_YES")) or "--yes" in switches,
        no_input="--no-input" in switches,
        environ=environ,
    )


def dispatch(argv: "Sequence[str]", environ: dict[str, str], messages: Messages) -> int:
    """Execute the command that `argv` names, or let `host.dispatch` handle the words."""
    layout = find_layout(argv[0], environ)
    callers = environ
    if RUN in environ:
        from host.variables.nested import without_outer_run

        # A consent of an outer run's sources is not the caller's; what forbids questions counts.
        if "CLI_YES" not in without_outer_run(environ, layout.root):
            callers = {**environ, "CLI_YES": ""}
    request = read_request(argv[1:], callers, messages)
    if not request.may_run:
        return _answer(request, layout, environ, messages)

    # Tab completion and a run need only the lock, not a `Session`.
    installation = open_installation(layout, environ)
    lock = _current_lock(installation, messages, safe=request.safe)
    if request.words[0] == COMPLETE:
        from host.tab.candidates import reply

        posix.write(1, encode(reply(request.words[1:], installation, lock)))
        return 0

    from host.catalog.catalog import Catalog
    from host.launch.plan import find_run

    run = find_run(
        request.words,
        installation,
        Catalog(lock, around=installation.around),
        messages.warn,
        acts=True,
        shell_file=request.shell_file,
    )
    if run is None:
        return _answer(request, layout, environ, messages, (installation, lock))
    is_help = run.definition.click is not None and ends_in_help(run.arguments)
    if is_help and not run.is_plain:
        from host.click.click_child import child_of_run

        # click's help needs no question, secret or lock of a run, and is not recorded. Otherwise,
        # click prints it in the run, behind what the functions of the groups print.
        if child_of_run(run).prints_asked_help(run.arguments):
            return 0
    from host.launch.execute import UserQuestions, execute

    questions = UserQuestions(may_ask=request.may_ask, assume_yes=request.assume_yes)
    return execute(run.replaced(questions=questions), messages)


def _answer(
    request: Request,
    layout: "Layout",
    environ: dict[str, str],
    messages: Messages,
    start: "tuple[OpenInstallation, Lock] | None" = None,
) -> int:
    """Let `host.dispatch` handle the words: a page, a listing, a command of `self`, a mistake.

    `start` has the installation and its lock if they were read already.
    """
    from host.dispatch.routes import run_cli
    from host.global_options import GlobalOptions
    from host.session.session import Session

    options = request.options or GlobalOptions(tuple(request.words))
    explains = options.explain and not (options.help or options.version)
    session = Session(
        layout,
        environ,
        messages,
        safe=request.safe,
        assume_yes=request.assume_yes,
        may_ask=request.may_ask,
        shell_file=request.shell_file,
        start=start,
        writes_index=not explains,
    )
    if explains:
        from host.pages.explain import explain

        return explain(session, options)
    return run_cli(session, options)


def _current_lock(
    installation: "OpenInstallation", messages: Messages, *, safe: bool
) -> "Lock":
    """Return the lock; if there is none, or in safe mode, make one from the plugins."""
    if not safe:
        lock = read_lock(installation.locks, installation.key)
        if lock is not None:
            return lock
    from host.session.session import Session

    layout = installation.layout
    session = Session(layout, installation.environ, messages, safe=safe)
    return session.refresh_lock()


def _shell_file(words: "Sequence[str]") -> str:
    """Return the value of `--shell-file`, which the shell function passes before all words."""
    path = words[1] if len(words) > 1 else ""
    if not path.startswith("/"):
        what = f"--shell-file: expected an absolute path; found {path or 'nothing'}"
        raise UsageError(what)
    return path


if __name__ == "__main__":
    sys.exit(main())

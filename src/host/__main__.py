"""`main`: a command → run it, anything else → `host.cli`."""

import _imp
import _signal  # `signal` costs a module of enums
import gc
import marshal
import posix
import sys
from _frozen_importlib import module_from_spec
from _frozen_importlib_external import MAGIC_NUMBER, SourceFileLoader, spec_from_file_location

if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    # Ctrl-C ends the process while the rest loads and later on, as it ends any other;
    # only what has to tidy up then makes it an exception again.
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
if gc.isenabled():
    # A run ends before it has garbage to look for: while it loads, Python would, six times.
    gc.set_threshold(20_000)

_PACKAGES = __file__.removesuffix("host/__main__.py")
_RUN_CODE = f"{_PACKAGES}host/__pycache__/run.{sys.implementation.cache_tag}.pyc"


def load_run() -> None:
    """Make the modules that every run loads out of one file, where it is there and not stale.

    To import them is to look for each, to ask for its time, to open another file and to read it:
    an eighth of a run. `host.planning.cache_files` puts these other files into one, which counts
    as they do: while each source has the time and size that it had. Otherwise they are imported.
    """
    try:
        with open(_RUN_CODE, "rb", buffering=0) as file:
            content = memoryview(file.readall())
        if content[:12] != MAGIC_NUMBER + _imp.source_hash(1, content[12:]):
            return
        packages, modules = marshal.loads(content[12:])  # noqa: S302 - trusted as any .pyc is
        if packages != _PACKAGES:
            return
        for _, path, *stamp, _ in modules:
            source = posix.stat(path)
            if [source.st_mtime_ns, source.st_size] != stamp:
                return
    except OSError:
        return
    for name, path, _, _, code in modules:
        spec = spec_from_file_location(name, path, loader=SourceFileLoader(name, path))
        spec.cached = _RUN_CODE  # type: ignore[union-attr]  # as it was given a loader
        sys.modules[name] = module = module_from_spec(spec)  # type: ignore[arg-type]
        exec(code, module.__dict__)  # noqa: S102 - what importing does
        package, _, last = name.rpartition(".")
        if package:
            setattr(sys.modules[package], last, module)


if sys.modules.keys().isdisjoint(("host.errors", "host.run", "builtin_plugins")):
    load_run()  # none of them is there yet, nor one in a package of these

from host.errors import HostError
from host.run.installation import find_layout, open_installation, program_name
from host.run.nested import without_outer_run
from host.run.process import (
    caller_environment,
    caller_words,
    execute,
    reserve_standard_descriptors,
    restore_signals,
)
from host.run.text import Messages, decode, encode, is_on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.run.installation import Layout


def main() -> int:
    """Run the command line of this process; return its exit status unless it becomes a command."""
    reserve_standard_descriptors()
    restore_signals()
    environ = {decode(name): decode(value) for name, value in caller_environment().items()}
    argv = caller_words()
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
        if isinstance(failure, ModuleNotFoundError):
            messages.error(f"{failure}", f"install cli-host in {sys.prefix} again")
        else:
            what = f"internal error: {type(failure).__name__}: {failure}"
            messages.error(what, "DEBUG=1 shows where")
        return HostError.status


def leave(status: int) -> int:
    """End at once: taking the interpreter apart costs a Tab a tenth, and a long listing more.

    All output is written by then. Who has more to do at the end has told `atexit`.
    """
    import atexit

    if not atexit._ncallbacks():  # noqa: SLF001 - no other way to ask it
        posix._exit(status)  # noqa: SLF001 - it is os._exit
    return status


def dispatch(argv: "Sequence[str]", environ: dict[str, str], messages: Messages) -> int:
    """Become the command that `argv` names, or let `host.cli` answer."""
    layout = find_layout(argv[0], environ)
    words, switches = list(argv[1:]), set[str]()
    while words and words[0] in ("--safe", "--yes"):  # a run loads no table for these
        switches.add(words.pop(0))
    if words and words[0] == "--complete":
        return complete(layout, words[1:], environ, messages)
    options = start = None
    if words and words[0].startswith("-"):
        from host.cli.global_options import parse_options

        options = parse_options(words, messages)
        words, switches = [*options.words], switches | options.switches
    safe = is_on(environ.get("CLI_SAFE")) or "--safe" in switches
    assume_yes = is_on(environ.get("CLI_YES")) or "--yes" in switches
    if words and words[0] not in ("self", "help") and not (options and options.wants_answer):
        from host.run.catalog import Catalog
        from host.run.lock import read_lock
        from host.run.plan import plan_run, question

        installation = open_installation(layout, environ)
        lock = None if safe else read_lock(installation.locks, installation.key)
        if lock is None:
            from host.cli.session import Session

            lock = Session(layout, environ, messages, safe=safe).refresh_lock()
        environ = without_outer_run(environ, layout.root)
        found = Catalog(lock).find(words)
        plan = plan_run(found, words, installation, lock, environ, messages)
        if plan is not None:
            asked = "" if assume_yes else question(found, words)
            if asked:
                from host.run.confirm import confirm

                confirm(asked, messages.program, found.words)
            messages.debug(f"starting {plan.path}")
            raise execute(plan)
        start = (installation, lock)
    from host.cli.dispatch import run_cli
    from host.cli.global_options import GlobalOptions

    options = options or GlobalOptions(tuple(words))
    return run_cli(layout, options, environ, messages, start, safe=safe, assume_yes=assume_yes)


def complete(
    layout: "Layout", given: "Sequence[str]", environ: dict[str, str], messages: Messages
) -> int:
    """Answer a shell's Tab (the stubs of `self completion` call this)."""
    from host.run.lock import read_lock

    installation = open_installation(layout, environ)
    lock = read_lock(installation.locks, installation.key)
    if lock is None:
        from host.cli.session import Session

        lock = Session(layout, environ, messages, safe=False).refresh_lock()
    from host.cli.completion import reply

    posix.write(1, encode(reply(given, installation, lock)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

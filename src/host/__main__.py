"""`main`: a command → run it, anything else → `host.cli`."""

import os
import sys

from host.bytestext import decode
from host.caller import caller_environment
from host.errors import HostError
from host.layout import find_layout, program_name
from host.locate import locate
from host.lock import read_lock
from host.messages import Messages, is_on
from host.places import open_places
from host.references import complete_import_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.launch import Exec
    from host.locate import Found
    from host.lock import Lock
    from host.places import Places


def main() -> int:
    """Run the command line of this process; return its exit status unless it becomes a command."""
    reserve_standard_descriptors()
    restore_signals()
    environ = {decode(name): decode(value) for name, value in caller_environment().items()}
    argv = [decode(os.fsencode(word)) for word in sys.argv]
    messages = Messages(program_name(argv[0]), environ)
    try:
        return dispatch(argv, environ, messages)
    except HostError as error:
        messages.error(str(error))
        return error.status
    except KeyboardInterrupt:
        return die_of_interrupt()
    except Exception as failure:
        if messages.debugging:
            raise
        messages.error(f"internal error: {type(failure).__name__}: {failure}; DEBUG=1 shows where")
        return HostError.status


def dispatch(argv: "Sequence[str]", environ: dict[str, str], messages: Messages) -> int:
    """Become the command that `argv` names, or let `host.cli` answer."""
    words = argv[1:]
    safe = is_on(environ.get("CLI_SAFE"))
    if words and words[0] == "--safe":
        safe, words = True, words[1:]
    layout = find_layout(argv[0], environ)
    if words and words[0] not in ("self", "help") and not words[0].startswith("-"):
        places = open_places(layout, environ)
        lock = None if safe else read_lock(places.locks, places.key)
        if lock is None:
            complete_import_path(safe)
            from host.discovery import refresh

            lock = refresh(places, messages, safe)
        found = locate(words, lock.trees, lock.commands)
        plan = plan_run(found, words, places, lock, environ, messages)
        if plan is not None:
            from host.run import execute

            messages.debug(f"starting {plan.path}")
            raise execute(plan)
    complete_import_path(safe)
    from host.cli import run_cli

    return run_cli(layout, words, environ, messages, safe)


def plan_run(
    found: "Found",
    words: "Sequence[str]",
    places: "Places",
    lock: "Lock",
    environ: dict[str, str],
    messages: Messages,
) -> "Exec | None":
    """Return the process to become, or None when the words ask for a listing or a help page."""
    args = words[len(found.words) :]
    definition = found.definition
    if definition is None or not definition.entrypoint:
        return None
    from host import run

    asks_help = args[:1] in (["--help"], ["-h"])
    if found.kind == "category" and (asks_help or not args or not args[0].startswith("-")):
        return None
    if asks_help and not definition.compatible:
        return None  # its page can be read anywhere
    file = run.check_runnable(found.words, definition)
    if asks_help and file and not run.answers_help(file):
        return None
    framework = run.framework_variables(places.layout, places.plugins_dir, found.words)
    layers = run.read_layers(found.words, definition, lock.sources, environ, framework, messages)
    run.check_required(definition, layers)
    return run.prepare(messages.program, found.words, definition, file, args, layers.environment())


def reserve_standard_descriptors() -> None:
    """Keep files from getting the numbers of streams that the caller closed.

    What fills the gaps takes no output and is gone again when a command starts.
    """
    while (descriptor := os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)) <= 2:
        pass
    os.close(descriptor)


def restore_signals() -> None:
    """Undo what Python changed: scripts expect to die of a closed pipe."""
    import _signal  # `signal` costs a module of enums

    _signal.signal(_signal.SIGPIPE, _signal.SIG_DFL)
    if hasattr(_signal, "SIGXFSZ"):
        _signal.signal(_signal.SIGXFSZ, _signal.SIG_DFL)


def die_of_interrupt() -> int:
    """End as a shell expects of a program that Ctrl-C stopped: killed by SIGINT."""
    import _signal

    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    os.kill(os.getpid(), _signal.SIGINT)
    return 128 + int(_signal.SIGINT)


if __name__ == "__main__":
    sys.exit(main())

"""Match a text against the `pattern` of an argument, in a child process with a time limit.

Some patterns take exponential time: `(a+)+` takes seconds for 28 letters. The text may come from
an assistant, and the pattern from a project that nobody trusts yet. Loaded only for a pattern.
"""

import posix
import resource

SECONDS = 1  # of processor time


def matches(pattern: str, text: str, seconds: int = SECONDS) -> bool:
    """Return whether the whole text matches; false if that takes longer than `seconds`."""
    import re

    compiled = re.compile(pattern)
    child = posix.fork()
    if child == 0:
        status = 2
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            _, hard = resource.getrlimit(resource.RLIMIT_CPU)
            if hard == resource.RLIM_INFINITY or seconds < hard:
                resource.setrlimit(resource.RLIMIT_CPU, (seconds, hard))
            status = 0 if compiled.fullmatch(text) else 1
        finally:
            posix._exit(status)  # noqa: SLF001 - it is os._exit

    _, ended = posix.waitpid(child, 0)
    return ended == 0

"""Call another program within limits, without a terminal."""

from collections.abc import Mapping, Sequence
from typing import Literal

from host import Ending, OperationError, supervise

_MOST_PRINTED = 1 << 30  # bytes


def bounded_call(
    command: Sequence[str],
    environ: Mapping[str, str],
    seconds: float,
    called: str,
    *,
    given: bytes = b"",
    most: int = _MOST_PRINTED,
    directory: str | None = None,
    stderr: Literal["return", "stdout"] = "return",
) -> Ending:
    """Run `command` with the input `given`.

    With "stdout", `stderr` is returned with stdout.
    Its background processes go on, such as a daemon that keeps credentials. Raises OSError if the
    command cannot be started. Raises OperationError if the command takes more than `seconds` or
    prints more than `most` bytes; the message begins with `called`.
    """
    ending = supervise(
        command,
        environ,
        seconds,
        given=given,
        most=most,
        directory=directory,
        stderr=stderr,
        keeps_background=True,
    )

    if ending.limit:
        raise OperationError(f"{called}: {ending.why}")
    return ending

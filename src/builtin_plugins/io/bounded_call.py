"""Run another program with limits, without a terminal, and end all of its processes."""

import os
import select
import signal
import sys
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from subprocess import PIPE, CompletedProcess, Popen, TimeoutExpired
from typing import Any

from host import OperationError

_KEPT = 1 << 20  # maximum number of bytes to return from the end of stderr


def bounded_call(
    command: Sequence[str],
    environ: Mapping[str, str],
    seconds: float,
    called: str,
    *,
    given: bytes = b"",
    most: int = sys.maxsize,
    held: Collection[int] = (),
    directory: str | None = None,
) -> CompletedProcess[bytes]:
    """Run `command` with the input `given` and the inherited descriptors `held`.

    Raises OSError if the command cannot be started. Raises OperationError if the command takes more
    than `seconds` or prints more than `most` bytes; the message begins with `called`.
    """
    deadline = time.monotonic() + seconds
    # stderr goes to a file: a daemonised child (ssh ControlPersist) would keep a pipe open.
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stderr:
        stdin.write(given)
        stdin.seek(0)
        with Popen(
            command,
            cwd=directory,
            env=environ,
            stdin=stdin,
            stdout=PIPE,
            stderr=stderr,
            start_new_session=True,  # no terminal for prompts; one process group to kill
            pass_fds=held,
        ) as process:
            try:
                printed = _printed(process.stdout, most, deadline)
                process.wait(max(deadline - time.monotonic(), 0.1))
            except (TimeoutError, TimeoutExpired):
                late = f"{called}: not finished within {seconds:g} seconds"
                raise OperationError(late) from None
            except OverflowError:
                raise OperationError(f"{called}: printed more than {most} bytes") from None
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
        stderr.seek(max(stderr.seek(0, os.SEEK_END) - _KEPT, 0))
        return CompletedProcess(command, process.returncode, printed, stderr.read())


def _printed(pipe: Any, most: int, deadline: float) -> bytes:
    """Return the program's output, read from `pipe` until its end.

    Raises TimeoutError at `deadline`, and OverflowError for more than `most` bytes.
    """
    waiting = select.poll()
    waiting.register(pipe)
    printed = bytearray()
    while (left := deadline - time.monotonic()) > 0 and waiting.poll(left * 1000):
        piece = os.read(pipe.fileno(), 1 << 16)
        if not piece:
            return bytes(printed)
        printed += piece
        if len(printed) > most:
            raise OverflowError
    raise TimeoutError

"""A fork of this process that becomes a command."""

import _signal  # not `signal`, which would import `enum`
import posix

from host.processes.process import Exec, exec_now, start_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from host.launch.recorded_output import RecordedOutput

_LONGEST_NUMBER = 16  # bytes of an error number


class ForkedCommand:
    """A fork that becomes the command when `begin` is called.

    It waits for that, so that the command never runs without the process that watches its parent.

    callers_mask   the signals that the command has blocked
    ignores_child  whether the command ignores SIGCHLD, as its caller does
    output         the streams of the command, or None for those of this process
    """

    def __init__(
        self,
        replacement: Exec,
        callers_mask: "set[int]",
        ignores_child: bool,
        output: "RecordedOutput | None",
    ) -> None:
        self._path = replacement.path
        waiting, self._gate = posix.pipe()
        # A successful exec closes this pipe without a word.
        self._failure, failure = posix.pipe()

        self.process = posix.fork()
        if self.process == 0:
            posix.close(self._gate)
            may_begin = posix.read(waiting, 1)
            if not may_begin:  # the parent was killed
                posix._exit(127)  # noqa: SLF001 - nothing of the parent may run in this process
            _become(replacement, callers_mask, ignores_child, output, failure)

        posix.close(waiting)
        posix.close(failure)

    def begin(self) -> None:
        """Let the fork become the command. Raises the errors of `execute`."""
        posix.write(self._gate, b"1")
        posix.close(self._gate)

        # Ends when the command has started.
        reason = posix.read(self._failure, _LONGEST_NUMBER)
        posix.close(self._failure)
        if reason:
            posix.waitpid(self.process, 0)
            number = int(reason)
            failure = OSError(number, posix.strerror(number))
            raise start_error(self._path, failure)


def _become(
    replacement: Exec,
    callers_mask: "set[int]",
    ignores_child: bool,
    output: "RecordedOutput | None",
    failure: int,
) -> "NoReturn":
    """Replace the forked process with the command; if that fails, write why to `failure`."""
    try:
        if output is not None:
            output.become_streams()
        if ignores_child:
            _signal.signal(_signal.SIGCHLD, _signal.SIG_IGN)
        _signal.pthread_sigmask(_signal.SIG_SETMASK, callers_mask)
        exec_now(replacement)
    except OSError as error:
        posix.write(failure, str(error.errno).encode())
    finally:
        posix._exit(127)  # noqa: SLF001 - nothing of the parent may run in this process

"""A process that ends a command if the command's parent is killed."""

import _signal  # not `signal`, which would import `enum`
import posix

from host.processes.process import close_all_but, send_signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_NAME = "cli-host-watch"  # at most 15 characters


class ParentWatcher:
    """A process that ends the command if this process is killed; it runs until `dismiss`.

    It reads a pipe that only this process can write to. The kernel closes the pipe when this
    process ends, however that happens. The watcher keeps no descriptor, and no terminal: it does
    not hold a pipeline open, and is not part of the job.

    process   its id, or 0 without one
    """

    def __init__(self, command: int) -> None:
        self.process = 0
        self._writing = -1
        try:
            # Still means this process if its id is used again.
            descriptor = posix.pidfd_open(command)
        except (AttributeError, OSError):
            return  # not Linux, or a Linux before 5.3

        reading, self._writing = posix.pipe()
        self.process = posix.fork()
        if self.process == 0:
            self._watch(command, descriptor, reading)

        posix.close(reading)
        posix.close(descriptor)

    @property
    def descriptors(self) -> "tuple[int, ...]":
        """The descriptors that this process must keep open."""
        if not self.process:
            return ()
        return (self._writing,)

    def dismiss(self) -> None:
        """Let the watcher end, because the command has ended."""
        if self.process:
            send_signal(self.process, _signal.SIGKILL)

    def reap(self) -> None:
        """End the watcher, and wait until it has ended.

        Otherwise, it would stay as a zombie if nobody reaps orphans, as in many containers.
        """
        if not self.process:
            return

        self.dismiss()
        try:
            posix.waitpid(self.process, 0)
        except ChildProcessError:
            pass  # somebody killed it, and it is reaped already
        self.process = 0

    @staticmethod
    def _watch(command: int, descriptor: int, reading: int) -> "NoReturn":
        try:
            # Imported at once: the program may be updated before the import is needed.
            from host.processes.process_stat import process_stat
            from host.processes.process_tree import end_all, freeze

            posix.setsid()
            _rename_process(_NAME)
            posix.dup2(reading, 0)
            posix.dup2(descriptor, 1)
            posix.close(2)
            close_all_but(())

            posix.read(0, 1)  # ends when the parent does, because nobody ever writes
            _signal.pidfd_send_signal(1, 0)  # fails if the command has ended
            started = freeze(command)

            def running() -> "list[int]":
                left = []
                for process in started:
                    stat = process_stat(process)
                    if stat is not None and stat.is_alive:
                        left.append(process)
                return left

            end_all(running)
        finally:
            posix._exit(0)  # noqa: SLF001 - nothing of the parent may run in this process


def _rename_process(name: str) -> None:
    """Give this process another name, so that `killall acme` does not end the watcher, too."""
    try:
        with open("/proc/self/comm", "wb") as file:
            file.write(name.encode())
    except OSError:
        pass  # /proc is not mounted

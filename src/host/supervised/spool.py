"""The spool file to which the runs of one installation write."""

import posix

from host.run.caller import xdg_home
from host.run.history import history_path
from host.run.spool_file import append_line
from host.run.text import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from host.run.history import EndedRun, StartedRun
    from host.run.messages import Messages
    from host.run.plan import Run

LARGE_SPOOL = 256 << 10  # bytes; about 400 runs
_STREAMS = (0, 1, 2)


class Spool:
    """The spool file of the history; an error is reported once and never stops a run."""

    def __init__(self, run: "Run", messages: "Messages") -> None:
        state = xdg_home(run.environ, "STATE")
        root = run.installation.layout.root
        self._path = f"{history_path(state, root)}.spool"
        self._messages = messages
        self._is_large = False

    def append(self, record: "StartedRun | EndedRun") -> None:
        try:
            before, after = append_line(self._path, record)
        except OSError as failure:
            reason = failure.strerror or failure
            self._messages.warn(f"the run is not recorded: {self._path}: {reason}")
        else:
            has_passed_limit = before // LARGE_SPOOL < after // LARGE_SPOOL
            self._is_large |= has_passed_limit

    def empty_if_large(self, run: "Run") -> None:
        """Let a detached process move a large spool into the database, if nobody reads it.

        If that is impossible, because the database is damaged, for example, the next attempt is
        made when the spool has become larger by as much again.
        """
        if not self._is_large:
            return

        layout = run.installation.layout
        launcher = f"{layout.core_dir}/{layout.program}"
        environ = run.installation.environ.items()
        nothing = ("/dev/null", posix.O_RDWR, 0)
        try:
            posix.posix_spawn(
                launcher,
                [launcher, "self", "history", "--limit", "1"],
                {encode(name): encode(value) for name, value in environ},
                file_actions=[
                    (posix.POSIX_SPAWN_OPEN, stream, *nothing) for stream in _STREAMS
                ],
                setsid=True,
                setsigmask=(),  # this process blocks all signals
            )
        except OSError:
            pass  # a later run tries it again

"""Call the functions of plugins that wait for finished runs (the hook `after_run`)."""

import _signal  # not `signal`, which would import `enum`
import time

from host.run.importing import complete_import_path, enter_plugin, load_reference
from host.run.supervise import supervise_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.run.declarations import AfterRun
    from host.run.history import EndedRun, StartedRun
    from host.run.messages import Messages

_SECONDS = 5.0  # for all functions together


def call_after_run(
    calls: "Sequence[AfterRun]",
    started: "StartedRun",
    ended: "EndedRun",
    messages: "Messages",
) -> None:
    """Call each function with the `FinishedRun`, in a child process; a failure is a warning."""
    deadline = time.monotonic() + _SECONDS
    for call in calls:

        def run_function(call: "AfterRun" = call) -> None:
            _signal.pthread_sigmask(
                _signal.SIG_SETMASK, ()
            )  # the parent of a run blocks all signals
            complete_import_path()
            enter_plugin(call.folders)
            from host.records import FinishedRun

            values = started.values() | ended.values()
            del values["process"]
            values["words"] = tuple(values["words"])
            values["arguments"] = tuple(values["arguments"])
            load_reference(call.function)(FinishedRun(**values))

        seconds = max(deadline - time.monotonic(), 0.001)
        try:
            supervise_call(run_function, seconds)
        except TimeoutError:
            reason = f"did not return within {_SECONDS:g} s"
            messages.warn(
                f"plugin {call.plugin}: {call.name}: {call.function}: {reason}"
            )
        except ChildProcessError as failure:
            reason = str(failure).removeprefix(f"{call.function}: ")
            messages.warn(
                f"plugin {call.plugin}: {call.name}: {call.function}: {reason}"
            )

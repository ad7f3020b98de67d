"""Call the functions of plugins that wait for finished runs (the hook `after_run`)."""

import _signal  # not `signal`, which would import `enum`
import time

from host.processes.bounded_child import supervise_call
from host.processes.importing import complete_import_path, enter_plugin, load_reference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.launch.history_record import EndedRun, StartedRun
    from host.messages import Messages
    from host.plugin_functions import AfterRun

_SECONDS = 5.0  # for all functions together
_SHORTEST = 0.001  # seconds; a limit of 0 would be none


def call_after_run(
    calls: "Sequence[AfterRun]",
    started: "StartedRun",
    ended: "EndedRun",
    messages: "Messages",
    traceparent: str = "",
    *,
    seconds: float = _SECONDS,
) -> None:
    """Call each function with the `FinishedRun`, in a child process; a failure is a warning.

    `traceparent` is the span that the command got. All functions together have `seconds`.
    """
    deadline = time.monotonic() + seconds
    for call in calls:

        def run_function(call: "AfterRun" = call) -> None:
            _call_function(call, started, ended, traceparent)

        left = max(deadline - time.monotonic(), _SHORTEST)
        try:
            supervise_call(run_function, left)
        except TimeoutError:
            reason = f"did not return within {seconds:g} s"
        except ChildProcessError as failure:
            reason = str(failure).removeprefix(f"{call.function}: ")
        else:
            continue

        messages.warn(f"plugin {call.plugin}: {call.name}: {call.function}: {reason}")


def _call_function(
    call: "AfterRun", started: "StartedRun", ended: "EndedRun", traceparent: str
) -> None:
    """Call one function in this process, a child."""
    # The parent of a run blocks all signals.
    _signal.pthread_sigmask(_signal.SIG_SETMASK, ())
    complete_import_path()
    enter_plugin(call.folders)

    from host.records import FinishedRun

    values = started.values() | ended.values()
    for name in ("process", "masked"):
        del values[name]
    values["words"] = tuple(values["words"])
    values["arguments"] = tuple(values["arguments"])
    function = load_reference(call.function)
    function(FinishedRun(**values, traceparent=traceparent))

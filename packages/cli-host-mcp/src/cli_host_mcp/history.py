"""Write the calls of an assistant to the history of the program (`self history --origin mcp`)."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext

from cli_host_mcp.offer import Call, RefusedCallError
from host import CannotStartError, NotConfirmedError, RecordedRun

GIVEN = "given"
REFUSED = "refused"
NOT_NEEDED = "not needed"
NOT_ASKED = "not asked"  # the call could not run
_ENDED = -signal.SIGTERM  # the processes of a cancelled call get TERM
_TIMED_OUT = 124  # the status of a run that its time limit ended


class CallRecord:
    """A call in the history. Without `ended`, it was cancelled."""

    def __init__(self, recorded: RecordedRun) -> None:
        self.recorded = recorded
        self._status = _ENDED

    def ended(self, status: int | None) -> None:
        """Set the status of the run, None after a timeout."""
        if status is None:
            status = _TIMED_OUT
        self._status = status

    def finish(self) -> None:
        self.recorded.finish(self._status)


@contextmanager
def recorded_call(
    ctx: ServerRequestContext[Any], tool: str, call: Call, confirmation: str
) -> Iterator[CallRecord]:
    """Record a call; it starts when `RecordedRun.start` gets the secrets that the run reports."""
    recorded = call.program.record(
        call.command.words,
        call.args,
        origin="mcp",
        client=_client_of(ctx, tool, confirmation),
        starts=False,
    )
    record = CallRecord(recorded)

    try:
        yield record
    except OSError:
        record.ended(CannotStartError.status)
        raise
    finally:
        record.finish()


@contextmanager
def recorded_if_cancelled(
    ctx: ServerRequestContext[Any], tool: str, call: Call, confirmation: str
) -> Iterator[None]:
    """Record a call if it is cancelled before its run: it is asked about, or waits for its turn."""
    try:
        yield
    except anyio.get_cancelled_exc_class():
        _record_ended(_client_of(ctx, tool, confirmation), call, _ENDED)
        raise


def record_refusal(ctx: ServerRequestContext[Any], tool: str, call: Call) -> None:
    """Record a call that the user did not confirm, or could not be asked about."""
    _record_ended(_client_of(ctx, tool, REFUSED), call, NotConfirmedError.status)


def record_invalid(
    ctx: ServerRequestContext[Any], tool: str, refused: RefusedCallError
) -> None:
    """Record a call that was refused before anybody was asked, with the status of a run."""
    _record_ended(_client_of(ctx, tool, NOT_ASKED), refused.call, refused.status)


def _record_ended(client: dict[str, str], call: Call, status: int) -> None:
    # Nothing has reported the secrets of this call, so it is not started, and all of its arguments
    # are masked. A value in the wrong argument may be a secret, too.
    recorded = call.program.record(
        call.command.words, call.args, origin="mcp", client=client, starts=False
    )
    recorded.finish(status)


def _client_of(
    ctx: ServerRequestContext[Any], tool: str, confirmation: str
) -> dict[str, str]:
    """Return what the history keeps of a call: the client, the tool, and the user's consent."""
    name = ""
    version = ""
    parameters = ctx.session.client_params
    if parameters is not None:
        name = parameters.client_info.name
        version = parameters.client_info.version

    return {
        "name": name,
        "version": version,
        "tool": tool,
        "confirmation": confirmation,
    }

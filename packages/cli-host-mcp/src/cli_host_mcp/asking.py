"""Ask the user a question through the client.

With the protocol of 2025, the server sends the client a request. With that of 2026, the server
answers the call with the question, and the client repeats the call with the user's answer.
"""

from __future__ import annotations

import secrets
import time
from typing import Any

from mcp import MCPError, types
from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from cli_host_mcp.offer import Call
from cli_host_mcp.problem import CallError

_KEY = "agree"
_MOST_OPEN = 64
_SECONDS = 600.0
_NOTHING_TO_FILL_IN = {"type": "object", "properties": {}}


class Asking:
    """Asks questions and remembers the open ones; each question accepts one answer."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[tuple[str, ...], float]] = {}

    async def ask(
        self,
        ctx: ServerRequestContext[Any],
        params: types.CallToolRequestParams,
        call: Call,
    ) -> types.InputRequiredResult | None:
        """Return None if the user agreed, or the result that makes the client ask.

        Raises CallError if the user does not agree or cannot be asked.
        """
        if not _can_ask(ctx):
            raise CallError(
                "the command needs the user's consent, and this client cannot ask"
            )
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            await self._request(ctx, call.question)
            return None

        if params.request_state is None or not params.input_responses:
            return self._required(call)

        # The answer counts only for the call that was asked about: the client could repeat it with
        # other arguments, which the question may mask, or use an answer twice.
        asked, until = self._open.pop(params.request_state, ((), 0.0))
        if asked != _asked(call) or time.monotonic() > until:
            return self._required(call)

        answer = params.input_responses.get(_KEY)
        if not isinstance(answer, types.ElicitResult) or answer.action != "accept":
            raise CallError("the user did not agree")
        return None

    async def _request(self, ctx: ServerRequestContext[Any], question: str) -> None:
        """Ask with a request to the client. Raises CallError unless the user agrees."""
        try:
            answer = await ctx.session.elicit_form(
                question, _NOTHING_TO_FILL_IN, related_request_id=ctx.request_id
            )
        except MCPError as failure:
            raise CallError(f"the client could not ask the user: {failure}") from None
        if answer.action != "accept":
            raise CallError("the user did not agree")

    def _required(self, call: Call) -> types.InputRequiredResult:
        """Return the result that makes the client ask, and remember the call."""
        # A client that never answers must not fill the memory: the oldest question is dropped.
        while len(self._open) >= _MOST_OPEN:
            oldest = next(iter(self._open))
            del self._open[oldest]

        state = secrets.token_urlsafe(16)
        self._open[state] = (_asked(call), time.monotonic() + _SECONDS)

        form = types.ElicitRequestFormParams(
            message=call.question, requested_schema=_NOTHING_TO_FILL_IN
        )
        request = types.ElicitRequest(params=form)
        return types.InputRequiredResult(
            input_requests={_KEY: request}, request_state=state
        )


def _asked(call: Call) -> tuple[str, ...]:
    """Return what an answer agrees to: the question and the words of the command line."""
    return (call.question, *call.argv)


def _can_ask(ctx: ServerRequestContext[Any]) -> bool:
    """Return whether the client can show a form: an empty `elicitation` capability implies it."""
    capabilities = ctx.session.client_capabilities
    if capabilities is None:
        return False
    elicitation = capabilities.elicitation
    if elicitation is None:
        return False
    return elicitation.form is not None or elicitation.url is None

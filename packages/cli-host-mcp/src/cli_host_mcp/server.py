"""The MCP server: the SDK's server with the tools of an `Offer`."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias, cast

import anyio
import anyio.to_thread
from mcp import MCPError, types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from cli_host_mcp.asking import Asking
from cli_host_mcp.masking import secrets_of
from cli_host_mcp.offer import Call, Offer, UnknownToolError, caller_environment
from cli_host_mcp.problem import CallError, SecretsUnknownError
from cli_host_mcp.runs import Ending, Limits, Runner, how_it_ended
from cli_host_mcp.structured import OutputError, structured
from cli_host_mcp.wire import Wire
from host import HostError, Program, Variable, declared_secrets, printable

_MOST_WAITING = 64  # maximum number of waiting calls, in addition to the running ones
_LAST_ANSWERS = 1.0  # seconds that a disconnecting client gets to read the last answers
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_Params: TypeAlias = types.CallToolRequestParams
_Result: TypeAlias = types.CallToolResult | types.InputRequiredResult


class Tools:
    """Answers the requests of a client; at most `jobs` calls run at once, and the others wait."""

    def __init__(self, offer: Offer, runner: Runner, limits: Limits, jobs: int) -> None:
        self._offer = offer
        self._runner = runner
        self._limits = limits
        self._jobs = jobs
        self._turn = anyio.CapacityLimiter(jobs)
        self._asking = Asking()
        self._calls = 0

    async def list(
        self, ctx: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        tools = [types.Tool.model_validate(one) for one in self._offer.tools()]
        return types.ListToolsResult(tools=tools)

    async def call(self, ctx: ServerRequestContext[Any], params: _Params) -> _Result:
        """Carry out a call. Raises MCPError for an unknown tool; other errors are in the result."""
        try:
            found = self._offer.answer(params.name, params.arguments or {})
            if isinstance(found, str):
                return _result([found])
            with self._counted():
                return await self._carry_out(ctx, params, found)
        except UnknownToolError as failure:
            raise MCPError(types.INVALID_PARAMS, printable(str(failure))) from None
        except SecretsUnknownError as failure:
            return _result([printable(str(failure))], failed=True)
        except HostError as failure:
            return _result([printable(f"{failure}; nothing was run")], failed=True)
        except OSError as failure:
            return _result([f"the command cannot be started: {failure.strerror}"], failed=True)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        if self._calls >= self._jobs + _MOST_WAITING:
            raise CallError(f"busy: {self._jobs} running, {_MOST_WAITING} waiting; try again later")
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1

    async def _carry_out(
        self, ctx: ServerRequestContext[Any], params: _Params, call: Call
    ) -> _Result:
        if call.question:
            try:
                required = await self._asking.ask(ctx, params, call.question)
            except CallError as failure:
                raise CallError(f"{failure}; to run the command by hand: {call.line}") from None
            if required:
                return required

        async def progress(number: int, line: str) -> None:
            await ctx.session.report_progress(number, message=line)

        def hidden(variables: Mapping[str, Variable]) -> set[str]:
            return secrets_of(variables, declared_secrets(call.command.definition, variables))

        async with self._turn:
            ending = await self._runner.run(call.argv, caller_environment(), hidden, progress)
        result = _ended(ending, self._limits)
        if call.command.definition.output and not result.is_error:
            _add_data(result, call, ending)
        return result


async def serve(program: Program, tools: Tools, instructions: str) -> int:
    """Serve until the client disconnects; return the signal that stopped the server, or 0."""
    ended_by = 0
    wire = Wire(program.messages.warn)
    server: Server[Any] = Server(
        program.name,
        version=program.version,
        instructions=instructions,
        on_list_tools=tools.list,
        on_call_tool=tools.call,
    )
    _log_in_one_line(program)

    async with anyio.create_task_group() as tasks:

        async def end_on_signal() -> None:
            nonlocal ended_by
            with anyio.open_signal_receiver(*_SIGNALS) as signals:
                async for number in signals:
                    ended_by = number
                    tasks.cancel_scope.cancel()

        async def end_without_client() -> None:
            await wire.gone.wait()
            tasks.cancel_scope.cancel()

        for task in (end_on_signal, end_without_client, wire.drain):
            tasks.start_soon(task)
        ends = cast("Any", wire)
        async with stdio_server(stdin=ends, stdout=ends) as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())
        with anyio.move_on_after(_LAST_ANSWERS):
            await wire.empty()
        tasks.cancel_scope.cancel()
    return ended_by


def threads_for(jobs: int) -> None:
    """Let anyio use a thread for each run, and for cancelled runs that are still ending."""
    anyio.to_thread.current_default_thread_limiter().total_tokens = 2 * jobs + 8


def _ended(ending: Ending, limits: Limits) -> types.CallToolResult:
    stderr = f"stderr:\n{ending.stderr}" if ending.stderr else ""
    how = how_it_ended(ending.status, limits.seconds)
    blocks = [block for block in (ending.stdout, stderr, how) if block]
    return _result(blocks or ["(no output)"], failed=ending.status != 0)


def _add_data(result: types.CallToolResult, call: Call, ending: Ending) -> None:
    """Add the structured content; output that is not as declared is an error, with its text."""
    try:
        result.structured_content = structured(call.command.definition, ending.whole)
    except OutputError as failure:
        result.is_error = True
        result.content.append(types.TextContent(text=printable(str(failure))))


def _result(blocks: list[str], failed: bool = False) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(text=block) for block in blocks]
    return types.CallToolResult(content=content, is_error=failed)


class _OneLine(logging.Handler):
    """Prints each log message of the SDK on one line, without a traceback."""

    def __init__(self, program: Program) -> None:
        super().__init__(logging.WARNING)
        self._messages = program.messages

    def emit(self, record: logging.LogRecord) -> None:
        failure = record.exc_info[1] if record.exc_info else None
        self._messages.warn(record.getMessage() + (f": {failure!r}" if failure else ""))


def _log_in_one_line(program: Program) -> None:
    logging.getLogger().handlers = [_OneLine(program)]

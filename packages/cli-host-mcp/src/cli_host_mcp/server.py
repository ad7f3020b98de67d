"""The MCP server: the SDK's server with the tools of an `Offer`."""

from __future__ import annotations

import logging
import signal
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias, cast

import anyio
import anyio.to_thread
from mcp import MCPError, types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from cli_host_mcp.asking import Asking
from cli_host_mcp.changes import Changes
from cli_host_mcp.history import (
    GIVEN,
    NOT_NEEDED,
    REFUSED,
    record_invalid,
    record_refusal,
    recorded_call,
    recorded_if_cancelled,
)
from cli_host_mcp.masking import secrets_of
from cli_host_mcp.offer import (
    Call,
    Offer,
    RefusedCallError,
    UnknownToolError,
    caller_environment,
)
from cli_host_mcp.problem import CallError, SecretsUnknownError
from cli_host_mcp.resources import Resources, limited
from cli_host_mcp.runs import Ending, Limits, Runner, how_it_ended
from cli_host_mcp.structured import OutputError, structured
from cli_host_mcp.wire import Wire
from host import HostError, Program, Variable, declared_secrets, printable

_MOST_WAITING = 64  # maximum number of waiting calls, in addition to the running ones
_LAST_ANSWERS = 1.0  # seconds that a disconnecting client gets to read the last answers
_NOT_FOUND = -32002  # in the protocol of 2025, for a resource that does not exist
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_Params: TypeAlias = types.CallToolRequestParams
_Result: TypeAlias = types.CallToolResult | types.InputRequiredResult


class Tools:
    """Answers the requests of a client; at most `jobs` calls run at once, and the others wait."""

    def __init__(
        self,
        offer: Offer,
        resources: Resources,
        runner: Runner,
        limits: Limits,
        jobs: int,
    ) -> None:
        self._offer = offer
        self._resources = resources
        self.changes = Changes(offer, resources)
        self._log_level: types.LoggingLevel | None = None
        self._runner = runner
        self._limits = limits
        self._jobs = jobs
        self._turn = anyio.CapacityLimiter(jobs)
        self._asking = Asking()
        self._calls = 0

    async def list(
        self,
        ctx: ServerRequestContext[Any],
        params: types.PaginatedRequestParams | None,
    ) -> types.ListToolsResult:
        listed = self.changes.list_tools(ctx)
        tools = [types.Tool.model_validate(tool) for tool in listed]
        return types.ListToolsResult(tools=tools)

    async def list_resources(
        self,
        ctx: ServerRequestContext[Any],
        params: types.PaginatedRequestParams | None,
    ) -> types.ListResourcesResult:
        listed = await anyio.to_thread.run_sync(self._resources.listed)
        resources = [types.Resource.model_validate(resource) for resource in listed]
        return types.ListResourcesResult(resources=resources)

    async def list_templates(
        self,
        ctx: ServerRequestContext[Any],
        params: types.PaginatedRequestParams | None,
    ) -> types.ListResourceTemplatesResult:
        listed = self._resources.templates()
        templates = [
            types.ResourceTemplate.model_validate(template) for template in listed
        ]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def read_resource(
        self, ctx: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            content = await anyio.to_thread.run_sync(self._resources.read, uri)
        except HostError as failure:
            code = _NOT_FOUND
            if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
                code = types.INVALID_PARAMS
            text = printable(str(failure))
            raise MCPError(code, text, {"uri": uri}) from None

        text = types.TextResourceContents(
            uri=uri, mime_type=content.mime_type, text=content.text
        )
        return types.ReadResourceResult(contents=[text])

    async def complete(
        self, ctx: ServerRequestContext[Any], params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        others = {}
        if params.context and params.context.arguments:
            others = params.context.arguments
        variable = params.argument
        try:
            values = await anyio.to_thread.run_sync(
                self._resources.completed, variable.name, variable.value, others
            )
        except HostError:
            values = []  # of a command that is not offered

        first, total = limited(values)
        has_more = total > len(first)
        completion = types.Completion(values=first, total=total, has_more=has_more)
        return types.CompleteResult(completion=completion)

    async def set_log_level(
        self, ctx: ServerRequestContext[Any], params: types.SetLevelRequestParams
    ) -> types.EmptyResult:
        """Remember the level of a client with the protocol of 2025."""
        self._log_level = params.level
        return types.EmptyResult()

    async def call(self, ctx: ServerRequestContext[Any], params: _Params) -> _Result:
        """Carry out a call. Raises MCPError for an unknown tool; other errors are in the result."""
        try:
            # In a thread, because click may take seconds to find the subcommand of a call.
            answer = await anyio.to_thread.run_sync(
                self._offer.answer, params.name, params.arguments or {}
            )
            if isinstance(answer, str):
                return _result([answer])
            with self._counted():
                return await self._carry_out(ctx, params, answer)
        except UnknownToolError as failure:
            raise MCPError(types.INVALID_PARAMS, printable(str(failure))) from None
        except RefusedCallError as failure:
            await anyio.to_thread.run_sync(record_invalid, ctx, params.name, failure)
            return _failed(f"{failure}; nothing was run")
        except SecretsUnknownError as failure:
            return _failed(str(failure))
        except HostError as failure:
            return _failed(f"{failure}; nothing was run")
        except OSError as failure:
            return _failed(f"the command cannot be started: {failure.strerror}")

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Count a call while it waits or runs. Raises CallError if there are too many."""
        if self._calls >= self._jobs + _MOST_WAITING:
            busy = f"busy: {self._jobs} running, {_MOST_WAITING} waiting"
            raise CallError(f"{busy}; try again later")

        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1

    async def _carry_out(
        self, ctx: ServerRequestContext[Any], params: _Params, call: Call
    ) -> _Result:
        """Ask for the user's consent if the call needs it, run the command, return its output."""
        if call.question:
            required = await self._consent(ctx, params, call)
            if required:
                return required

        ending = await self._run(ctx, params.name, call)

        result = _ended(ending, self._limits)
        if call.command.definition.output and not result.is_error:
            _add_data(result, call, ending)
        return result

    async def _consent(
        self, ctx: ServerRequestContext[Any], params: _Params, call: Call
    ) -> types.InputRequiredResult | None:
        """Return None if the user agreed, or the result that makes the client ask.

        Raises CallError, which names the command line to run by hand, if the user did not agree.
        """
        try:
            with recorded_if_cancelled(ctx, params.name, call, REFUSED):
                return await self._asking.ask(ctx, params, call)
        except CallError as failure:
            await anyio.to_thread.run_sync(record_refusal, ctx, params.name, call)
            by_hand = f"to run the command by hand: {call.line}"
            raise CallError(f"{failure}; {by_hand}") from None

    async def _run(
        self, ctx: ServerRequestContext[Any], tool: str, call: Call
    ) -> Ending:
        """Run a command in its turn, report its progress, and record it in the history."""
        logs = self._logs(ctx)

        async def progress(number: int, line: str) -> None:
            await ctx.session.report_progress(number, message=line)
            if logs:
                logger = call.command.words[-1]
                await ctx.session.send_log_message("info", line, logger)

        confirmation = NOT_NEEDED
        if call.question:
            confirmation = GIVEN
        with recorded_if_cancelled(ctx, tool, call, confirmation):
            await self._turn.acquire()
        try:
            with recorded_call(ctx, tool, call, confirmation) as record:

                def hidden(variables: Mapping[str, Variable]) -> set[str]:
                    declared = declared_secrets(call.command.definition, variables)
                    secrets = secrets_of(variables, declared)
                    # Only now can the history mask the arguments that it writes.
                    record.recorded.start(secrets)
                    return secrets

                environ = record.recorded.environment(caller_environment())
                ending = await self._runner.run(call.argv, environ, hidden, progress)
                record.ended(ending.status)
        finally:
            self._turn.release()
        return ending

    def _logs(self, ctx: ServerRequestContext[Any]) -> bool:
        """Return whether the client asked for log messages.

        With the protocol of 2026, each request asks, and the session knows it.
        """
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return True
        return self._log_level in ("debug", "info")


def server_of(program: Program, tools: Tools, instructions: str) -> Server[Any]:
    """Return the SDK's server, which answers all requests with `tools`."""
    with warnings.catch_warnings():
        # Clients of 2025 still use what the SDK calls deprecated.
        warnings.simplefilter("ignore")
        server: Server[Any] = Server(
            program.name,
            version=program.version,
            instructions=instructions,
            on_list_tools=tools.list,
            on_call_tool=tools.call,
            on_list_resources=tools.list_resources,
            on_list_resource_templates=tools.list_templates,
            on_read_resource=tools.read_resource,
            on_completion=tools.complete,
            on_set_logging_level=tools.set_log_level,
            on_subscribe_resource=tools.changes.subscribe,
            on_unsubscribe_resource=tools.changes.unsubscribe,
            on_subscriptions_listen=tools.changes.listen,
        )
    warnings.simplefilter("ignore")  # each log message would warn, too
    return server


async def serve(program: Program, tools: Tools, instructions: str) -> int:
    """Serve until the client disconnects; return the signal that stopped the server, or 0."""
    ended_by = 0
    wire = Wire(program.messages.warn)
    server = server_of(program, tools, instructions)
    changes = NotificationOptions(tools_changed=True)
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

        tasks.start_soon(end_on_signal)
        tasks.start_soon(end_without_client)
        tasks.start_soon(wire.drain)
        tasks.start_soon(tools.changes.watch)

        ends = cast("Any", wire)  # the SDK expects files
        options = server.create_initialization_options(changes)
        async with stdio_server(stdin=ends, stdout=ends) as (reading, writing):
            await server.run(reading, writing, options)

        # The client has closed stdin; it may still read answers.
        with anyio.move_on_after(_LAST_ANSWERS):
            await wire.empty()
        tasks.cancel_scope.cancel()
    return ended_by


def threads_for(jobs: int) -> None:
    """Let anyio use a thread for each run, and for cancelled runs that are still ending."""
    anyio.to_thread.current_default_thread_limiter().total_tokens = 2 * jobs + 8


def _ended(ending: Ending, limits: Limits) -> types.CallToolResult:
    """Return the result of a run: its output, and how it ended if it failed."""
    blocks = []
    if ending.stdout:
        blocks.append(ending.stdout)
    if ending.stderr:
        blocks.append(f"stderr:\n{ending.stderr}")

    how = how_it_ended(ending.status, limits.seconds)
    if how:
        blocks.append(how)

    if not blocks:
        blocks.append("(no output)")
    return _result(blocks, failed=ending.status != 0)


def _add_data(result: types.CallToolResult, call: Call, ending: Ending) -> None:
    """Add the structured content; output that is not as declared is an error, with its text."""
    try:
        result.structured_content = structured(call.command.definition, ending.whole)
    except OutputError as failure:
        result.is_error = True
        text = printable(str(failure))
        result.content.append(types.TextContent(text=text))


def _failed(reason: str) -> types.CallToolResult:
    return _result([printable(reason)], failed=True)


def _result(blocks: list[str], failed: bool = False) -> types.CallToolResult:
    content: list[types.ContentBlock] = []
    for block in blocks:
        content.append(types.TextContent(text=block))
    return types.CallToolResult(content=content, is_error=failed)


class _OneLine(logging.Handler):
    """Prints each log message of the SDK on one line, without a traceback."""

    def __init__(self, program: Program) -> None:
        super().__init__(logging.WARNING)
        self._messages = program.messages

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.exc_info and record.exc_info[1]:
            text += f": {record.exc_info[1]!r}"
        self._messages.warn(text)


def _log_in_one_line(program: Program) -> None:
    logging.getLogger().handlers = [_OneLine(program)]

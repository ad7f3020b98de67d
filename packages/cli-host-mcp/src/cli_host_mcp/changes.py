"""Tell clients what has changed: the list of tools, and the list of commands as a resource."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.to_thread
from mcp import MCPError, types
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from cli_host_mcp.offer import Offer
from cli_host_mcp.resources import Resources
from host import HostError, printable

_MOST_STREAMS = 8  # subscriptions of one client
_WATCH = 2.0  # seconds between two looks for changed definitions


class Changes:
    """Compares what clients know with the definitions, and notifies them.

    A client of 2025 is one session, which subscribes to an address. A client of 2026 opens streams
    of events, and each names the addresses that it wants. Only the list of commands can be watched:
    a help page would have to be made again at each look.
    """

    def __init__(self, offer: Offer, resources: Resources) -> None:
        self._offer = offer
        self._resources = resources
        self._tools: list[dict[str, Any]] | None = None  # None: no client knows them
        # the text of the resource, None without a subscription
        self._commands: str | None = None
        self._session: Any = None  # of a client of 2025
        self._has_subscribed = False  # this session
        self._listening = 0  # streams that want the list of commands
        self._bus = InMemorySubscriptionBus()
        self._streams = ListenHandler(self._bus, max_subscriptions=_MOST_STREAMS)

    def list_tools(self, ctx: ServerRequestContext[Any]) -> list[dict[str, Any]]:
        """Return the tools, and remember that the client knows them."""
        self._remember(ctx)
        self._tools = self._offer.tools()
        return self._tools

    def _remember(self, ctx: ServerRequestContext[Any]) -> None:
        """Keep the session of a client of 2025, which gets notifications outside of a stream."""
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            self._session = ctx.session

    async def subscribe(
        self, ctx: ServerRequestContext[Any], params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        """Remember that a client of 2025 wants to know changes of the list of commands."""
        uri = str(params.uri)
        if uri != self._resources.commands_uri:
            what = f"changes of {printable(uri[:200])} are not announced"
            only = f"only those of {self._resources.commands_uri}"
            raise MCPError(types.INVALID_PARAMS, f"{what}, {only}", {"uri": uri})
        self._remember(ctx)
        self._has_subscribed = True
        await self._begin()
        return types.EmptyResult()

    async def unsubscribe(
        self, ctx: ServerRequestContext[Any], params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        if str(params.uri) == self._resources.commands_uri:
            self._has_subscribed = False
        return types.EmptyResult()

    async def listen(
        self,
        ctx: ServerRequestContext[Any],
        params: types.SubscriptionsListenRequestParams,
    ) -> types.SubscriptionsListenResult:
        """Send events to a client of 2026 until it ends the stream.

        The answer names what is announced, so other addresses are left out.
        """
        requested = params.notifications.resource_subscriptions or ()
        uris = [uri for uri in requested if str(uri) == self._resources.commands_uri]
        announced = {"resource_subscriptions": uris or None}
        notifications = params.notifications.model_copy(update=announced)
        narrowed = params.model_copy(update={"notifications": notifications})

        # Changes are found by comparison with what there was when the stream began.
        if self._tools is None:
            self._tools = await anyio.to_thread.run_sync(self._offer.tools)
        if not uris:
            return await self._streams(ctx, narrowed)

        self._listening += 1
        try:
            await self._begin()
            return await self._streams(ctx, narrowed)
        finally:
            self._listening -= 1

    async def _begin(self) -> None:
        """Read the list of commands that the first subscriber knows."""
        if self._commands is None:
            self._commands = await anyio.to_thread.run_sync(self._read_commands)

    async def watch(self) -> None:
        """Notify the clients of changes, until the server ends."""
        while True:
            await anyio.sleep(_WATCH)
            try:
                if self._tools is not None:
                    await self._compare_tools(self._tools)
                if self._has_subscribed or self._listening:
                    await self._compare_commands()
                else:
                    self._commands = None
            except HostError:
                continue  # the installation is being changed

    async def _compare_tools(self, known: list[dict[str, Any]]) -> None:
        tools = await anyio.to_thread.run_sync(
            self._offer.tools, abandon_on_cancel=True
        )
        if tools == known:
            return

        self._tools = tools
        await self._bus.publish(ToolsListChanged())
        if self._session is not None:
            await self._session.send_tool_list_changed()

    async def _compare_commands(self) -> None:
        commands = await anyio.to_thread.run_sync(
            self._read_commands, abandon_on_cancel=True
        )
        if commands == self._commands:
            return

        self._commands = commands
        await self._bus.publish(ResourceUpdated(self._resources.commands_uri))
        if self._has_subscribed:
            await self._session.send_resource_updated(self._resources.commands_uri)

    def _read_commands(self) -> str:
        return self._resources.read(self._resources.commands_uri).text

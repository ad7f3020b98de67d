"""Listings as text, JSON and a tree; each renderer is loaded on demand."""

from __future__ import annotations

from host import hookimpl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from host import Listing, Terminal


@hookimpl
def render_listing(listing: Listing, format: str, terminal: Terminal) -> str | None:
    if format == "text":
        from builtin_plugins.renderers.text_listing import text_page

        return text_page(listing, terminal)

    if format == "tree":
        from builtin_plugins.renderers.text_listing import tree_page

        return tree_page(listing, terminal)

    if format == "json":
        from builtin_plugins.renderers.json_listing import json_text

        return json_text(listing)

    return None

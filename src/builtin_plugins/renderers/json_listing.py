"""Listings as JSON."""

from __future__ import annotations

import os

from host import category_json, command_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from host import Listing


def json_text(listing: Listing) -> str:
    """Return JSON text on one line: an object with the arrays `categories` and `commands`."""
    categories = ", ".join(map(category_json, listing.categories))
    head = f'{{"categories": [{categories}], "commands": ['

    # All commands of a plugin have the same folders, and resolving the links of a path is slow.
    real_paths: dict[str, str] = {}

    def realpath(folder: str) -> str:
        if folder not in real_paths:
            real_paths[folder] = os.path.realpath(folder)
        return real_paths[folder]

    texts = [command_json(command, realpath) for command in listing.commands]
    if not texts:
        return f"{head}]}}\n"

    # The first and the last text get the rest, so that megabytes of text are copied only once.
    texts[0] = head + texts[0]
    texts[-1] += "]}\n"
    return ", ".join(texts)

"""Listings as JSON."""

from __future__ import annotations

import json
import os
from functools import cache

from host import command_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from host import Listing


def json_text(listing: Listing) -> str:
    """Return JSON text on one line: an object with the arrays `categories` and `commands`."""
    categories = []
    for category in listing.categories:
        categories.append(
            {
                "path": category.words,
                "name": category.name,
                "description": category.description,
            }
        )
    head = f'{{"categories": {json.dumps(categories)}, "commands": ['

    # All commands of a plugin have the same folders, and resolving the links of a path is slow.
    realpath = cache(os.path.realpath)
    texts = [command_json(command, realpath) for command in listing.commands]
    if not texts:
        return f"{head}]}}\n"

    # The first and the last text get the rest, so that megabytes of text are copied only once.
    texts[0] = head + texts[0]
    texts[-1] += "]}\n"
    return ", ".join(texts)

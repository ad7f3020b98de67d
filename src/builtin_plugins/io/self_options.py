"""Declarations of arguments of `self` commands, and options that several share."""

from __future__ import annotations

from typing import Any


def argument(name: str, description: str = "", **more: Any) -> dict[str, Any]:
    """Return the declaration of an argument, with its keys as in a command.json."""
    return {"name": name, "description": description, **more}


def free(name: str, value: str, description: str) -> dict[str, Any]:
    """Return the declaration of an option whose value is any text, such as a name."""
    return argument(name, description, value=value, complete="none")


FORMAT = argument("--format", value="FORMAT", choices=["text", "json"], default="text")
YES = argument("--yes", "Do not ask.")

USUAL_SECONDS = 600.0  # for each download, call of git or run of pip
TIMEOUT = argument(
    "--timeout",
    "Time limit of each download.",
    value="SECONDS",
    type="number",
    pattern="[0-9.]{1,6}",
    default=f"{USUAL_SECONDS:g}",
)

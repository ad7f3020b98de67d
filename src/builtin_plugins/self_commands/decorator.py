"""Declare a `self` command beside its function.

The decorator `self_command` keeps the declaration on the function. `self_commands` collects
the declarations when the lock is built, with the docstrings as help texts. So help, Tab and
listings import none of the functions::

    @self_command("plugin show", "Show everything about a plugin", PLUGIN, FORMAT)
    def plugin_show(session: Session, name: str, format: str) -> None:
        ...
"""

from __future__ import annotations

from host import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    Function = TypeVar("Function", bound=Callable[..., Any])

DECLARATION = "self_command"  # the attribute of a function that has its declaration


class SelfCommand(Record):
    """The declaration of a `self` command.

    name          its words without `self`, such as "plugin add"
    description   one line for listings
    arguments     in the form of `args` in command.json
    synonyms      words that users type instead; the error suggests the command
    hidden        whether only `--all` lists it
    short         a shorter name, such as "add", under which only `--all` lists it; "" for none
    """

    name: str
    description: str
    arguments: Sequence[dict[str, Any]]
    synonyms: Sequence[str]
    hidden: bool
    short: str


def self_command(
    name: str,
    description: str,
    *arguments: dict[str, Any],
    synonyms: Sequence[str] = (),
    hidden: bool = False,
    short: str = "",
) -> Callable[[Function], Function]:
    """Declare the decorated function as the command `self NAME`.

    The function gets the session, and each argument as a keyword: a flag as a bool, a number as a
    float, a repeated argument as a tuple of strings, any other as a string or None.
    """
    declaration = SelfCommand(name, description, arguments, synonyms, hidden, short)

    def declare(function: Function) -> Function:
        setattr(function, DECLARATION, declaration)
        return function

    return declare


def argument(name: str, description: str = "", **more: Any) -> dict[str, Any]:
    """Return the declaration of an argument, in the form of an item of `args` in command.json."""
    return {"name": name, "description": description, **more}


def text(name: str, value: str, description: str) -> dict[str, Any]:
    """Return the declaration of an option that takes any text, shown as `value` in the help."""
    return argument(name, description, value=value, complete="none")


# Arguments that several commands have.
ALL = argument("--all", "Also list hidden commands and those for other systems.")
DESCRIPTION = text("--description", "TEXT", "A one-line description.")
DRY_RUN = argument("--dry-run", "Only show what would change.")
FORMAT = argument("--format", value="FORMAT", choices=["text", "json"], default="text")
LISTING_FORMAT = {
    **argument("--format", "text, json, tree or a plugin's format.", value="FORMAT"),
    "default": "text",
    "complete": "host.tab.candidates:formats",
}
NEW_NAME = argument("name", required=True, complete="none")
PLUGIN = argument(
    "name",
    required=True,
    complete="builtin_plugins.plugins.commands.plugin_names:plugin_names",
)
TIMEOUT = {
    **argument(
        "--timeout", "The time limit for each download.", value="SECONDS", type="number"
    ),
    "pattern": "[0-9.]{1,6}",
    "default": "600",
}
WORDS = argument(
    "words...", required=True, complete="host.tab.candidates:command_words"
)
NEW_WORDS = {**WORDS, "complete": "none"}
YES = argument("--yes", "Do not ask.")

"""Pure: which of a command's variables reach a host (SPEC 2.6 holds there as here)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

CALLER = 1  # ranks: the framework's is stronger, sources' are weaker
# What describes the installation is said again for the directory that is made on the host.
_PLACES = {
    "CLI_DIR": "",
    "CORE_DIR": "/core",
    "LIB_DIR": "/core/lib",
    "PLUGINS_DIR": "/plugins",
    "GLOBAL_CONFIG_FILE": "/core/cli.json",
}
_WORDS = ("COMMAND_NAME", "COMMAND_CATEGORY")


class Variable(Protocol):
    """What `Program.environment` tells of a variable."""

    @property
    def name(self) -> str: ...
    @property
    def value(self) -> str: ...
    @property
    def rank(self) -> float: ...
    @property
    def shadows(self) -> Collection[object]: ...


def caller_there(
    caller: Mapping[str, str], inventory: Mapping[str, str], facts: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment that counts as the caller's on a host.

    The inventory's variables stand just below the caller's own; who and where one is, is the
    host's.
    """
    return {**inventory, **caller, **facts}


def shipped(
    variables: Collection[Variable], given: Mapping[str, str], place: str
) -> dict[str, str]:
    """Return the environment for a command that is shipped to the directory `place`.

    Of the caller's own variables those travel that a source names, too, and those in `given`:
    the inventory's, and what was asked for.
    """
    words = {one.name: one.value for one in variables if one.name in _WORDS}
    sources = {one.name: one.value for one in variables if one.rank > CALLER}
    places = {name: place + path for name, path in _PLACES.items()}
    return {**sources, **given, **_callers(variables), **words, **places}


def for_installed(variables: Collection[Variable], given: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for the program that is there: the caller's and the host's only."""
    return {**given, **_callers(variables)}


def _callers(variables: Collection[Variable]) -> dict[str, str]:
    return {one.name: one.value for one in variables if one.rank == CALLER and one.shadows}

"""Pure functions: which of a command's variables reach a host, and which values win."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

CALLER = 1  # rank of the caller's variables; the framework's have 0, those of sources more than 1
# Variables that describe the installation, with their values relative to the run's directory.
_PLACES = {
    "CLI_DIR": "",
    "CORE_DIR": "/core",
    "LIB_DIR": "/core/lib",
    "PLUGINS_DIR": "/plugins",
    "GLOBAL_CONFIG_FILE": "/core/cli.json",
}
_WORDS = ("COMMAND_NAME", "COMMAND_CATEGORY")


class Variable(Protocol):
    """A variable as `Program.environment` describes it."""

    @property
    def name(self) -> str: ...
    @property
    def value(self) -> str: ...
    @property
    def rank(self) -> float: ...
    @property
    def shadows(self) -> Collection[object]: ...


def caller_on_host(
    caller: Mapping[str, str], inventory: Mapping[str, str], facts: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables that stand for the caller's environment when a command runs on a host.

    The caller's variables override the inventory's. The host's facts, such as USER and HOME,
    override all others.
    """
    return {**inventory, **caller, **facts}


def shipped(
    variables: Collection[Variable], requested: Mapping[str, str], place: str
) -> dict[str, str]:
    """Return the environment for a command that is shipped to the directory `place`.

    A variable of the caller's environment is sent only if it overrides a variable from one of
    the command's sources, such as a `.env` file, or if it is in `requested`, which has the
    variables of the inventory and those that the user asked to send.
    """
    words = {}
    sources = {}
    for variable in variables:
        if variable.name in _WORDS:
            words[variable.name] = variable.value
        if variable.rank > CALLER:
            sources[variable.name] = variable.value
    places = {name: place + path for name, path in _PLACES.items()}

    # Later ones win: what describes the run, the caller's own values, the sources (SPEC 2.6).
    callers = _callers(variables)
    return {**sources, **requested, **callers, **words, **places}


def for_installed(
    variables: Collection[Variable], requested: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables to send; the program on the host adds those of its own sources."""
    return {**requested, **_callers(variables)}


def _callers(variables: Collection[Variable]) -> dict[str, str]:
    """Return the caller's variables that override one of the command's sources."""
    values = {}
    for variable in variables:
        if variable.rank == CALLER and variable.shadows:
            values[variable.name] = variable.value
    return values

"""Hosts, and the ways to reach them: a transport starts a shell on a host.

ssh is one transport, containers are others: see `ssh_transport` and `containers`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from cli_host_fleet.problem import FleetError
from cli_host_fleet.results import State

SHELL_NOT_STARTED = {126, 127}  # exit statuses if no program of that name can start
# Names become arguments of ssh, so none may look like an option.
_WORD = re.compile(r"([A-Za-z0-9_]|::)[A-Za-z0-9_.:%-]*")
_PORT = re.compile(r"[0-9]*")


@dataclass(frozen=True, slots=True)
class Host:
    """A host and how to reach it; `address`, `port` and `user` are "" if ssh_config decides.

    place         "" for a host of ssh, or the prefix that `--on` gave it: `docker:`, `kube:NS/`
    is_alias      whether the address is a name in ssh_config, so that ssh is called with it
    variables     the inventory's variables for the environment of a command
    settings      all of the inventory's variables, those for connections too
    ignored       the inventory's connection settings that have no effect
    """

    name: str
    address: str = ""
    port: str = ""
    user: str = ""
    place: str = ""
    is_alias: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    ignored: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for word in (self.name, self.address):
            if word and not is_name(word):
                raise FleetError(no_name(word))
        if self.user and not _WORD.fullmatch(self.user):
            raise FleetError(no_name(self.user))

        if not _PORT.fullmatch(self.port):
            raise FleetError(f"{self.name}: {self.port!r} is not a port")


def is_name(word: str) -> bool:
    """Return whether a word can be the name or the address of a host."""
    if not _WORD.fullmatch(word):
        return False
    return ":" not in word or bool(canonical(word))


def no_name(word: str) -> str:
    """Return the reason why a word is no name."""
    if ":" in word and _WORD.fullmatch(word):
        what = f"{word!r} is not an IPv6 address; set a port in ssh_config or by ansible_port"
        return f"{what}, and name a place such as docker: once, before the set"
    return f"{word!r} cannot be the name of a host or a user"


def canonical(word: str) -> str:
    """Return the usual spelling of an IPv6 address, or "" for any other word."""
    from ipaddress import IPv6Address

    try:
        return str(IPv6Address(word))
    except ValueError:
        return ""


def login(host: Host) -> str:
    """Return the host as `--on` takes it: `USER@HOST`, `docker:NAME`, or HOST alone."""
    if host.user:
        return f"{host.place}{host.user}@{host.name}"
    return f"{host.place}{host.name}"


def not_answered(status: int, words: str) -> tuple[State, str]:
    """Return the state and the reason if the host was reached, but no shell answered."""
    reason = "no shell answered"
    if status in SHELL_NOT_STARTED:
        reason = "no sh on this host"
    if words:
        reason += f": {words}"
    return "refused", reason


class Transport(Protocol):
    """A way to hosts: a local program that connects its three streams with a shell on a host.

    `environ` is the environment of that program.
    """

    environ: Mapping[str, str]

    def options(self, hosts: Sequence[Host]) -> Mapping[str, Sequence[str]]:
        """Return the options of the program for each host; raises HostError.

        It is called once, before anything connects.
        """

    def argv(self, host: Host, options: Sequence[str], command: str) -> list[str]:
        """Return the argv of the program; on the host, a shell runs the line `command`."""

    def explain(self, status: int, words: str) -> tuple[State, str]:
        """Return a state and a reason for a program that ended before a shell answered.

        `status` is its exit status, and `words` the most useful line that it printed.
        """

"""The parts of a set of hosts as it was typed: an operator, a user, and a name, range or group."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cli_host_fleet.problem import FleetError

# An operator and what follows it. Between brackets, a comma separates ranges.
_PART = re.compile(r"([,!&^])((?:\[[^\]]*\]|[^,!&^])*)")
_LOGIN = re.compile(r"(\w[\w.-]*)@(.+)", re.ASCII)
_ADDRESS = re.compile(r"\[([^\]]*:[^\]]*)\](.*)")
_RANGES = re.compile(r"\[([^\]]*)\]")
_NUMBER = " *([0-9]{1,18}) *"
_RANGE = re.compile(f"{_NUMBER}(?:-{_NUMBER})?(?:/{_NUMBER})?")
_MOST_HOSTS = 100_000


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a set. `operator` says how it changes the set before it: `,` `!` `&` or `^`."""

    operator: str
    user: str
    hosts: str

    @property
    def is_typed(self) -> bool:
        """Return whether it names each of its hosts, without a group or wildcard."""
        return not {"@", "*", "?"} & set(self.hosts)


def parts_of(text: str) -> Sequence[Part]:
    """Return the parts of a set; raises FleetError for what ClusterShell would misunderstand."""
    parts = []
    for match in _PART.finditer(f",{text}"):
        operator, words = match.groups()
        words = words.strip()
        if not words:
            raise FleetError(f"{text!r}: a name of a host or group is missing")

        user, hosts = "", words
        login = _LOGIN.fullmatch(words)
        if login:
            user, hosts = login.groups()
        parts.append(Part(operator, user, _checked(hosts)))
    return parts


def _checked(hosts: str) -> str:
    """Return the name, range or group of a part, an IPv6 address without its brackets."""
    # ClusterShell would replace the digit by one of 0 to 9.
    if any(letter.isdigit() and not letter.isascii() for letter in hosts):
        raise FleetError(f"{hosts}: write each digit as one of 0 to 9")

    address = _ADDRESS.fullmatch(hosts)
    if address:
        if address[2]:
            raise FleetError(f"{hosts}: set the port in ssh_config")
        return address[1]
    check_ranges(hosts)
    return hosts


def check_ranges(hosts: str) -> None:
    """Raise FleetError if brackets contain anything but ranges, or ranges of too many hosts."""
    number = 1
    for ranges in _RANGES.findall(hosts):
        number_here = 0
        for words in ranges.split(","):
            match = _RANGE.fullmatch(words)
            if match is None:
                raise FleetError(f"{hosts}: {words!r} is neither a number nor a range")
            first = int(match[1])
            last = int(match[2] or first)
            number_here += abs(last - first) // max(int(match[3] or 1), 1) + 1
        number *= number_here

    if number > _MOST_HOSTS:
        raise FleetError(f"{hosts}: more than {_MOST_HOSTS} hosts")

"""What `ssh -G` prints: the settings that ssh would use for a host, and for the gateways to it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence

from cli_host_fleet import ssh
from cli_host_fleet.programs import output_of
from cli_host_fleet.ssh import Calling
from cli_host_fleet.transport import Host

# [USER@]HOST[:PORT], as in ProxyJump; an IPv6 address is in brackets
_HOP = re.compile(r"(?:ssh://)?(?:([^@]*)@)?(\[[^\]]*\]|[^:@]*)(?::([0-9]+))?")
_MOST_HOPS = 16


class Settings:
    """Reads settings; each gateway is read once for all hosts."""

    def __init__(self, calling: Calling, environ: Mapping[str, str]) -> None:
        self._calling = calling
        self._environ = environ
        self._of_hops: dict[str, str] = {}

    def of_host(self, host: Host) -> str:
        """Return what ssh prints for a host, or "" if it fails."""
        return self._printed(ssh.settings_call(host, self._calling))

    def keywords(self) -> set[str]:
        """Return the keywords that this ssh has in ssh_config, in lower case."""
        return {*parsed(self._printed(ssh.keywords_call()))}

    def of_gateways(self, printed: str) -> Iterator[str]:
        """Yield the settings of each gateway on the way to a host with the settings `printed`.

        They include those of the gateways on the way to a gateway. Unknown ones are "".
        """
        yield from self._of_gateways(printed, set())

    def _of_gateways(self, printed: str, passed: set[str]) -> Iterator[str]:
        jumps = parsed(printed).get("proxyjump", "none")
        for hop in jumps.split(","):
            if hop == "none":
                continue
            # A configuration can send a gateway through itself; ssh refuses that later.
            if hop in passed or len(passed) == _MOST_HOPS:
                continue
            passed.add(hop)

            settings = self._of_hop(hop)
            yield settings
            yield from self._of_gateways(settings, passed)

    def _of_hop(self, hop: str) -> str:
        if hop in self._of_hops:
            return self._of_hops[hop]

        argv = _hop_call(hop, self._calling)
        printed = ""
        if argv:
            printed = self._printed(argv)
        self._of_hops[hop] = printed
        return printed

    def _printed(self, argv: Sequence[str]) -> str:
        """Return the printed settings, or "" on failure: ssh reports the error when it connects."""
        seconds = self._calling.connect_timeout
        try:
            printed = output_of(argv, seconds, environ=self._environ, quiet=True)
        except OSError:
            return ""

        if printed.status:
            return ""
        return os.fsdecode(printed.stdout)


def parsed(printed: str) -> dict[str, str]:
    """Return the values of settings by keyword, in lower case as `ssh -G` prints them."""
    settings = {}
    for line in printed.splitlines():
        word, _, value = line.partition(" ")
        settings[word] = value
    return settings


def _hop_call(hop: str, calling: Calling) -> list[str]:
    """Return the argv that prints the settings of a gateway, or [] if it cannot be parsed."""
    parts = _HOP.fullmatch(hop)
    if parts is None or not parts[2]:
        return []
    user, name, port = parts.groups()

    # ssh itself connects to a gateway so: with its own file, and the user and port of ProxyJump.
    argv = ["ssh", "-G"]
    if calling.config:
        argv += ["-F", calling.config]
    if user:
        argv.append(f"-oUser={user}")
    if port:
        argv.append(f"-oPort={port}")
    return [*argv, "--", name.strip("[]")]

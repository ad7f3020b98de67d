"""The ssh options that share connections: by a socket of fleet's own, or by the user's.

A later run uses a kept connection, whatever it would connect to itself. So the name of fleet's
socket contains everything that decides where a connection goes and whom it trusts: if anything of
that differs, the name differs, and ssh connects anew.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from cli_host_fleet import ssh, ssh_config
from cli_host_fleet.programs import output_of
from cli_host_fleet.ssh import Calling
from cli_host_fleet.transport import Host

_AT_ONCE = 8
_VERIFIES = {
    "ask",
    "true",
    "yes",
}  # values of StrictHostKeyChecking that refuse a changed key
_KNOWN_HOSTS = ("userknownhostsfile", "globalknownhostsfile", "revokedhostkeys")
_PROGRAMS = ("proxycommand", "knownhostscommand")
_VARIABLE = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)")
_HOP = re.compile(r"(?:ssh://)?(?:([^@]*)@)?(\[[^\]]*\]|[^:@]*)(?::([0-9]+))?")
_MOST_HOPS = 16
_NAME_BYTES = 20  # 40 characters of a socket's path, which is limited to about 100


def kept_connections(
    hosts: Iterable[Host], calling: Calling, environ: Mapping[str, str]
) -> dict[str, list[str]]:
    """Map each host to the ssh options that decide which connection it uses."""
    may_be_own = calling.own and ssh_config.uses("controlpath", calling.config)
    if not may_be_own and not calling.control_directory:
        return {host.name: [*ssh.UNSHARED] for host in hosts}
    settings = _Settings(calling, environ)

    def options(host: Host) -> tuple[str, list[str]]:
        printed = settings.of_host(host)
        own = _users(printed) if may_be_own else None
        if own is not None:
            return host.name, own
        if not calling.control_directory:
            return host.name, [*ssh.UNSHARED]
        return host.name, _fleets(calling, settings.fingerprint(host, printed))

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return dict(pool.map(options, hosts))


def _fleets(calling: Calling, name: str) -> list[str]:
    """Return the options for a connection that fleet keeps."""
    return [
        "ControlMaster=auto",
        f"ControlPath={calling.control_directory}/{name}",
        f"ControlPersist={calling.keep}",
    ]


def _users(printed: str) -> list[str] | None:
    """Return the options for the user's own connection, or None if fleet must open its own.

    fleet opens its own if the user's connection may lead to a host with an unverified key, or if
    the master would end with its first session, which would also end all other sessions.
    """
    settings = _parsed(printed)
    path = settings.get("controlpath", "none")
    verified = (
        settings.get("stricthostkeychecking") in _VERIFIES
        and "hostkeyalias" not in settings
    )
    if path == "none" or not verified:
        return None
    if settings.get("controlpersist", "no") != "no":
        return []
    return ["ControlMaster=no"] if os.path.exists(path) else None


class _Settings:
    """What `ssh -G` prints. Each gateway and each known_hosts file is read once for all hosts."""

    def __init__(self, calling: Calling, environ: Mapping[str, str]) -> None:
        self._calling = calling
        self._environ = environ
        self._of_hops: dict[str, str] = {}
        self._of_files: dict[str, bytes] = {}

    def of_host(self, host: Host) -> str:
        return self._printed(ssh.settings_call(host, self._calling))

    def fingerprint(self, host: Host, printed: str) -> str:
        """Return the name for a host's socket; `printed` are the host's settings.

        If something cannot be known, the name is random: then no other run uses the connection.
        """
        every = [printed, *self._hops(printed, set())]
        if not all(every):
            return os.urandom(_NAME_BYTES).hex()
        digest = hashlib.blake2b(digest_size=_NAME_BYTES)
        for part in (host.name, *every):
            _add(digest, os.fsencode(part))
        for settings in map(_parsed, every):
            commands = [settings.get(name, "none") for name in _PROGRAMS]
            if commands[1] != "none":  # what this program prints is known only to ssh
                return os.urandom(_NAME_BYTES).hex()
            for part in self._seen_by(commands[0]):
                _add(digest, os.fsencode(part))
            for name in _KNOWN_HOSTS:
                for path in _paths(settings.get(name, "none")):
                    _add(digest, self._content(path))
        return digest.hexdigest()

    def _hops(self, printed: str, passed: set[str]) -> Iterator[str]:
        """Yield the settings of each gateway on the way, and of the gateways on the way to it."""
        for hop in _parsed(printed).get("proxyjump", "none").split(","):
            if hop == "none" or hop in passed or len(passed) == _MOST_HOPS:
                continue
            passed.add(hop)
            if hop not in self._of_hops:
                argv = _hop_call(hop, self._calling)
                self._of_hops[hop] = self._printed(argv) if argv else ""
            yield self._of_hops[hop]
            yield from self._hops(self._of_hops[hop], passed)

    def _seen_by(self, command: str) -> Iterator[str]:
        """Yield what can change the meaning of a ProxyCommand: directory and named variables."""
        if command == "none":
            return
        try:
            yield os.getcwd()
        except FileNotFoundError:
            yield ""
        for name in _VARIABLE.findall(command):
            yield self._environ.get(name, "")

    def _content(self, path: str) -> bytes:
        """Return a digest of a file, or b"" if neither this process nor ssh can read it."""
        if path not in self._of_files:
            try:
                with open(path, "rb") as opened:
                    self._of_files[path] = hashlib.blake2b(opened.read()).digest()
            except OSError:
                self._of_files[path] = b""
        return self._of_files[path]

    def _printed(self, argv: Sequence[str]) -> str:
        """Return the printed settings, or "" on failure: ssh reports the error when it connects."""
        seconds = self._calling.connect_timeout
        try:
            done = output_of(argv, seconds, environ=self._environ, quiet=True)
        except OSError:
            return ""
        return "" if done.status else os.fsdecode(done.stdout)


def _add(digest: hashlib.blake2b, part: bytes) -> None:
    """Add a part with its length, so that no two lists of parts give the same bytes."""
    digest.update(len(part).to_bytes(8, "big") + part)


def _parsed(printed: str) -> dict[str, str]:
    lines = [line.partition(" ") for line in printed.splitlines()]
    return {word: value for word, _, value in lines}


def _hop_call(hop: str, calling: Calling) -> list[str]:
    """Return the argv that prints the settings of a gateway, `[USER@]HOST[:PORT]`, or []."""
    parts = _HOP.fullmatch(hop)
    if parts is None or not parts[2]:
        return []
    user, name, port = parts.groups()
    options = [
        *([f"-oUser={user}"] if user else []),
        *([f"-oPort={port}"] if port else []),
    ]
    config = ["-F", calling.config] if calling.config else []
    return ["ssh", "-G", *config, *options, "--", name.strip("[]")]


def _paths(value: str) -> Iterator[str]:
    """Yield the files in a value; ssh prints paths as they are, and one may contain spaces."""
    words = value.split(" ")
    for first in range(len(words)):
        for last in range(first, len(words)):
            yield " ".join(words[first : last + 1])

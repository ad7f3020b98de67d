"""Names for the sockets of kept connections.

A later run uses a kept connection, whatever it would connect to itself. So the name of fleet's
socket contains everything that decides where a connection goes and whom it trusts: if anything of
that differs, the name differs, and ssh connects anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
from collections.abc import Iterator, Mapping

from cli_host_fleet.ssh_settings import Settings, parsed
from cli_host_fleet.transport import Host

_KNOWN_HOSTS = ("userknownhostsfile", "globalknownhostsfile", "revokedhostkeys")
# what a run of the program sets for itself, which differs each time
_OF_A_RUN = {
    *("CLI_RUN", "CLI_RECORDED", "CLI_REPORT_FD", "CLI_SHELL_FILE", "CLI_HOST_INIT")
}
_NAME_BYTES = 20  # 40 characters of a socket's path, which is limited to about 100


class ConnectionNames:
    """Names the connections of a run; each known_hosts file and each name is read once."""

    def __init__(self, settings: Settings, environ: Mapping[str, str]) -> None:
        self._settings = settings
        self._environ = environ
        self._of_files: dict[str, bytes] = {}
        self._of_names: dict[str, bytes] = {}

    def name(self, host: Host, printed: str) -> str:
        """Return the name for a host's socket; `printed` are the host's settings.

        If something cannot be known, the name is random: then no other run uses the connection.
        """
        all_printed = [printed, *self._settings.of_gateways(printed)]
        if not all(all_printed):
            return _random_name()

        digest = hashlib.blake2b(digest_size=_NAME_BYTES)
        _add(digest, os.fsencode(host.name))
        for text in all_printed:
            _add(digest, os.fsencode(text))

        for text in all_printed:
            settings = parsed(text)
            # What this program prints is known only to ssh.
            if settings.get("knownhostscommand", "none") != "none":
                return _random_name()
            for content in self._contents(settings):
                _add(digest, content)

        return digest.hexdigest()

    def _contents(self, settings: Mapping[str, str]) -> Iterator[bytes]:
        """Yield what decides about a connection beside the settings themselves."""
        proxy = settings.get("proxycommand", "none")
        for part in self._seen_by(proxy):
            yield os.fsencode(part)
        if proxy == settings.get("proxyjump", "none") == "none":
            yield self._addresses(settings.get("hostname", ""))
        for keyword in _KNOWN_HOSTS:
            paths = settings.get(keyword, "none")
            for path in _paths(paths):
                yield self._content(path)

    def _seen_by(self, command: str) -> Iterator[str]:
        """Yield what can change the meaning of a ProxyCommand: directory and environment."""
        if command == "none":
            return

        try:
            yield os.getcwd()
        except FileNotFoundError:
            yield ""  # somebody has removed the directory

        # The program may read any variable.
        for name, value in sorted(self._environ.items()):
            if name not in _OF_A_RUN:
                yield f"{name}={value}"

    def _addresses(self, name: str) -> bytes:
        """Return the addresses of a name, which may be those of another machine tomorrow."""
        if name not in self._of_names:
            found: set[str] = set()
            with contextlib.suppress(OSError, UnicodeError):  # ssh will report it
                for *_, place in socket.getaddrinfo(
                    name, None, type=socket.SOCK_STREAM
                ):
                    found.add(str(place[0]))
            self._of_names[name] = ",".join(sorted(found)).encode()
        return self._of_names[name]

    def _content(self, path: str) -> bytes:
        """Return a digest of a file, or b"" if neither this process nor ssh can read it."""
        if path in self._of_files:
            return self._of_files[path]

        digest = b""
        try:
            with open(path, "rb") as opened:
                digest = hashlib.blake2b(opened.read()).digest()
        except OSError:
            pass  # a file that is made later changes the name, as it should

        self._of_files[path] = digest
        return digest


def _random_name() -> str:
    return os.urandom(_NAME_BYTES).hex()


def _add(digest: hashlib.blake2b, part: bytes) -> None:
    """Add a part with its length, so that no two lists of parts give the same bytes."""
    length = len(part).to_bytes(8, "big")
    digest.update(length + part)


def _paths(value: str) -> Iterator[str]:
    """Yield the files in a value; ssh prints paths as they are, and one may contain spaces."""
    words = value.split(" ")
    for start in range(len(words)):
        path = ""
        for word in words[start:]:
            path += word
            yield path
            path += " "

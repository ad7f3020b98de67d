"""Values of secrets, taken out of what a command prints before anything is done with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from host import is_secret

MASK = b"********"
_SHORTEST = 6  # characters; hiding shorter values wherever they stand would hide too much
_ADDRESS = re.compile(r"://[^/\s:@]*:([^/\s@]+)@")  # the password of a URL


def secrets_of(*environments: Mapping[str, str]) -> set[str]:
    """Return the values that are not shown: of variables named so, and passwords of URLs.

    A value of several lines is told line by line, too, as programs print it.
    """
    found: set[str] = set()
    for environ in environments:
        for name, value in environ.items():
            if is_secret(name):
                found.update([value, value.strip(), *value.splitlines()])
            found.update(_ADDRESS.findall(value))
    return {one for one in found if len(one) >= _SHORTEST}


class Mask:
    """Replaces secrets in a stream that comes in any pieces."""

    def __init__(self, secrets: Iterable[str]) -> None:
        raw = {one.encode("utf-8", "surrogateescape") for one in secrets}
        self._secrets = sorted(raw, key=len, reverse=True)
        self._pattern = re.compile(b"|".join(map(re.escape, self._secrets)) or b"(?!)")
        self._rest = b""

    def feed(self, data: bytes) -> bytes:
        """Return what is surely whole; what may be the beginning of a secret is held back."""
        data = self._rest + data
        return self._taken(data, len(data) - self._begun(data))

    def end(self) -> bytes:
        return self._taken(self._rest, len(self._rest))

    def _begun(self, data: bytes) -> int:
        """Return how many bytes at the end are the beginning of a secret."""
        most = 0
        for secret in self._secrets:
            start = data.find(secret[:1], max(len(data) - len(secret) + 1, 0))
            while start >= 0 and not secret.startswith(data[start:]):
                start = data.find(secret[:1], start + 1)
            most = max(most, len(data) - start if start >= 0 else 0)
        return most

    def _taken(self, data: bytes, sure: int) -> bytes:
        """Return `data` up to `sure`, or the end of a secret that begins before it, masked."""
        parts = []
        position = 0
        for found in self._pattern.finditer(data):
            if found.start() >= sure:
                break
            parts += [data[position : found.start()], MASK]
            position = found.end()
        end = max(position, sure)
        self._rest = data[end:]
        return b"".join([*parts, data[position:end]])

"""Mask the values of secrets in a command's output before the output is used."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from host import Variable, is_hidden_everywhere, masked

MASK = "********"
# minimum characters; shorter lines of a secret would match too many texts
_SHORTEST_LINE = 6


def secrets_of(
    variables: Mapping[str, Variable], declared: Collection[str] = ()
) -> set[str]:
    """Return the texts that `host.masked` hides in variables' values and in overridden values.

    `declared` holds the names of variables that the command's definition marks as secret. The lines
    of a multi-line value are also returned one by one, because a program may print only one.
    """
    secrets: set[str] = set()
    for name, variable in variables.items():
        shown = masked({name: variable}, {}, declared)[name]
        originals = [variable, *variable.shadows]
        for original, rest in zip(originals, [shown, *shown.shadows], strict=True):
            if rest.value == MASK:
                secrets |= _forms(original.value)
            elif rest.value != original.value:
                secrets |= _parts(original.value, rest.value)
    return set(filter(is_hidden_everywhere, secrets))


def _forms(value: str) -> set[str]:
    """Return the texts in which a program may print a secret value."""
    lines = [line for line in value.splitlines() if len(line) >= _SHORTEST_LINE]
    in_json = [
        _in_json(value),
        _in_json(value.strip()),
        _in_json(value, ensure_ascii=False),
    ]
    return {value, value.strip(), *lines, *in_json}


def _parts(value: str, shown: str) -> set[str]:
    """Return the secret parts of a value, such as the password of a URL; `shown` is its mask."""
    words = value.split()
    shown_words = shown.split()
    if len(words) != len(shown_words):  # the password contains whitespace
        words = [value]
        shown_words = [shown]
    parts: set[str] = set()
    for word, shown_word in zip(words, shown_words, strict=True):
        parts.update(_taken(word, shown_word))
    return parts


def _in_json(value: str, *, ensure_ascii: bool = True) -> str:
    """Return a value as a program writes it into a JSON string, without the quotes."""
    return json.dumps(value, ensure_ascii=ensure_ascii)[1:-1]


def _taken(word: str, shown: str) -> Iterator[str]:
    """Yield the parts of `word` that `host.masked` hid; `shown` is its result for `word`.

    From a hidden `user:password`, only the password is yielded. A hidden user name without a
    password is yielded as `//user@`, because the bare name may also occur in other texts.
    """
    kept = shown.split("…")
    match = re.fullmatch("(.*?)".join(map(re.escape, kept)), word)
    if match is None:  # `masked` replaces an ssh password with nothing, not with `…`
        yield from {*re.split("[:@]", word)} - {*re.split("[:@]", shown)}
        return
    for gap, behind in zip(match.groups(), kept[1:], strict=True):
        user, colon, password = gap.partition(":")
        if not behind.startswith("@"):
            yield gap
        elif colon:
            yield password
        else:
            yield f"//{user}@"


class Mask:
    """Masks secrets in a stream, even if a secret arrives in several pieces."""

    def __init__(self, secrets: Iterable[str]) -> None:
        raw = {secret.encode("utf-8", "surrogateescape") for secret in secrets}
        self._secrets = sorted(raw, key=len, reverse=True)
        self._pattern = re.compile(b"|".join(map(re.escape, self._secrets)) or b"(?!)")
        self._rest = b""

    def feed(self, data: bytes) -> bytes:
        """Return masked data; buffer the last bytes if they may be the start of a secret."""
        data = self._rest + data
        return self._taken(data, len(data) - self._begun(data))

    def end(self) -> bytes:
        return self._taken(self._rest, len(self._rest))

    def _begun(self, data: bytes) -> int:
        """Return how many of the last bytes may be the start of a secret."""
        most = 0
        for secret in self._secrets:
            start = data.find(secret[:1], max(len(data) - len(secret) + 1, 0))
            while start >= 0 and not secret.startswith(data[start:]):
                start = data.find(secret[:1], start + 1)
            most = max(most, len(data) - start if start >= 0 else 0)
        return most

    def _taken(self, data: bytes, sure: int) -> bytes:
        """Mask `data` up to index `sure` or the end of a secret that spans it; buffer the rest."""
        parts = []
        position = 0
        for match in self._pattern.finditer(data):
            if match.start() >= sure:
                break
            parts += [data[position : match.start()], MASK.encode()]
            position = match.end()
        end = max(position, sure)
        self._rest = data[end:]
        return b"".join([*parts, data[position:end]])

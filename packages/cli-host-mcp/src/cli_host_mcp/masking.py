"""Mask the values of secrets in what a client sees: a command's output, and texts about calls."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from host import Definition, Variable, declared_secrets, hidden_texts, masked

MASK = "********"


def secrets_of(
    variables: Mapping[str, Variable], declared: Collection[str] = ()
) -> set[str]:
    """Return the texts that `host.masked` hides in variables' values and in overridden values.

    `declared` holds the names of variables that the command's definition marks as secret.
    """
    secrets: set[str] = set()
    for name, variable in variables.items():
        shown = masked({name: variable}, {}, declared)[name]
        originals = [variable, *variable.shadows]
        hidden_variables = [shown, *shown.shadows]
        for original, hidden in zip(originals, hidden_variables, strict=True):
            if hidden.value == MASK:
                secrets.add(original.value)
            elif hidden.value != original.value:
                secrets |= _parts(original.value, hidden.value)
    return set(hidden_texts(secrets))


def variables_of(environ: Mapping[str, str]) -> dict[str, Variable]:
    """Return the variables of an environment, without facts about their sources."""
    return {name: Variable(name, value, "", 1) for name, value in environ.items()}


def without_secrets(
    texts: Iterable[str], definition: Definition, environ: Mapping[str, str]
) -> list[str]:
    """Return texts about a call of a command, with the secrets of `environ` masked.

    The call may have values of variables that the client does not know: see `words_of`.
    """
    variables = variables_of(environ)
    secrets = secrets_of(variables, declared_secrets(definition, variables))
    hidden = sorted(secrets, key=len, reverse=True)
    shown = []
    for text in texts:
        line = text
        for secret in hidden:
            line = line.replace(secret, MASK)
        shown.append(line)
    return shown


def _parts(value: str, shown: str) -> set[str]:
    """Return the secret parts of a value, such as the password of a URL; `shown` is its mask."""
    words = value.split()
    shown_words = shown.split()
    if len(words) != len(shown_words):  # the password contains whitespace
        words = [value]
        shown_words = [shown]

    parts: set[str] = set()
    for word, shown_word in zip(words, shown_words, strict=True):
        parts.update(_hidden_parts(word, shown_word))
    return parts


def _hidden_parts(word: str, shown: str) -> Iterator[str]:
    """Yield the parts of `word` that `host.masked` hid; `shown` is its result for `word`.

    From a hidden `user:password`, only the password is yielded. A hidden user name without a
    password is yielded as `//user@`, because the bare name may also occur in other texts.
    """
    visible = shown.split("…")
    pattern = "(.*?)".join(map(re.escape, visible))
    match = re.fullmatch(pattern, word)
    if match is None:  # `masked` replaces an ssh password with nothing, not with `…`
        parts = re.split("[:@]", word)
        shown_parts = re.split("[:@]", shown)
        yield from set(parts) - set(shown_parts)
        return

    for gap, behind in zip(match.groups(), visible[1:], strict=True):
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
        encoded = {secret.encode("utf-8", "surrogateescape") for secret in secrets}
        # The longest first: a secret may contain another one.
        self._secrets = sorted(encoded, key=len, reverse=True)
        pattern = b"|".join(map(re.escape, self._secrets))
        if not pattern:
            pattern = b"(?!)"  # which matches nothing
        self._pattern = re.compile(pattern)
        self._rest = b""

    def feed(self, data: bytes) -> bytes:
        """Return masked data; buffer the last bytes if they may be the start of a secret."""
        data = self._rest + data
        return self._taken(data, len(data) - self._begun(data))

    def end(self) -> bytes:
        """Return what is buffered, masked: nothing follows it."""
        return self._taken(self._rest, len(self._rest))

    def _begun(self, data: bytes) -> int:
        """Return how many of the last bytes may be the start of a secret."""
        most = 0
        for secret in self._secrets:
            # A whole secret is no start of one, so it cannot begin earlier than this.
            earliest = max(len(data) - len(secret) + 1, 0)
            start = data.find(secret[:1], earliest)
            while start >= 0 and not secret.startswith(data[start:]):
                start = data.find(secret[:1], start + 1)
            if start >= 0:
                most = max(most, len(data) - start)
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

"""What is secret in the values and texts that people are shown."""

from __future__ import annotations

import re

from host.secret_names import is_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from host.records import Variable
    from host.run.layers import Assignment

SECRET_NAME = re.compile(r"token|key|secret|passw|sig|auth|credential", re.IGNORECASE)
_WORD = re.compile(r"\S+")
_SITE = re.compile(r"(?:^|:/+|//+)(?P<site>(?:(?!:/)[^/?#])*)")
_PARAMETER = re.compile(r"""(?P<name>[?&;#][^\s=?&;#'"]*)=(?P<value>[^\s&;#'"]*)""")

_MASK = "********"
_SHORTEST_SECRET = 6  # characters; hiding a shorter one wherever it stands would hide too much


class Mask:
    """Hides the values of secrets, also inside others, and credentials of addresses."""

    def __init__(self, every: Iterable[Assignment | Variable]) -> None:
        values = {one.value for one in every if is_secret(one.name)}
        long = [value for value in values if len(value) >= _SHORTEST_SECRET]
        self._hidden = sorted(long, key=len, reverse=True)

    def of(self, name: str, value: str) -> str:
        """Return a value as it is shown."""
        if value and is_secret(name):
            return _MASK
        for secret in self._hidden:
            value = value.replace(secret, _MASK)
        return masked(value)


def masked(text: str) -> str:
    """Return `text` with the credentials of all in it that looks like an address as `…`.

    Those are user and password, where ssh's user is no secret, and secret-looking
    values of a query; also of what is too broken to be an address. Takes linear time.
    """
    return _PARAMETER.sub(_without_value, _WORD.sub(_without_users, text))


def _without_value(found: re.Match[str]) -> str:
    return f"{found['name']}=…" if SECRET_NAME.search(found["name"]) else found[0]


def _without_users(found: re.Match[str]) -> str:
    """Mask what stands before a host in one word: up to the last @ before the path.

    Where what looks like a host has a port that is none, it is the beginning of a
    password with a slash in it, which ends at the word's last @.
    """
    word = found[0]
    last = word.rfind("@")
    kept, at = [], 0
    for part in _SITE.finditer(word, 0, last + 1):
        site, start = part["site"], part.start("site")
        if start < at:
            continue
        both, mark, _ = site.rpartition("@")
        user, colon, rest = (both or site).partition(":")
        if mark and (start or colon):  # else a mail address, or ssh's short form
            kept += [word[at:start], user if word.endswith("ssh://", 0, start) else "…"]
            at = start + len(both)
        elif not mark and start and rest and not rest.isdecimal() and "[" not in user:
            kept += [word[at:start], "…"]
            at = last
    return "".join([*kept, word[at:]])

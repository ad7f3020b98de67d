"""What is secret, told by the names of variables, and how values and texts are shown without it."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Mapping

    from host.records import Variable

_SITE = r"(?:^|:/+|//+)(?P<site>(?:(?!:/)[^/?#])*)"
_TELLING_NAME = r"(?i)token|key|secret|passw|sig|auth|credential"
_PARAMETER = r"""(?P<name>[?&;#][^\s=?&;#'"]*)=(?P<value>[^\s&;#'"]*)"""

# Words that say of a name that its value is a secret; the last ones also at the end of a
# word (PGPASS, APIKEY).
_SECRET = frozenset(
    [
        *("AUTH", "BEARER", "COOKIE", "COOKIES", "CREDENTIAL", "CREDENTIALS", "CREDS"),
        *("KEY", "KEYS", "PAT", "PRIVATE", "PW", "PWD"),
    ]
)
_SECRET_ENDS = (
    *("APIKEY", "APIKEYS", "PASS", "PASSWD", "PASSWORD", "PASSWORDS", "PASSPHRASE"),
    *("SECRET", "SECRETS", "TOKEN", "TOKENS"),
)
_NO_SECRET = frozenset(["PWD", "OLDPWD"])
_NO_SECRET_WORDS = frozenset(["BYPASS", "COMPASS"])

_MASK = "********"
_SHORTEST_SECRET = 6  # characters; hiding a shorter one wherever it stands would hide too much


def is_secret(name: str) -> bool:
    """Tell whether a variable of this name holds a secret, by the words between its `_`.

    A secret can stand in other values, too: for variables that people are shown there is
    `masked`, which hides those as well.
    """
    if name.upper() in _NO_SECRET:
        return False
    words = set(name.upper().split("_")) - _NO_SECRET_WORDS
    return any(word in _SECRET or word.endswith(_SECRET_ENDS) for word in words)


def masked(
    variables: Mapping[str, Variable], caller: Mapping[str, str] | None = None
) -> dict[str, Variable]:
    """Return the variables as people may see them: as `self env` shows them.

    The value of a name that `is_secret` is `********`, also where another value or one that is
    shadowed contains it; the credentials of an address are `…`. `caller` has what only the
    caller sets, whose secrets count as well, by default this process's environment::

        found = Program.current().environment(("deploy", "status"))
        for name, one in masked(found).items():
            print(f"{name}={printable(one.value)}  from {printable(one.source)}")
    """
    system = os.environ if caller is None else caller
    every = [one for winner in variables.values() for one in (winner, *winner.shadows)]
    values = {one.value for one in every if is_secret(one.name)}
    values |= {value for name, value in system.items() if is_secret(name)}
    secrets = [value for value in values if len(value) >= _SHORTEST_SECRET]
    secrets.sort(key=len, reverse=True)

    def shown(one: Variable) -> Variable:
        weaker = tuple(map(shown, one.shadows))
        return one.replaced(value=_masked_value(one.name, one.value, secrets), shadows=weaker)

    return {name: shown(one) for name, one in variables.items()}


def _masked_value(name: str, value: str, secrets: Iterable[str]) -> str:
    """Return a value as it is shown: without `secrets`, the longest first."""
    if value and is_secret(name):
        return _MASK
    for secret in secrets:
        value = value.replace(secret, _MASK)
    return masked_text(value)


def masked_text(text: str) -> str:
    """Return `text` with the credentials of all in it that looks like an address as `…`.

    Those are user and password, where ssh's user is no secret, and secret-looking
    values of a query; also of what is too broken to be an address. Takes linear time.
    """
    if "@" not in text and "=" not in text:  # then nothing in it is a credential
        return text
    import re

    return re.sub(_PARAMETER, _without_value, re.sub(r"\S+", _without_users, text))


def _without_value(found: re.Match[str]) -> str:
    """Mask the value of a parameter whose name looks like a secret's."""
    import re

    return f"{found['name']}=…" if re.search(_TELLING_NAME, found["name"]) else found[0]


def _without_users(found: re.Match[str]) -> str:
    """Mask what stands before a host in one word: up to the last @ before the path.

    Where what looks like a host has a port that is none, it is the beginning of a
    password with a slash in it, which ends at the word's last @.
    """
    import re

    word = found[0]
    last = word.rfind("@")
    kept, at = [], 0
    for part in re.compile(_SITE).finditer(word, 0, last + 1):
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

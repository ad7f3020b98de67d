"""Which variables are secret, by their names, and how values and texts are shown without them."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Collection, Iterable, Mapping

    from host.records import Variable
    from host.run.command import Definition

_TELLING_NAME = r"(?i)token|key|secret|passw|sig|auth|credential"
_PARAMETER = r"""(?P<name>[?&;#][^\s=?&;#'"]*)=(?P<value>[^\s&;#'"]*)"""

# What stands before the @ of an address: behind `//`, or a word with a colon.
_LOGIN = r"(?:(?<=[:/]/)(?!/)[^/?#\s]*|(?<!\S)[^\s/?#:]*:[^\s/?#]*)(?=@)"
# A host with a port that is none is the beginning of a password with a slash or a blank in it.
_BROKEN_LOGIN = r"(?<=[:/]/)[^\s/?#:@\[]+:(?!\d*[/?#]).*?(?:@[^\s/?#]*)?(?=@)"

# What a word of a secret's name ends with.
_SECRET_ENDS = (
    *("AUTH", "AUTHORIZATION", "BEARER", "COOKIE", "COOKIES", "CREDENTIAL", "CREDENTIALS", "CREDS"),
    *("JWT", "KEY", "KEYS", "PASS", "PASSPHRASE", "PASSWD", "PASSWORD", "PASSWORDS", "PAT"),
    *("PRIVATE", "PW", "PWD", "SECRET", "SECRETS", "TOKEN", "TOKENS"),
)
_NO_SECRET = frozenset(["PWD", "OLDPWD"])
_NO_SECRET_WORDS = frozenset(["BYPASS", "COMPASS", "COMPAT", "MONKEY"])
_DIGITS = "0123456789"

_MASK = "********"
_SHORT = 3  # characters; a shorter secret is hidden in other values only where it stands alone
_SWITCHES = frozenset(["0", "1", "false", "no", "none", "null", "off", "on", "true", "yes"])


def is_secret(name: str) -> bool:
    """Return whether a variable of this name holds a secret, by the words between its `_`.

    The digits at the end of a word do not count. A secret can be in other values, too: use
    `masked` for variables that people are shown.
    """
    if name.upper() in _NO_SECRET:
        return False
    words = {word.rstrip(_DIGITS) for word in name.upper().split("_")} - _NO_SECRET_WORDS
    return any(word.endswith(_SECRET_ENDS) for word in words)


def is_hidden_everywhere(value: str) -> bool:
    """Return whether the value of a secret is hidden wherever a text contains it.

    A value of one or two characters is not, as too many texts contain it; nor is `true`, `off`
    or another switch::

        hidden = [one for one in secrets if is_hidden_everywhere(one)]
    """
    return len(value) >= _SHORT and value.lower() not in _SWITCHES


def declared_secrets(definition: Definition, names: Iterable[str]) -> set[str]:
    """Return which of the variables `names` the definition of a command declares as secret.

    These are its `secrets`, and the names in `required_envs` and variables of arguments with
    `"secret": true`::

        found = program.environment(command.words)
        shown = masked(found, secrets=declared_secrets(command.definition, found))
    """
    secret = {str(one) for one in definition.required_envs if one.secret} | {*definition.secrets}
    arguments = [one for one in definition.args if one.secret]
    secret.update(one.env for one in arguments)
    return {name for name in names if name in secret or any(one.owns(name) for one in arguments)}


def masked(
    variables: Mapping[str, Variable],
    caller: Mapping[str, str] | None = None,
    secrets: Collection[str] = (),
) -> dict[str, Variable]:
    """Return the variables as people may see them: as `self env` shows them.

    A value is shown as `********` if `is_secret` accepts its name, or if `secrets`
    (`declared_secrets`) has it. The same holds inside other values and shadowed ones. The
    credentials of an address are `…`. `caller` has the variables that only the caller sets,
    whose secrets are masked, too; by default it is this process's environment::

        found = Program.current().environment(("deploy", "status"))
        for name, one in masked(found).items():
            print(f"{name}={printable(one.value)}  from {printable(one.source)}")
    """
    system = os.environ if caller is None else caller
    every = [one for winner in variables.values() for one in (winner, *winner.shadows)]
    values = {one.value for one in every if one.name in secrets or is_secret(one.name)}
    values |= {value for name, value in system.items() if is_secret(name)}
    pattern = _pattern(values)

    def shown(one: Variable) -> Variable:
        weaker = tuple(map(shown, one.shadows))
        if one.value and (one.name in secrets or is_secret(one.name)):
            return one.replaced(value=_MASK, shadows=weaker)
        value = masked_text(pattern.sub(_MASK, one.value))
        return one.replaced(value=value, shadows=weaker)

    return {name: shown(one) for name, one in variables.items()}


def _pattern(secrets: Iterable[str]) -> re.Pattern[str]:
    """Return what finds secrets in other values, the longest first."""
    import re

    parts = []
    for secret in sorted(secrets, key=len, reverse=True):
        if is_hidden_everywhere(secret):
            parts.append(re.escape(secret))
        elif secret and secret.lower() not in _SWITCHES:
            parts.append(rf"(?<!\w){re.escape(secret)}(?!\w)")
    return re.compile("|".join(parts) or "(?!)")


def masked_text(text: str) -> str:
    """Return `text` with the credentials of all in it that looks like an address as `…`.

    Those are user and password, where ssh's user is no secret, and secret-looking
    values of a query; also of what is too broken to be an address. A password may contain
    blanks. Takes linear time.
    """
    if "@" not in text and "=" not in text:  # then nothing in it is a credential
        return text
    import re  # costs a listing 10 ms

    def without_login(found: re.Match[str]) -> str:
        is_ssh = found.string.endswith("ssh://", 0, found.start())
        return found[0].partition(":")[0] if is_ssh else "…"

    def without_value(found: re.Match[str]) -> str:
        return f"{found['name']}=…" if re.search(_TELLING_NAME, found["name"]) else found[0]

    shown = ""
    for line in text.splitlines(keepends=True):
        before, at, behind = line.rpartition("@")  # each attempt finds an @, so time is linear
        shown += re.sub(f"{_LOGIN}|{_BROKEN_LOGIN}", without_login, before + at) + behind
    return re.sub(_PARAMETER, without_value, shown)

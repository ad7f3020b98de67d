"""Which variables hold secrets, told by their names."""

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


def is_secret(name: str) -> bool:
    """Tell whether a variable of this name holds a secret, by the words between its `_`.

    A secret can stand in other values, too: for variables that people are shown there is
    `masked`, which hides those as well.
    """
    if name.upper() in _NO_SECRET:
        return False
    words = set(name.upper().split("_")) - _NO_SECRET_WORDS
    return any(word in _SECRET or word.endswith(_SECRET_ENDS) for word in words)

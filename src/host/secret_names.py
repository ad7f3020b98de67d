"""Decide from their names which variables are secret."""

# A variable is secret if a word in its name has one of these endings.
_SECRET_ENDS = (
    "AUTH",
    "AUTHORIZATION",
    "BEARER",
    "COOKIE",
    "COOKIES",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "JWT",
    "KEY",
    "KEYS",
    "PASS",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PASSWORDS",
    "PAT",
    "PRIVATE",
    "PW",
    "PWD",
    "SECRET",
    "SECRETS",
    "TOKEN",
    "TOKENS",
)
_NO_SECRET = frozenset(["PWD", "OLDPWD"])
_NO_SECRET_WORDS = frozenset(["BYPASS", "COMPASS", "COMPAT", "MONKEY"])
_DIGITS = "0123456789"


def is_secret(name: str) -> bool:
    """Return whether a variable's name suggests that its value is secret.

    The name is split at underscores, and each word is checked without the digits at its end. Values
    of other variables can contain secrets, too, so use `masked` before you show variables.
    """
    name = name.upper()
    if name in _NO_SECRET:
        return False

    for numbered_word in name.split("_"):
        word = numbered_word.rstrip(_DIGITS)  # TOKEN2 is as secret as TOKEN
        if word not in _NO_SECRET_WORDS and word.endswith(_SECRET_ENDS):
            return True
    return False

"""User and password of an address, handed to git where no process list shows them.

git hands an address on to its children as an argument, and everybody on a machine can
read those. So git gets the address without them, and asks this credential helper.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import unquote

from builtin_plugins.fetch.addresses import parse
from host import UsageError

# Run by git with `get`, `store` or `erase`; printf is a builtin, so no process gets its words.
_HELPER = (
    '!login() { test "$1" = get && '
    'printf "username=%s\\npassword=%s\\n" "$CLI_GIT_USER" "$CLI_GIT_PASSWORD"; }; login'
)


class Login(NamedTuple):
    """A user and a password for one site (scheme, host, port)."""

    site: str
    user: str
    password: str

    @property
    def secret(self) -> str:
        """Return what must never be shown; a token may stand where the user does."""
        return self.password or self.user

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Return git's configuration: no helper but ours is asked, or told to store anything."""
        name = f"credential.{self.site}.helper"
        return (name, ""), (name, _HELPER)

    @property
    def variables(self) -> dict[str, str]:
        return {"CLI_GIT_USER": self.user, "CLI_GIT_PASSWORD": self.password}


def login_of(address: str) -> Login | None:
    """Return the login in an https address, the only kind in which git takes one."""
    found = parse(address)
    if found is None or not found.user or found.scheme != "https":
        return None
    login = Login(found.site, unquote(found.user), unquote(found.password))
    if not f"{login.user}{login.password}".isprintable():
        raise UsageError(f"{found.site}: the user or password for it holds control characters")
    return login

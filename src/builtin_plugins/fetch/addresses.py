"""Which addresses may be fetched, and how an address is shown."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, parse_qsl, urljoin, urlsplit, urlunsplit

from host.errors import OperationError, UsageError
from host.run.text import printable

SECRET_NAME = re.compile(r"token|key|secret|passw|sig|auth|credential", re.IGNORECASE)
# What stands before the host: up to the last @ before the path, or, where that would
# be no port, beyond the slashes that a password holds. Without `//` a colon tells it.
_USERINFO = re.compile(
    r"""(?P<scheme>(?<![\w+.-])[\w+.-]*:/+|//)
    (?P<user>[^\s/?#'"]*|[^\s/?#@:\[]+:(?!\d*(?:[\s/?#'"]|$))\S*)@
    |(?<![\w.@:/-])[\w.@-]+:[^\s/@]+@(?=[\w\[])""",
    re.VERBOSE,
)
_PARAMETER = re.compile(r"""(?P<name>[?&;#][^\s=&;#'"]*)=(?P<value>[^\s&;#'"]*)""")


def masked(text: str) -> str:
    """Return `text` with the credentials of all in it that looks like an address as `…`.

    Those are user and password, where ssh's user is no secret, and secret-looking
    values of a query; also of what is too broken to be an address.
    """
    return _PARAMETER.sub(_without_value, _USERINFO.sub(_without_user, text))


def _without_user(found: re.Match[str]) -> str:
    scheme = found["scheme"] or ""
    user = found["user"].partition(":")[0] if scheme.startswith(("ssh:", "git+ssh:")) else "…"
    return f"{scheme}{user}@"


def _without_value(found: re.Match[str]) -> str:
    return f"{found['name']}=…" if SECRET_NAME.search(found["name"]) else found[0]


def check_address(address: str) -> None:
    """Raise OperationError unless `address` is https, or http on this machine (loopback)."""
    parts = _split(address)
    if parts.scheme == "https":
        return
    if parts.scheme == "http" and is_loopback(address):
        return
    if parts.scheme == "http":
        raise OperationError(f"{shown(address)}: only https is fetched (http from this machine)")
    raise OperationError(f"{shown(address)}: not an https address")


def is_loopback(address: str) -> bool:
    """Tell whether the host of `address` is `localhost` or a loopback number."""
    host = _split(address).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def follow(address: str, location: str) -> str:
    """Return where a redirect from `address` to `location` leads.

    Raises OperationError when that may not be fetched, or steps down from https.
    """
    try:
        target = urljoin(address, location)
    except ValueError:
        raise OperationError(f"{shown(address)}: redirects to no address") from None
    try:
        check_address(target)
    except OperationError as refusal:
        raise OperationError(f"{shown(address)}: redirects to {refusal}") from None
    if _split(address).scheme == "https" and _split(target).scheme != "https":
        raise OperationError(f"{shown(address)}: redirects from https to {shown(target)}")
    return target


def shown(address: str) -> str:
    """Return `address` fit to print: no user, password, query or fragment; one line.

    What is no address is shown as far as its query.
    """
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        host = port = ""
    if not host:
        return printable(masked(re.split("[?#]", address)[0])) or "the address"
    host = f"[{host}]" if ":" in host else host
    return printable(f"{parts.scheme}://{host}{port}{parts.path}")


def _split(address: str) -> SplitResult:
    """Split `address`; raises OperationError where it has no host or holds odd characters."""
    if not address or any(
        ord(character) <= 0x20 or ord(character) == 0x7F for character in address
    ):
        raise OperationError("the address is empty or holds blanks or control characters")
    try:
        parts = urlsplit(address)
        if parts.hostname and (parts.port is None or parts.port > 0):
            return parts
    except ValueError:
        pass
    raise OperationError(f"{shown(address)}: not an https address")


def without_credentials(address: str) -> str:
    """Return an address without password, token and secret-looking query.

    The user of an ssh address is no secret and stays.
    """
    try:
        parts = urlsplit(address)
        host = parts.netloc.rpartition("@")[2]
        user = parts.netloc.rpartition("@")[0].partition(":")[0]
        _ = parts.port  # raises for a password with a slash, which is taken for a port
    except ValueError:
        raise UsageError(f"{masked(address)}: not an address") from None
    if parts.scheme in ("ssh", "git+ssh") and user:
        host = f"{user}@{host}"
    secret = any(SECRET_NAME.search(name) for name, _ in parse_qsl(parts.query, True))
    return urlunsplit((parts.scheme, host, parts.path, "" if secret else parts.query, ""))

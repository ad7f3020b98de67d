"""Which addresses may be fetched, and how an address is shown."""

import ipaddress
from urllib.parse import SplitResult, urljoin, urlsplit

from host.errors import OperationError
from host.escape import printable


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
    check_address(target)
    if _split(address).scheme == "https" and _split(target).scheme != "https":
        raise OperationError(f"{shown(address)}: redirects from https to {shown(target)}")
    return target


def shown(address: str) -> str:
    """Return `address` fit to print: no user, password, query or fragment; one line."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "the address"
    host = f"[{host}]" if ":" in host else host
    return printable(f"{parts.scheme}://{host}{port}{parts.path}" if host else "the address")


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

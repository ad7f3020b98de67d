"""Check which addresses may be fetched, and make addresses safe to print.

One strict parser reads an address, and only the parts that it returns are used. So a library or git
cannot interpret the address differently.
"""

import re
from typing import NamedTuple
from urllib.parse import unquote, urljoin

from host import OperationError, UsageError, masked_text

# RFC 3986 without the parts that parsers treat differently: no backslash, blank or control
# character, one @, and only plain characters in the host.
_ODD = re.compile(r"[\s\\\x00-\x20\x7f-\xa0]")
_ADDRESS = re.compile(
    r"""(?P<scheme>[a-z][a-z0-9+.-]*)://
    (?:(?P<user>[\w.~!$&'()*+,;=%-]+)(?::(?P<password>[\w.~!$&'()*+,;=%:-]*))?@)?
    (?P<host>[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])
    (?::(?P<port>[0-9]{1,5}))?
    (?P<path>/[^?#]*)?(?P<query>\?[^#]*)?(?:\#.*)?""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_LOOPBACK = re.compile(r"(localhost|127(\.[0-9]{1,3}){3}|\[::1\])(:[0-9]+)?")


class Address(NamedTuple):
    """The parts of an address; `host` includes the port, and `path` includes the query."""

    scheme: str
    user: str
    password: str
    host: str
    path: str

    @property
    def site(self) -> str:
        """The scheme, host and port: `https://example.org:8443`."""
        return f"{self.scheme}://{self.host}"

    @property
    def url(self) -> str:
        """The address without user and password."""
        return self.site + self.path


def parse(text: str) -> Address | None:
    """Return the parts of an address that has a host, or None for anything else."""
    if _ODD.search(text):
        return None
    match = _ADDRESS.fullmatch(text)
    if match is None:
        return None

    host = match["host"].lower()
    if match["port"]:
        port = int(match["port"])
        if not 0 < port < 1 << 16:
            return None
        host += f":{port}"

    parts = match.groupdict(default="")
    return Address(
        parts["scheme"].lower(),
        parts["user"],
        parts["password"],
        host,
        parts["path"] + parts["query"],
    )


def fetchable(text: str) -> Address:
    """Return the parts of an https address, or of an http address on this machine.

    Raises OperationError for any other text.
    """
    address = parse(text)
    shown = bare_address(text)
    if address is None or address.scheme not in ("https", "http"):
        raise OperationError(f"{shown}: not an https address")
    if address.scheme == "http" and not _LOOPBACK.fullmatch(address.host):
        raise OperationError(f"{shown}: use https; http is only for localhost")
    return address


def follow(address: str, location: str) -> str:
    """Return the absolute target of a redirect of `address` to `location`.

    Raises OperationError if the target may not be fetched, or if https redirects to http.
    """
    # `urljoin` drops some odd characters, which `fetchable` must see.
    if not _ODD.search(location):
        location = urljoin(address, location)

    try:
        target = fetchable(location)
    except OperationError as refusal:
        raise OperationError(f"redirects to {refusal}") from None

    if address.startswith("https:") and target.scheme != "https":
        raise OperationError(f"redirects from https to {bare_address(target.url)}")
    return target.url


def bare_address(text: str) -> str:
    """Return an address for messages: without user, password, query and fragment."""
    address = parse(text)
    if address is None:
        url = masked_text(text)
    else:
        url = address.url

    bare, *_ = re.split("[?#]", url, maxsplit=1)
    return bare or '""'


def without_credentials(text: str) -> str:
    """Return an address without password, token and fragment, and without a query that has secrets.

    The user of an ssh address is not secret and stays. Raises UsageError for an invalid address.
    """
    if text.startswith("file://"):
        return text
    address = parse(text)
    if address is None:
        raise UsageError(f"{masked_text(text)}: not a valid address")

    path, mark, query = address.path.partition("?")
    plain = unquote(f"{mark}{query}")
    if masked_text(plain) == plain:
        path = address.path

    user = ""
    if address.user and address.scheme.endswith("ssh"):
        user = f"{address.user}@"
    return f"{address.scheme}://{user}{address.host}{path}"

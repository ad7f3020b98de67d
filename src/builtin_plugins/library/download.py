"""Download one file over HTTP: completely and within limits, or not at all."""

import hashlib
import re
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import requests
import urllib3

from builtin_plugins.library.addresses import bare_address, fetchable, follow
from builtin_plugins.library.time_limit import time_limit
from host import OperationError

# Called with the bytes received, the total or None, and the reason for a new attempt or "".
Progress = Callable[[int, int | None, str], None]

_CHUNK = 1 << 17
_PAUSE_SECONDS = 0.5  # pause before the second attempt; it doubles with each attempt
_MOST_REDIRECTS = 10
_STALL_SECONDS = 30
_TEMPORARY = frozenset([408, 425, 429, 500, 502, 503, 504])
_SYSTEM_WORDS = re.compile(r"(?:Errno -?\d+\] |Error\(\d+, ')([A-Za-z ]+)")


class _TemporaryError(Exception):
    """An attempt failed, but another one may succeed."""


class _Session(requests.Session):
    """An HTTP session that checks redirect targets and does not read the bodies of redirects."""

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        location = super().get_redirect_target(resp)
        if not location:
            return None
        resp.close()
        return follow(resp.url, location)


def download(
    address: str,
    target: Path,
    *,
    seconds: float = 3600,
    attempts: int = 5,
    size: int = 4 << 30,
    sha256: str = "",
    progress: Progress = lambda *_: None,
) -> str:
    """Fetch `address` into the file `target`; return its SHA-256 in hex.

    The download may take at most `seconds` in total, and the file may have at most `size` bytes.
    `sha256` is the expected checksum. If it is "", the content is not checked, but the response
    must be chunked or have a Content-Length.
    A failed attempt restarts from the beginning. Proxies, CA bundles, logins and .netrc work as in
    `requests`. After an OperationError, `target` does not exist.
    """
    fetchable(address)
    called = bare_address(address)
    late = OperationError(f"the download was not finished within {seconds:g} seconds")

    try:
        with time_limit(seconds, late), _Session() as session:
            session.max_redirects = _MOST_REDIRECTS
            attempt = partial(
                _attempt, session, address, target, size, sha256, progress
            )
            return _repeated(attempt, attempts, progress)
    except BaseException as failure:
        target.unlink(missing_ok=True)
        if isinstance(failure, OperationError):
            raise OperationError(f"{called}: {failure}") from None
        if isinstance(failure, OSError):
            reason = f"{target}: {failure.strerror}"
            raise OperationError(f"{called}: {reason}") from None
        raise


def _repeated(attempt: Callable[[], str], attempts: int, progress: Progress) -> str:
    for number in range(1, attempts + 1):
        try:
            return attempt()
        except _TemporaryError as failure:
            reason = str(failure)

        if number < attempts:
            pause = _PAUSE_SECONDS * 2 ** (number - 1)
            again = f"trying again in {pause:g} s (attempt {number + 1} of {attempts})"
            progress(0, None, f"{reason}; {again}")
            time.sleep(pause)
    raise OperationError(f"{reason} (tried {attempts} times)")


def _attempt(
    session: requests.Session,
    address: str,
    target: Path,
    size: int,
    sha256: str,
    progress: Progress,
) -> str:
    """Fetch `address` into the file `target` once; return its SHA-256.

    Raises OperationError, or _TemporaryError if another attempt may succeed.
    """
    received = 0
    checksum = hashlib.sha256()
    with _respond(session, address) as response, target.open("wb") as file:
        total: int | None = response.raw.length_remaining
        # Without a length, only a checksum shows that the end is missing.
        is_end_known = total is not None or response.raw.chunked or sha256
        if not is_end_known:
            raise OperationError("the server reports no Content-Length")

        try:
            for chunk in response.raw.stream(_CHUNK, decode_content=False):
                received += len(chunk)
                if max(received, total or 0) > size:
                    raise OperationError(f"larger than {size} bytes")
                checksum.update(chunk)
                file.write(chunk)
                progress(received, total, "")
        except urllib3.exceptions.HTTPError as failure:
            reason = _cause(failure, "the download was incomplete")
            raise _TemporaryError(reason) from None

    if total is not None and received != total:
        reason = f"the connection closed after {received} of {total} bytes"
        raise _TemporaryError(reason)
    progress(received, total, "")

    digest = checksum.hexdigest()
    if sha256.lower() not in ("", digest):
        raise OperationError(f"the SHA-256 is {digest}, expected {sha256}")
    return digest


def _respond(session: requests.Session, address: str) -> requests.Response:
    """Request `address`, follow redirects, and return the response, whose status is 200.

    Raises the same errors as `_attempt`.
    """
    try:
        response = session.get(
            address,
            # Unpacked content would have another checksum and length.
            headers={"Accept-Encoding": "identity", "User-Agent": "cli-host"},
            stream=True,
            timeout=_STALL_SECONDS,
            proxies={"http": ""},  # http is only for this machine and needs no proxy
        )
    except requests.exceptions.SSLError:
        raise OperationError("the server's certificate was not accepted") from None
    except requests.TooManyRedirects:
        raise OperationError(f"redirected more than {_MOST_REDIRECTS} times") from None
    except (requests.RequestException, OSError, ValueError) as failure:
        raise _TemporaryError(_cause(failure, "the connection failed")) from None

    status = response.status_code
    if status in _TEMPORARY:
        raise _TemporaryError(f"the server answered {status}")
    if status != requests.codes.ok:
        raise OperationError(f"the server answered {status}, expected 200")
    return response


def _cause(failure: BaseException, otherwise: str) -> str:
    """Return the cause of a network failure, or `otherwise` if it is unknown.

    The text does not contain the address, which may contain secrets.
    """
    text = repr(failure)
    if re.search("timed ?out", text, re.IGNORECASE):
        return "the server did not answer in time"
    match = _SYSTEM_WORDS.search(text)
    if match is None:
        return otherwise
    return match[1].lower()

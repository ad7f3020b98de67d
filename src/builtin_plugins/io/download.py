"""Download one file over HTTP: whole and within limits, or nothing at all."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import requests
import urllib3
from requests.auth import HTTPBasicAuth

from builtin_plugins.io.addresses import Address, fetchable, follow, shown
from builtin_plugins.io.time_limit import time_limit
from host import OperationError

# Called with the bytes so far, in all (None: unknown), and why it starts again ("" if it does not).
Progress = Callable[[int, int | None, str], None]

_CHUNK = 1 << 17
_FIRST_PAUSE = 0.5  # seconds; each further one is twice as long
_MOST_REDIRECTS = 10
_REDIRECTS = frozenset([301, 302, 303, 307, 308])
_TEMPORARY = frozenset([408, 425, 429, 500, 502, 503, 504])
_LENGTH = re.compile(r"[0-9]{1,18}")
_SYSTEM_WORDS = re.compile(r"(?:Errno -?\d+\] |Error\(\d+, ')([A-Za-z ]+)")


class Limits(NamedTuple):
    """Limits of a download: seconds in all, seconds without a byte, attempts, bytes."""

    seconds: float = 3600
    stall: float = 30
    attempts: int = 5
    size: int = 4 << 30


class Fetched(NamedTuple):
    """A downloaded file: its size in bytes, its SHA-256 in hex."""

    size: int
    sha256: str


class _TemporaryError(Exception):
    """An attempt failed in a way that another one may not."""


_USUAL = Limits()


def download(
    address: str,
    target: Path,
    *,
    limits: Limits = _USUAL,
    sha256: str = "",
    progress: Progress = lambda *_: None,
) -> Fetched:
    """Fetch `address` into the file `target`.

    `sha256` is the expected checksum in hex, "" for any; without one the answer must state its
    length. A broken attempt starts again from the beginning. `requests` documents how proxies, CA
    bundles and .netrc apply. Raises OperationError, and then `target` is gone.
    """
    source = fetchable(address)
    late = _error(source, f"not finished within {limits.seconds:g} seconds")
    try:
        with time_limit(limits.seconds, late), requests.Session() as session:
            return _try_repeatedly(session, source, target, limits, sha256, progress)
    except BaseException as failure:
        target.unlink(missing_ok=True)
        if isinstance(failure, OSError):
            raise _error(source, f"{target}: {failure.strerror or _cause(failure)}") from None
        raise


def _error(address: Address, reason: str) -> OperationError:
    return OperationError(f"{shown(address.url)}: {reason}")


def _try_repeatedly(
    session: requests.Session,
    source: Address,
    target: Path,
    limits: Limits,
    sha256: str,
    progress: Progress,
) -> Fetched:
    for attempt in range(1, limits.attempts + 1):
        try:
            fetched = _attempt(session, source, target, limits, bool(sha256), progress)
        except _TemporaryError as failure:
            reason = str(failure)
        else:
            if sha256 and fetched.sha256 != sha256.strip().lower():
                raise _error(source, f"the SHA-256 is {fetched.sha256}, expected {sha256}")
            return fetched
        if attempt < limits.attempts:
            pause = _FIRST_PAUSE * 2 ** (attempt - 1)
            again = f"trying again in {pause:g} s ({attempt + 1} of {limits.attempts})"
            progress(0, None, f"{reason}; {again}")
            time.sleep(pause)
    raise _error(source, f"{reason} (tried {limits.attempts} times)")


def _attempt(
    session: requests.Session,
    source: Address,
    target: Path,
    limits: Limits,
    trusted: bool,
    progress: Progress,
) -> Fetched:
    """Fetch the file; raises OperationError, _TemporaryError if another attempt may succeed."""
    received, checksum = 0, hashlib.sha256()
    with _respond(session, source, limits) as response, target.open("wb") as file:
        total = _checked_length(response, source, trusted)
        try:
            for chunk in response.raw.stream(_CHUNK, decode_content=False):
                received += len(chunk)
                if max(received, total or 0) > limits.size:
                    raise _error(source, f"more than {limits.size} bytes")
                checksum.update(chunk)
                file.write(chunk)
                progress(received, total, "")
        except urllib3.exceptions.HTTPError as failure:
            raise _TemporaryError(_cause(failure)) from None
    if total is not None and received != total:
        raise _TemporaryError(f"ended after {received} of {total} bytes")
    progress(received, total, "")
    return Fetched(received, checksum.hexdigest())


def _respond(session: requests.Session, source: Address, limits: Limits) -> requests.Response:
    """Return the answer at the end of the redirects; raises as `_attempt`."""
    address = source
    for _ in range(_MOST_REDIRECTS + 1):
        response = _get(session, address, limits)
        if response.status_code not in _REDIRECTS:
            return response
        location = session.get_redirect_target(response)
        response.close()
        if not location:
            raise _error(address, "redirects to no address")
        address = follow(address, location)
    raise _error(source, f"redirected more than {_MOST_REDIRECTS} times")


def _get(session: requests.Session, address: Address, limits: Limits) -> requests.Response:
    try:
        return session.get(
            address.url,
            auth=HTTPBasicAuth(*address.login) if address.login else None,
            headers={"Accept-Encoding": "identity", "User-Agent": "cli-host"},
            stream=True,
            allow_redirects=False,
            timeout=max(0.1, min(limits.stall, limits.seconds)),
            # A proxy has no business between this machine and itself.
            proxies={"http": "", "https": ""} if address.is_loopback else None,
        )
    except requests.exceptions.SSLError:
        reason = "its certificate was not accepted"
    except (requests.ConnectionError, requests.Timeout) as failure:
        raise _TemporaryError(_cause(failure)) from None
    except (requests.RequestException, OSError, ValueError) as failure:
        reason = _cause(failure)
    raise _error(address, reason)


def _checked_length(response: requests.Response, source: Address, trusted: bool) -> int | None:
    """Return the length of a usable body; None for a chunked one, whose end is marked."""
    status = response.status_code
    if status in _TEMPORARY:
        raise _TemporaryError(f"answered {status}")
    if status != 200:
        raise _error(source, f"answered {status}, expected 200")
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        reason = f"the server sent a compressed file ({encoding}) although none was requested"
        raise _error(source, reason)
    if "chunked" in response.headers.get("Transfer-Encoding", "").lower():
        return None
    stated = response.headers.get("Content-Length", "")
    if _LENGTH.fullmatch(stated):
        return int(stated)
    if stated or not trusted:
        raise _error(source, "the answer does not say how long it is")
    return None


def _cause(failure: BaseException) -> str:
    """Return the cause of a network failure, never with the address, which may hold secrets."""
    text = repr(failure)
    if "timed out" in text.lower() or "timeout" in text.lower():
        return "no answer in time"
    if found := _SYSTEM_WORDS.search(text):
        return found[1].lower()
    if re.search(r"IncompleteRead|InvalidChunkLength|ended prematurely", text):
        return "the body was cut short"
    return "the connection failed"

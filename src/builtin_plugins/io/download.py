"""Download one file over HTTP: whole and within limits, or nothing at all."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import requests
import urllib3
from requests.adapters import HTTPAdapter
from requests.auth import HTTPBasicAuth

from builtin_plugins.io.addresses import Address, fetchable, shown
from builtin_plugins.io.time_limit import time_limit
from host import OperationError

# Called with the bytes so far, in all (None: unknown), and why it starts again ("" if it does not).
Progress = Callable[[int, int | None, str], None]

_CHUNK = 1 << 17
_FIRST_PAUSE = 0.5  # seconds; each further one is twice as long
_MOST_REDIRECTS = 10
_TEMPORARY = frozenset([408, 425, 429, 500, 502, 503, 504])
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
            session.adapters.clear()
            for scheme in ("https", source.scheme):  # so no redirect leaves https
                session.mount(f"{scheme}://", _Adapter())
            session.max_redirects = _MOST_REDIRECTS
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


class _Adapter(HTTPAdapter):
    """Checks each address that is connected to, those of redirects, too."""

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:  # type: ignore[override]
        if fetchable(str(request.url)).is_loopback:
            options["proxies"] = {}  # a proxy has no business between this machine and itself
        return super().send(request, **options)


def _respond(session: requests.Session, source: Address, limits: Limits) -> requests.Response:
    """Return the answer at the end of the redirects; raises as `_attempt`."""
    try:
        return session.get(
            source.url,
            auth=HTTPBasicAuth(*source.login) if source.login else None,
            headers={"Accept-Encoding": "identity", "User-Agent": "cli-host"},
            stream=True,
            timeout=max(0.1, min(limits.stall, limits.seconds)),
        )
    except requests.exceptions.SSLError:
        reason = "its certificate was not accepted"
    except requests.TooManyRedirects:
        reason = f"redirected more than {_MOST_REDIRECTS} times"
    except requests.exceptions.InvalidSchema:
        reason = f"redirects to what is no {source.scheme} address"
    except (requests.ConnectionError, requests.Timeout) as failure:
        raise _TemporaryError(_cause(failure)) from None
    except (requests.RequestException, OSError, ValueError) as failure:
        reason = _cause(failure)
    except OperationError as refusal:
        reason = f"redirects to {refusal}"
    raise _error(source, reason)


def _checked_length(response: requests.Response, source: Address, trusted: bool) -> int | None:
    """Return the length of a usable body; None for a chunked one, whose end is marked."""
    status, length = response.status_code, response.raw.length_remaining
    if status in _TEMPORARY:
        raise _TemporaryError(f"answered {status}")
    if status != 200:
        raise _error(source, f"answered {status}, expected 200")
    if length is None and not (trusted or response.raw.chunked):
        raise _error(source, "the answer does not say how long it is")
    return length if length is None else int(length)


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

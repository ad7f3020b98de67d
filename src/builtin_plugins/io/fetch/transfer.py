"""One HTTP transfer into a file, with bounded retries that resume where they can."""

import hashlib
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import BinaryIO

import requests
import urllib3
from requests.auth import HTTPBasicAuth

from builtin_plugins.io.fetch.addresses import Address, follow, shown
from host import OperationError

_CHUNK = 1 << 17
_FIRST_PAUSE = 0.5  # seconds; each further one is twice as long
_MOST_REDIRECTS = 10
_REDIRECTS = frozenset([301, 302, 303, 307, 308])
_WORTH_RETRYING = frozenset([408, 425, 429, 500, 502, 503, 504])
_CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})")
_LENGTH = re.compile(r"[0-9]{1,18}")

# What a failure's text tells of it, in the order in which it is looked for.
_FAILURES = (
    (re.compile(r"[Tt]ime(d )?out"), "no answer in time"),
    (re.compile(r"NameResolution"), "no such host"),
    (re.compile(r"(?:Errno \d+\] |Error\(\d+, ')([A-Za-z ]+)"), ""),  # the system's own words
    (re.compile(r"IncompleteRead|InvalidChunkLength|ended prematurely"), "the body was cut short"),
    (re.compile(r"^ProxyError"), "the proxy did not answer"),
    (re.compile(r"^ConnectionError"), "the connection failed"),
)


@dataclass(frozen=True)
class Limits:
    """Bounds of a transfer: seconds in all, seconds without a byte, tries, bytes."""

    seconds: float = 3600
    stall: float = 30
    attempts: int = 5
    size: int = 4 << 30


class _InterruptedError(Exception):
    """An attempt failed in a way that another one may not."""


class Transfer:
    """A running transfer; what has no underscore may be read from outside meanwhile.

    `trusted` means that the caller checks a checksum, so a body of unstated length
    is acceptable. `trouble` says why it is tried again.
    """

    def __init__(self, address: Address, target: Path, limits: Limits, *, trusted: bool) -> None:
        self.received = 0
        self.total: int | None = None
        self.trouble = ""
        self.failure: BaseException | None = None
        self.cancelled = Event()
        self.deadline = time.monotonic() + limits.seconds
        self.hash = hashlib.sha256()
        self._address = address
        self._target = target
        self._limits = limits
        self._trusted = trusted
        self._validator: str | None = None  # by which the rest can be asked for

    def error(self, reason: str) -> OperationError:
        return OperationError(f"{shown(self._address.url)}: {reason}")

    def run(self) -> None:
        """Do the transfer; what goes wrong is kept in `failure`."""
        try:
            with requests.Session() as session, open(self._target, "wb") as file:
                self._try_repeatedly(session, file)
        except OSError as failure:  # the file goes, so the error names the source, too
            self.failure = self.error(f"{self._target}: {failure.strerror or _worded(failure)}")
        except BaseException as failure:  # noqa: BLE001 handed over to the waiting thread
            self.failure = failure

    def _try_repeatedly(self, session: requests.Session, file: BinaryIO) -> None:
        attempts = self._limits.attempts
        for attempt in range(1, attempts + 1):
            try:
                return self._attempt(session, file)
            except _InterruptedError as failure:
                reason = str(failure)
            if attempt < attempts:
                pause = _FIRST_PAUSE * 2 ** (attempt - 1)
                again = f"trying again in {pause:g} s ({attempt + 1} of {attempts})"
                self.trouble = f"{reason}; {again}"
                self.cancelled.wait(pause)
        raise self.error(f"{reason} (tried {'once' if attempts == 1 else f'{attempts} times'})")

    def _attempt(self, session: requests.Session, file: BinaryIO) -> None:
        """Fetch what is missing; raises OperationError, _InterruptedError if worth a retry."""
        start = self.received if self._validator else 0
        headers = {"Accept-Encoding": "identity", "User-Agent": "cli-host"}
        if start:
            headers |= {"Range": f"bytes={start}-", "If-Range": self._validator or ""}
        with self._respond(session, headers) as response:
            if not self._resumes(response, start):
                self._restart(response, file)
            for chunk in _chunks(response):
                if self.received + len(chunk) > self._limits.size:
                    raise self.error(f"more than {self._limits.size} bytes")
                if self.cancelled.is_set():
                    raise self.error("cancelled")
                file.write(chunk)
                self.hash.update(chunk)
                self.received += len(chunk)
        if self.total is not None and self.received != self.total:
            raise _InterruptedError(f"ended after {self.received} of {self.total} bytes")

    def _respond(self, session: requests.Session, headers: Mapping[str, str]) -> requests.Response:
        """Return the answer at the end of the redirects; raises as `_attempt`."""
        address = self._address
        for _ in range(_MOST_REDIRECTS + 1):
            response = self._get(session, address, headers)
            if response.status_code not in _REDIRECTS:
                return response
            location = session.get_redirect_target(response)
            response.close()
            if not location:
                raise OperationError(f"{shown(address.url)}: redirects to no address")
            address = follow(address, location)
        raise self.error(f"redirected more than {_MOST_REDIRECTS} times")

    def _get(
        self, session: requests.Session, address: Address, headers: Mapping[str, str]
    ) -> requests.Response:
        if self.cancelled.is_set():
            raise self.error("cancelled")
        try:
            return session.get(
                address.url,
                auth=HTTPBasicAuth(*address.login) if address.login else None,
                headers=dict(headers),
                stream=True,
                allow_redirects=False,
                timeout=max(0.1, min(self._limits.stall, self.deadline - time.monotonic())),
                # A proxy has no business between this machine and itself.
                proxies={"http": "", "https": ""} if address.is_loopback else None,
            )
        except requests.exceptions.SSLError:
            reason = "its certificate was not accepted"
        except (requests.ConnectionError, requests.Timeout) as failure:
            raise _InterruptedError(_worded(failure)) from None
        except (requests.RequestException, OSError, ValueError) as failure:
            reason = _worded(failure)
        raise OperationError(f"{shown(address.url)}: {reason}")

    def _resumes(self, response: requests.Response, start: int) -> bool:
        """Tell whether the body continues at `start`; raises when it is of no use."""
        status = response.status_code
        if status in _WORTH_RETRYING:
            raise _InterruptedError(f"answered {status}")
        if status == 416 and start:
            self._validator = None
            raise _InterruptedError("could not resume")
        if status != 200 and not (status == 206 and start):
            raise self.error(f"answered {status}, expected 200")
        encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
        if encoding not in ("", "identity"):
            raise self.error(f"sent as {encoding}, asked for as it is")
        if status == 200:
            return False
        found = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
        wanted = [start, (self.total or 0) - 1, self.total]
        if not found or [int(group) for group in found.groups()] != wanted:
            raise self.error("answered with another range than asked")
        return True

    def _restart(self, response: requests.Response, file: BinaryIO) -> None:
        """Begin an empty file for a whole body; raises OperationError when it is too large."""
        self.total = self._length(response)
        if self.total is not None:
            free = shutil.disk_usage(self._target.parent).free
            if self.total > self._limits.size:
                raise self.error(f"{self.total} bytes, more than {self._limits.size}")
            if self.total > free:
                raise self.error(f"{self.total} bytes needed, {free} free on the disk")
        file.seek(0)
        file.truncate()
        self.received = 0
        self.hash = hashlib.sha256()
        # Only a body of known length is ever resumed, and only by a strong validator.
        tag = response.headers.get("ETag", "")
        validator = tag if tag.startswith('"') else response.headers.get("Last-Modified")
        self._validator = None if self.total is None else validator

    def _length(self, response: requests.Response) -> int | None:
        """Return the body's length; None for a chunked one, whose end is marked."""
        stated = response.headers.get("Content-Length", "")
        if "chunked" in response.headers.get("Transfer-Encoding", "").lower():
            return None
        if _LENGTH.fullmatch(stated):
            return int(stated)
        if stated or not self._trusted:
            raise self.error("the answer does not say how long it is")
        return None


def _chunks(response: requests.Response) -> Iterator[bytes]:
    """Yield the body as sent; raises _InterruptedError when it breaks off."""
    try:
        yield from response.raw.stream(_CHUNK, decode_content=False)
    except (urllib3.exceptions.HTTPError, OSError) as failure:
        raise _InterruptedError(_worded(failure)) from None


def _worded(failure: BaseException) -> str:
    """Word a network failure in a few words; never with the address, which may hold secrets."""
    text = repr(failure)
    for sign, words in _FAILURES:
        found = sign.search(text)
        if found:
            return words or found[1].lower()
    return "not a usable answer"

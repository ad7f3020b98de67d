"""The checksums of all files that a package index lists for one version of a package.

pip reports only the file that it uses here. A team's registry needs those for other systems, too.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from builtin_plugins.administration.plugins.transaction import Transaction

_MOST_BYTES = 1 << 26
_SECONDS = 30.0
_JSON = "application/vnd.pypi.simple.v1+json"
_LINK = re.compile(
    r"""<a\s[^>]*href=["']?([^"'\s>#]+)#sha256=([0-9a-f]{64})""", re.IGNORECASE
)
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
_HIDDEN = "****"  # pip shows this in place of a password


def listed_checksums(
    name: str,
    version: str,
    url: str,
    sha256: str,
    indexes: Sequence[str],
    tx: Transaction,
) -> tuple[str, ...]:
    """Return the checksums of the version's files; `url` and `sha256` are those of the used file.

    Only a listing that contains the used file is believed. If no index can be read, the result has
    only `sha256`; the registry then works on systems that use the same file.
    """
    if url.startswith("file://"):
        listings: Iterable[Iterable[tuple[str, str]]] = [
            _files_beside(unquote(urlsplit(url).path))
        ]
    else:
        pages = (_page_of(index, name) for index in _with_passwords(indexes, tx))
        listings = (_files_on(page, tx) for page in pages)
    for listing in listings:
        checksums = {
            checksum for file, checksum in listing if _is_version(file, name, version)
        }
        if sha256 in checksums:
            return tuple(sorted(checksums))
    tx.messages.debug(
        f"{name}: no index lists its other files; only {url} can be installed"
    )
    return (sha256,)


def _files_beside(path: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the checksum of each distribution in the directory of a file."""
    prefix = re.split(r"[-.]", os.path.basename(path))[0].lower()
    with suppress(OSError):
        for file in sorted(Path(path).parent.iterdir()):
            if file.name.lower().startswith(prefix) and file.is_file():
                with file.open("rb") as content:
                    yield file.name, hashlib.file_digest(content, "sha256").hexdigest()


def _page_of(index: str, name: str) -> str:
    return f"{index.rstrip('/')}/{name}/"


def _files_on(page: str, tx: Transaction) -> list[tuple[str, str]]:
    """Return the name and the checksum of each file on the page of a package in an index."""
    if page.startswith("file://"):
        with suppress(OSError):
            text = Path(unquote(urlsplit(page).path), "index.html").read_text(
                "utf-8", "replace"
            )
            return _links(text)
        return []
    content, is_json = _downloaded(page, tx)
    if not is_json:
        return _links(content.decode("utf-8", "replace"))
    files = []
    with suppress(ValueError, LookupError, TypeError, AttributeError):
        for file in json.loads(content)["files"]:
            checksum = file["hashes"].get("sha256", "")
            if _SHA256.match(checksum):
                files.append((str(file["filename"]), str(checksum)))
    return files


def _downloaded(page: str, tx: Transaction) -> tuple[bytes, bool]:
    """Return the content of a page, empty if it cannot be read, and whether it is JSON."""
    import requests  # imported here: importing it takes 0.1 s, and uv lists all files itself

    environ = tx.session.environ
    proxy, certificate = environ.get("PIP_PROXY"), environ.get("PIP_CERT")
    try:
        with requests.get(
            page,
            headers={"Accept": f"{_JSON}, text/html;q=0.1"},
            timeout=min(tx.seconds, _SECONDS),
            proxies={"http": proxy, "https": proxy} if proxy else None,
            verify=certificate or True,
            stream=True,
        ) as answer:
            answer.raise_for_status()
            content = answer.raw.read(_MOST_BYTES, decode_content=True)
            return content, "json" in answer.headers.get("Content-Type", "")
    except (OSError, ValueError):  # errors of requests are OSErrors
        return b"", False


def _links(text: str) -> list[tuple[str, str]]:
    return [
        (os.path.basename(unquote(urlsplit(address).path)), checksum)
        for address, checksum in _LINK.findall(text)
    ]


def _with_passwords(indexes: Sequence[str], tx: Transaction) -> Iterator[str]:
    """Yield the addresses of indexes, with the passwords that pip's output hides."""
    configured: list[str] = []
    if any(_HIDDEN in index for index in indexes):
        listed = tx.installer.try_pip("config", "list").output
        configured = re.findall(r"https?://[^\s'\"]+", listed)
    for index in indexes:
        matches = [address for address in configured if _bare(address) == _bare(index)]
        if _HIDDEN in index and matches:
            yield matches[0]
        else:
            yield index


def _bare(address: str) -> tuple[str, str]:
    parts = urlsplit(address)
    return parts.netloc.rpartition("@")[2], parts.path.rstrip("/")


def _is_version(file: str, name: str, version: str) -> bool:
    """Return whether a file's name is that of a distribution of this version."""
    with suppress(InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        parse = parse_wheel_filename if file.endswith(".whl") else parse_sdist_filename
        found_name, found_version, *_ = parse(file)
        return found_name == canonicalize_name(name) and found_version == Version(
            version
        )
    return False

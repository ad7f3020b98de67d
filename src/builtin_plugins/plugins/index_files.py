"""The checksums of all files that a package index lists for one version of a package.

pip reports only the file that it uses here. A team's registry needs those for other systems, too.
"""

import os
import re
from collections.abc import Iterable, Iterator
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

from builtin_plugins.plugins.change import Change
from builtin_plugins.plugins.sources.fetch_file import verified_sha256

_MOST_BYTES = 1 << 26
_SECONDS = 30.0
_LINK = re.compile(
    r"""<a\s[^>]*href=["']?([^"'\s>#]+)#sha256=([0-9a-f]{64})""", re.IGNORECASE
)
_INDEXES = re.compile(r"^Looking in indexes: (.+)$", re.MULTILINE)
_PASSWORD = re.compile(r"://[^/@]*@")


def listed_checksums(
    name: str, version: str, url: str, sha256: str, output: str, change: Change
) -> tuple[str, ...]:
    """Return the checksums of the version's files; `url` and `sha256` are those of the used file.

    `output` is what pip printed. Only a listing that contains the used file is believed. If no
    index can be read, the result has only `sha256`; the registry then works on systems that use
    the same file.
    """
    for listing in _listings(name, url, output, change):
        checksums = set()
        for file, checksum in listing:
            if _is_version(file, name, version):
                checksums.add(checksum)
        if sha256 in checksums:
            return tuple(sorted(checksums))

    what = f"{name}: no index lists its other files; only {url} can be installed"
    change.messages.debug(what)
    return (sha256,)


def _listings(
    name: str, url: str, output: str, change: Change
) -> Iterator[Iterable[tuple[str, str]]]:
    """Yield the files that may be listed beside the used one: their names and checksums."""
    if url.startswith("file://"):
        path = unquote(urlsplit(url).path)
        yield _files_beside(path)
        return

    for index in _indexes(output, change):
        page = f"{index.rstrip('/')}/{name}/"
        yield _files_on(page, change)


def _files_beside(path: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the checksum of each distribution in the directory of a file."""
    # A directory of wheels may be large, and only the files of one package are of interest.
    parts = re.split(r"[-.]", os.path.basename(path))
    prefix = parts[0].lower()
    for file in Path(path).parent.iterdir():
        if not file.name.lower().startswith(prefix):
            continue
        if file.is_file():
            yield file.name, verified_sha256(file, "")


def _indexes(output: str, change: Change) -> list[str]:
    """Return the addresses of the indexes that pip used, with passwords.

    pip's output names the indexes without passwords; its settings have them.
    """
    shown = _INDEXES.search(output)
    if shown is None:  # pip says nothing if it only uses PyPI
        return ["https://pypi.org/simple"]

    names = shown[1].split(", ")
    has_password = any(_PASSWORD.search(name) for name in names)
    if not has_password:
        return names

    configured = _configured_indexes(change)
    indexes = []
    for name in names:
        # An index of the command line or of a requirements file is in no setting.
        address = configured.get(_without_login(name), name)
        indexes.append(address)
    return indexes


def _configured_indexes(change: Change) -> dict[str, str]:
    """Return the addresses in pip's settings, with passwords, by the address without a login."""
    settings = change.installer.try_pip("config", "list").output
    configured = {}
    for address in re.findall(r"https?://[^\s'\"]+", settings):
        configured[_without_login(address)] = address
    return configured


def _without_login(address: str) -> str:
    return _PASSWORD.sub("://", address)


def _files_on(page: str, change: Change) -> list[tuple[str, str]]:
    """Return the name and the checksum of each file on the page of a package in an index.

    The page is HTML, which every index has. The result is empty if the page cannot be read.
    """
    # Imported here: importing them takes 0.1 s, and uv lists all files itself.
    import requests
    import urllib3

    environ = change.session.environ
    proxies = None
    proxy = environ.get("PIP_PROXY")
    if proxy:
        proxies = {"http": proxy, "https": proxy}

    try:
        with requests.get(
            page,
            headers={"Accept": "text/html"},
            timeout=min(change.seconds, _SECONDS),
            proxies=proxies,
            verify=environ.get("PIP_CERT") or True,
            stream=True,
        ) as answer:
            answer.raise_for_status()
            content = answer.raw.read(_MOST_BYTES, decode_content=True)
    # Errors of requests are OSErrors, but those of reading the answer are urllib3's own.
    except (OSError, ValueError, urllib3.exceptions.HTTPError):
        return []

    files = []
    html = content.decode("utf-8", "replace")
    for address, checksum in _LINK.findall(html):
        path = unquote(urlsplit(address).path)
        files.append((os.path.basename(path), checksum))
    return files


def _is_version(file: str, name: str, version: str) -> bool:
    """Return whether a file's name is that of a distribution of this version."""
    parse = parse_wheel_filename if file.endswith(".whl") else parse_sdist_filename
    try:
        file_name, file_version, *_ = parse(file)
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        return False

    if file_name != canonicalize_name(name):
        return False
    return file_version == Version(version)

"""Plugins from .tar.gz and .zip, by path or address."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from builtin_plugins.addresses import shown
from builtin_plugins.archive import Rules, extract
from builtin_plugins.download import Limits, fetch
from builtin_plugins.plugin_kinds import Staged, Work, described
from builtin_plugins.plugin_origin import Origin
from builtin_plugins.plugin_staging import Undo, put_version, take_away
from host.errors import OperationError
from host.escape import printable
from host.registry import Entry

MOST_FILES = 20_000
MOST_BYTES = 512 << 20
_RULES = Rules(strip=False, links=True, members=MOST_FILES, size=MOST_BYTES)
_CHUNK = 1 << 20


class ArchiveKind:
    """Members are judged before one is written; the checksum is recorded, and checked if given."""

    def fetch(self, origin: Origin, work: Work) -> Staged:
        packed = Path(work.stage.path, "archive")
        sha256 = bring_file(origin, packed, work)
        work.stage.make_version()
        unpacked = Path(work.stage.path, "unpacked")
        extract(packed, unpacked, _RULES, called=origin.source)
        os.unlink(packed)
        os.rename(plugin_root(str(unpacked)), work.stage.tree)
        entry = Entry(
            name="",
            kind="archive",
            source=origin.source,
            sha256=sha256,
            pinned=bool(origin.sha256),
        )
        return described(entry, work.stage.tree, origin)

    def put(self, entry: Entry, work: Work) -> Undo:
        return put_version(work.stage, entry)

    def take(self, entry: Entry, work: Work) -> Undo:
        return take_away(work.stage, entry.name)


def bring_file(origin: Origin, target: Path, work: Work) -> str:
    """Copy or download the file that `origin` names; return its SHA-256, checked if asked for."""
    address = origin.address or origin.source
    if "://" in address:
        limits = Limits(seconds=work.seconds, stall=min(30, work.seconds), size=MOST_BYTES)
        with work.reporter.progress(shown(address)) as progress:
            fetched = fetch(
                address,
                target,
                limits=limits,
                sha256=origin.sha256 or None,
                digest=True,
                progress=progress,
            )
        return fetched.sha256 or ""
    found = _copy(address, target)
    if origin.sha256 and found != origin.sha256:
        raise OperationError(
            f"{printable(address)}: the SHA-256 is {found}, expected {origin.sha256}"
        )
    return found


def _copy(source: str, target: Path) -> str:
    digest = hashlib.sha256()
    size = 0
    try:
        with open(source, "rb") as file, target.open("wb") as copy:
            while chunk := file.read(_CHUNK):
                size += len(chunk)
                if size > MOST_BYTES:
                    raise OperationError(f"{printable(source)}: larger than {MOST_BYTES} bytes")
                digest.update(chunk)
                copy.write(chunk)
    except FileNotFoundError:
        raise OperationError(f"{printable(source)}: no such file") from None
    return digest.hexdigest()


def plugin_root(unpacked: str) -> str:
    """Return the plugin's own directory: below one leading directory, unless that is a category."""
    names = os.listdir(unpacked)
    only = os.path.join(unpacked, names[0])
    if len(names) != 1 or not os.path.isdir(only) or os.path.islink(only):
        return unpacked
    if os.path.lexists(os.path.join(only, "plugin.json")):
        return only
    if any(os.path.lexists(os.path.join(only, n)) for n in ("category.json", "command.json")):
        return unpacked
    holds_command = any(
        os.path.lexists(os.path.join(only, name, "command.json")) for name in os.listdir(only)
    )
    return unpacked if holds_command else only

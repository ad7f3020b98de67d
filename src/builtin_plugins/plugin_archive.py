"""Plugins from .tar.gz and .zip, by path or address."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection
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
_CHUNK = 1 << 20


class ArchiveKind:
    """Members are judged before one is written; the checksum is recorded, and checked if given."""

    def fetch(self, origin: Origin, work: Work) -> Staged:
        packed = Path(work.stage.path, "archive")
        sha256 = bring_file(origin, packed, work)
        work.stage.make_version()
        rules = Rules(stays=is_category, links=True, members=MOST_FILES, size=MOST_BYTES)
        extract(packed, Path(work.stage.tree), rules, called=origin.source)
        os.unlink(packed)
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


def is_category(paths: Collection[str]) -> bool:
    """Tell whether the one leading directory of an archive is the plugin's, not its wrapping."""
    inside = [path.split("/")[1:] for path in paths]
    if ["plugin.json"] in inside:
        return False
    return any(
        one in (["category.json"], ["command.json"]) or one[1:] == ["command.json"]
        for one in inside
    )
